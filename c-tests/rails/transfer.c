/* Long transfers between two processes in two network namespaces that several links join; `tests/rails` makes them.
 *
 *   transfer NETNS KIND LENGTH COUNT    KIND: tag, am, put, get
 *
 * The child is in the namespace whose file is NETNS and sends, or accesses memory of the parent. Prints its endpoint and
 * bytes a second. */
#define _GNU_SOURCE
#include "network.h"
#include "peers.h"

/* Transfers in flight. */
enum { WINDOW = 4 };

static size_t length, count, received;
static const char *kind;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t data_length,
                               const ucp_am_recv_param_t *param)
{
    static void *buffers[WINDOW];
    ucp_request_param_t options = {.op_attr_mask = 0};
    side_t *side = arg;
    size_t number;

    CHECK_EQ(header_length, sizeof(number));
    memcpy(&number, header, sizeof(number));
    CHECK_EQ(data_length, length);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        void **buffer = &buffers[number % WINDOW];
        ucs_status_ptr_t request;

        if (*buffer == NULL) {
            *buffer = malloc(length);
        }
        request = ucp_am_recv_data_nbx(side->worker, data, *buffer, length, &options);
        CHECK(!UCS_PTR_IS_ERR(request));
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
    }
    ++received;
    return UCS_OK;
}

static void register_handler(side_t *side)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = 1,
        .cb = on_message,
        .arg = side,
    };

    CHECK_OK(ucp_worker_set_am_recv_handler(side->worker, &handler));
}

/* The parent: posts receives in order, or only progresses. Checks what came. */
static void serve(side_t *side, const pair_t *pair, void *window)
{
    ucp_request_param_t options = {.op_attr_mask = 0};
    ucs_status_ptr_t requests[WINDOW] = {NULL};
    void *buffers[WINDOW];
    size_t n;

    if (strcmp(kind, "tag") == 0) {
        for (n = 0; n < WINDOW; ++n) {
            buffers[n] = malloc(length);
        }
        for (n = 0; n < count + WINDOW; ++n) {
            void *buffer = buffers[n % WINDOW];

            if (n >= WINDOW) {
                request_finish(side->worker, requests[n % WINDOW]);
                CHECK_PATTERN(buffer, length, n - WINDOW);
            }
            if (n < count) {
                memset(buffer, 0, length);
                requests[n % WINDOW] = ucp_tag_recv_nbx(side->worker, buffer, length, n, UINT64_MAX, &options);
            }
        }
        for (n = 0; n < WINDOW; ++n) {
            free(buffers[n]);
        }
    }
    side_meet(side, pair);
    if (strcmp(kind, "am") == 0) {
        CHECK_EQ(received, count);
    } else if (strcmp(kind, "put") == 0) {
        CHECK_PATTERN(window, length, count - 1);
    }
}

static void run(side_t *side, ucp_ep_h ep, const pair_t *pair, void *address, ucp_rkey_h rkey)
{
    ucs_status_ptr_t requests[WINDOW] = {NULL};
    unsigned char *buffers[WINDOW];
    double start = 0;
    size_t numbers[WINDOW], n;

    for (n = 0; n < WINDOW; ++n) {
        buffers[n] = malloc(length);
    }
    for (n = 0; n < count + WINDOW; ++n) {
        ucp_request_param_t options = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_COPY_HEADER};
        unsigned char *buffer = buffers[n % WINDOW];

        if (n >= WINDOW) {
            request_finish(side->worker, requests[n % WINDOW]);
            if (strcmp(kind, "get") == 0) {
                CHECK_PATTERN(buffer, length, 7);
            }
        }
        /* Lanes are connected while the first ones go. */
        if (n == count / 4) {
            start = now();
        }
        if (n >= count) {
            continue;
        }
        numbers[n % WINDOW] = n;
        if (strcmp(kind, "get") == 0) {
            memset(buffer, 0, length);
        } else {
            fill(buffer, length, n);
        }
        if (strcmp(kind, "tag") == 0) {
            options.op_attr_mask = 0;
            requests[n % WINDOW] = ucp_tag_send_nbx(ep, buffer, length, n, &options);
        } else if (strcmp(kind, "am") == 0) {
            requests[n % WINDOW] = ucp_am_send_nbx(ep, 1, &numbers[n % WINDOW], sizeof(n), buffer, length, &options);
        } else if (strcmp(kind, "put") == 0) {
            options.op_attr_mask = 0;
            /* The last one is the one that stays. */
            if (n == count - 1) {
                request_finish(side->worker, ucp_ep_flush_nbx(ep, &options));
            }
            requests[n % WINDOW] = ucp_put_nbx(ep, buffer, length, (uintptr_t)address, rkey, &options);
        } else {
            options.op_attr_mask = 0;
            requests[n % WINDOW] = ucp_get_nbx(ep, buffer, length, (uintptr_t)address, rkey, &options);
        }
    }
    {
        ucp_request_param_t options = {.op_attr_mask = 0};
        request_finish(side->worker, ucp_ep_flush_nbx(ep, &options));
    }
    side_meet(side, pair);
    ucp_ep_print_info(ep, stdout);
    printf("%.0f bytes a second\n", (count - count / 4) * length / (now() - start));
    for (n = 0; n < WINDOW; ++n) {
        free(buffers[n]);
    }
}

int main(int argc, char **argv)
{
    char theirs[ADDRESS_ROOM];
    void *memory, *remote;
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    pair_t pair;
    side_t side;
    ucp_ep_h ep;

    CHECK_EQ(argc, 5);
    kind = argv[2];
    length = strtoul(argv[3], NULL, 0);
    count = strtoul(argv[4], NULL, 0);
    pair = pair_start();
    if (pair_is_child(&pair)) {
        enter_network(argv[1]);
    }
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    register_handler(&side);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    if (pair_is_child(&pair)) {
        void *blob = pair_recv_blob(&pair);

        pair_recv(&pair, &remote, sizeof(remote));
        CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
        free(blob);
        run(&side, ep, &pair, remote, rkey);
        ucp_rkey_destroy(rkey);
    } else {
        ucp_mem_map_params_t params = {
            .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
            .length = length,
        };
        size_t blob_length;
        void *blob;

        memory = malloc(length);
        fill(memory, length, 7);
        params.address = memory;
        CHECK_OK(ucp_mem_map(side.context, &params, &memh));
        CHECK_OK(ucp_rkey_pack(side.context, memh, &blob, &blob_length));
        pair_send_blob(&pair, blob, blob_length);
        pair_send(&pair, &memory, sizeof(memory));
        ucp_rkey_buffer_release(blob);
        serve(&side, &pair, memory);
        CHECK_OK(ucp_mem_unmap(side.context, memh));
        free(memory);
    }
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_meet(&side, &pair);
    side_close(&side);
    pair_finish(&pair);
    return 0;
}
