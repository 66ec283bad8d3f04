/* UCP over RDMA alone: two contexts of one process, which the stand-in for libibverbs connects, exchange tagged messages,
 * active messages, streams, puts, gets and atomics of many lengths in both directions, and close. UCX_TLS is the caller's;
 * the arguments are the transport that has to carry the messages and its device. Run by tests/verbs. */
#include "peers.h"

#include <stdlib.h>
#include <string.h>

static const size_t lengths[] = {0, 1, 8, 100, 1000, 4000, 8256, 20000, 300000, 3000000};
enum { COUNT = sizeof(lengths) / sizeof(lengths[0]), LONGEST = 3000000 };

static side_t sides[2];
static ucp_ep_h eps[2]; /* eps[i] is of sides[i], to the other */
static unsigned char *from, *to;
static size_t came; /* bytes of the last active message, plus one */

static ucs_status_t wait_for(ucs_status_ptr_t request)
{
    return side_wait(&sides[0], &sides[1], request);
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    side_t *side = arg;

    CHECK_EQ(header_length, 3);
    CHECK(memcmp(header, "abc", 3) == 0);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        /* Its end is seen by the bytes. */
        ucs_status_ptr_t request = ucp_am_recv_data_nbx(side->worker, data, to, length, &none);

        CHECK(!UCS_PTR_IS_ERR(request));
        if (request != NULL) {
            ucp_request_free(request);
        }
        came = length + 1;
        return UCS_INPROGRESS;
    }
    memcpy(to, data, length);
    came = length + 1;
    return UCS_OK;
}

static void messages(int sender, size_t length, uint64_t seed)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_tag_recv_info_t info;
    ucp_request_param_t with_info = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO, .recv_info.tag_info = &info};
    ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    ucs_status_ptr_t sent, received;
    size_t streamed = 0;

    fill(from, length, seed);
    memset(to, 0, length);
    received = ucp_tag_recv_nbx(sides[!sender].worker, to, LONGEST, seed, -1, &with_info);
    sent = ucp_tag_send_nbx(eps[sender], from, length, seed, &none);
    CHECK_OK(wait_for(sent));
    CHECK_OK(wait_for(received));
    CHECK_EQ(wrong_at(to, length, seed), length);

    memset(to, 0, length);
    came = 0;
    CHECK_OK(wait_for(ucp_am_send_nbx(eps[sender], 7, "abc", 3, from, length, &none)));
    DRIVE_UNTIL(&sides[0], &sides[1], came == length + 1 && wrong_at(to, length, seed) == length);

    if (length > 0) {
        memset(to, 0, length);
        sent = ucp_stream_send_nbx(eps[sender], from, length, &none);
        received = ucp_stream_recv_nbx(eps[!sender], to, length, &streamed, &whole);
        CHECK_OK(wait_for(sent));
        CHECK_OK(wait_for(received));
        CHECK_EQ(wrong_at(to, length, seed), length);
    }
}

static void memory(int origin)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    uint64_t value = 5, before = 0;
    ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8), .reply_buffer = &before};
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .length = LONGEST, .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_mem_h mapped;
    ucp_rkey_h rkey;
    uint64_t remote;
    void *blob;
    size_t size;
    int i;

    CHECK_OK(ucp_mem_map(sides[!origin].context, &params, &mapped));
    CHECK_OK(ucp_mem_query(mapped, &attr));
    remote = (uintptr_t)attr.address;
    CHECK_OK(ucp_rkey_pack(sides[!origin].context, mapped, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(eps[origin], blob, &rkey));
    ucp_rkey_buffer_release(blob);
    for (i = 0; i < COUNT; ++i) {
        fill(from, lengths[i], i);
        memset(to, 0, lengths[i]);
        CHECK_OK(wait_for(ucp_put_nbx(eps[origin], from, lengths[i], remote, rkey, &none)));
        CHECK_OK(wait_for(ucp_ep_flush_nbx(eps[origin], &none)));
        CHECK_EQ(wrong_at(attr.address, lengths[i], i), lengths[i]);
        CHECK_OK(wait_for(ucp_get_nbx(eps[origin], to, lengths[i], remote, rkey, &none)));
        CHECK_EQ(wrong_at(to, lengths[i], i), lengths[i]);
    }
    *(uint64_t *)attr.address = 37;
    CHECK_OK(wait_for(ucp_atomic_op_nbx(eps[origin], UCP_ATOMIC_OP_ADD, &value, 1, remote, rkey, &fetch)));
    CHECK_EQ(before, 37);
    CHECK_EQ(*(uint64_t *)attr.address, 42);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(sides[!origin].context, mapped));
}

static ucs_status_t on_request(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    static ucs_status_ptr_t reply;
    ucp_request_param_t none = {.op_attr_mask = 0};

    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    reply = ucp_am_send_nbx(param->reply_ep, 9, "abc", 3, "reply", 5, &none);
    CHECK(!UCS_PTR_IS_ERR(reply));
    if (reply != NULL) {
        ucp_request_free(reply);
    }
    return UCS_OK;
}

static ucs_status_t on_reply(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    CHECK_EQ(length, 5);
    CHECK(memcmp(data, "reply", 5) == 0);
    *(int *)arg = 1;
    return UCS_OK;
}

static void set_handler(side_t *side, unsigned id, ucp_am_recv_callback_t callback, void *arg)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id = id, .cb = callback, .arg = arg};

    CHECK_OK(ucp_worker_set_am_recv_handler(side->worker, &handler));
}

/* Clients of a worker that makes no endpoint, two at once: it answers each by the address of the wire-up message, as that
 * came from there. */
static void clients_of_a_server_without_endpoints(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_request_param_t replied = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY};
    static const size_t some[] = {8, 300000};
    side_t server, clients[2];
    ucp_ep_h ep[2];
    ucs_status_ptr_t sent, received;
    int answered = 0, i, j;

    side_open(&server, ALL_FEATURES | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    set_handler(&server, 8, on_request, NULL);
    for (i = 0; i < 2; ++i) {
        side_open(&clients[i], ALL_FEATURES | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
        set_handler(&clients[i], 9, on_reply, &answered);
        ep[i] = side_connect(&clients[i], server.address);
    }
    for (j = 0; j < 2; ++j) {
        for (i = 0; i < 2; ++i) {
            fill(from, some[j], j);
            received = ucp_tag_recv_nbx(server.worker, to, LONGEST, 1, -1, &none);
            sent = ucp_tag_send_sync_nbx(ep[i], from, some[j], 1, &none);
            CHECK_OK(side_wait(&clients[i], &server, sent));
            CHECK_OK(side_wait(&clients[i], &server, received));
            CHECK_EQ(wrong_at(to, some[j], j), some[j]);
        }
    }
    for (i = 0; i < 2; ++i) {
        answered = 0;
        CHECK_OK(side_wait(&clients[i], &server, ucp_am_send_nbx(ep[i], 8, NULL, 0, "ask", 3, &replied)));
        DRIVE_UNTIL(&clients[i], &server, answered);
        CHECK_OK(side_disconnect(&clients[i], &server, ep[i], 0));
        side_close(&clients[i]);
    }
    side_close(&server);
}

/* The device is told of mapped memory only if peers reach it that way: a stranger may guess a device's key. */
static void mapped_memory_is_registered(ucp_context_h context, int by_device)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    ucp_mem_print_info("64k", context, out);
    CHECK(fclose(out) == 0);
    CHECK(strstr(text, "registered on:") != NULL);
    CHECK_EQ(strstr(text, "fake0") != NULL, by_device);
    free(text);
}

int main(int argc, char **argv)
{
    ucp_transport_entry_t entry;
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
                          .transports = {&entry, 1, sizeof(entry)}};
    void *requests[2];
    int i, sender;

    CHECK_EQ(argc, 3);
    from = malloc(LONGEST);
    to = malloc(LONGEST);
    for (i = 0; i < 2; ++i) {
        side_open(&sides[i], ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
        set_handler(&sides[i], 7, on_message, &sides[i]);
    }
    for (i = 0; i < 2; ++i) {
        eps[i] = side_connect(&sides[i], sides[!i].address);
        CHECK_OK(ucp_ep_query(eps[i], &attr));
        CHECK_EQ(attr.transports.num_entries, 1);
        CHECK_STR(entry.transport_name, argv[1]);
        CHECK_STR(entry.device_name, argv[2]);
    }
    for (i = 0; i < COUNT; ++i) {
        for (sender = 0; sender < 2; ++sender) {
            messages(sender, lengths[i], 2 * i + sender + 1);
        }
    }
    memory(0);
    memory(1);
    clients_of_a_server_without_endpoints();
    mapped_memory_is_registered(sides[0].context, strcmp(argv[1], "rc_verbs") == 0);
    for (i = 0; i < 2; ++i) {
        requests[i] = ucp_ep_close_nb(eps[i], UCP_EP_CLOSE_MODE_FLUSH);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(wait_for(requests[i]));
    }
    for (i = 0; i < 2; ++i) {
        side_close(&sides[i]);
    }
    free(from);
    free(to);
    OK("operations");
    return 0;
}
