/* Lists and generic datatypes over memory of each place, in tagged and active messages and streams: prints what each
 * answers, on this library and on upstream's, and checks the bytes; the argument names the part. A list is in one
 * place: upstream takes the first entry's for all. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

enum { SIZE = 200000, ENTRIES = 5 };

typedef enum { HOST, PINNED, DEVICE, MANAGED, PLACES } place_t;
typedef enum { CONTIG, ONE_ENTRY, LIST, GENERIC, LAYOUTS } layout_t;

static const char *place_names[] = {"host", "pinned", "device", "managed"};
static const char *layout_names[] = {"contiguous", "list of one", "list", "generic"};
static const size_t sizes[] = {8, 3000, SIZE};

/* Memory with the entries of a list, which cover it but for a byte between two. */
typedef struct {
    place_t place;
    layout_t layout;
    char *at;
    size_t length;
    ucp_dt_iov_t iov[ENTRIES];
} buffer_t;

static side_t side;
static ucp_ep_h ep;
static ucp_datatype_t generic;
static char sent[SIZE], got[SIZE], raw[SIZE + ENTRIES];

static void load(const buffer_t *b, size_t offset, void *to, size_t length)
{
    if (b->place == DEVICE) {
        CHECK_EQ(cuMemcpyDtoH_v2(to, (uintptr_t)b->at + offset, length), 0);
    } else {
        memcpy(to, b->at + offset, length);
    }
}

static void store(const buffer_t *b, size_t offset, const void *from, size_t length)
{
    if (b->place == DEVICE) {
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)b->at + offset, from, length), 0);
    } else {
        memcpy(b->at + offset, from, length);
    }
}

static buffer_t *make(place_t place, layout_t layout, size_t length)
{
    buffer_t *b = calloc(1, sizeof(*b));
    void *host = NULL;
    size_t i, entries = layout == LIST ? ENTRIES : 1, begin, end;

    CHECK(b != NULL);
    b->place = place;
    b->layout = layout;
    b->length = length;
    switch (place) {
    case HOST: b->at = calloc(1, sizeof(raw)); CHECK(b->at != NULL); break;
    case PINNED: CHECK_EQ(cuMemHostAlloc(&host, sizeof(raw), 0), 0); b->at = host; break;
    case DEVICE: b->at = at(device_memory(sizeof(raw))); break;
    default: b->at = at(managed_memory(sizeof(raw)));
    }
    for (i = 0; i < entries; ++i) {
        begin = length * i / entries;
        end = length * (i + 1) / entries;
        b->iov[i].buffer = b->at + begin + i;
        b->iov[i].length = end - begin;
    }
    return b;
}

static void destroy(buffer_t *b)
{
    switch (b->place) {
    case HOST: free(b->at); break;
    case PINNED: CHECK_EQ(cuMemFreeHost(b->at), 0); break;
    default: CHECK_EQ(cuMemFree_v2((uintptr_t)b->at), 0);
    }
    free(b);
}

/* Writes or reads the buffer's bytes, in their order. */
static void bytes_of(buffer_t *b, char *bytes, int reads)
{
    size_t i, done = 0;

    if (b->layout != LIST) {
        (reads ? load(b, 0, bytes, b->length) : store(b, 0, bytes, b->length));
        return;
    }
    for (i = 0; i < ENTRIES; ++i) {
        size_t offset = (char*)b->iov[i].buffer - b->at;

        (reads ? load(b, offset, bytes + done, b->iov[i].length) : store(b, offset, bytes + done, b->iov[i].length));
        done += b->iov[i].length;
    }
}

static void *start_pack(void *arg, const void *buffer, size_t count)
{
    return (void*)buffer;
}

static void *start_unpack(void *arg, void *buffer, size_t count)
{
    return buffer;
}

static size_t packed_size(void *state)
{
    return ((buffer_t*)state)->length;
}

static size_t pack(void *state, size_t offset, void *dest, size_t room)
{
    buffer_t *b = state;
    size_t n = b->length - offset < room ? b->length - offset : room;

    load(b, offset, dest, n);
    return n;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src, size_t length)
{
    buffer_t *b = state;

    if (length > b->length - offset) {
        return UCS_ERR_MESSAGE_TRUNCATED;
    }
    store(b, offset, src, length);
    return UCS_OK;
}

static void finish(void *state)
{
}

static void *argument(buffer_t *b)
{
    return b->layout == CONTIG ? (void*)b->at : b->layout == GENERIC ? (void*)b : (void*)b->iov;
}

static size_t count_of(const buffer_t *b)
{
    return b->layout == CONTIG ? b->length : b->layout == LIST ? ENTRIES : 1;
}

static ucp_request_param_t param_of(const buffer_t *b)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype = b->layout == CONTIG    ? ucp_dt_make_contig(1) :
                                             b->layout == GENERIC ? generic :
                                                                    ucp_dt_make_iov()};
}

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

/* ---- the three ways ---- */

static buffer_t *am_to;
static int am_done;
static ucs_status_t am_status;

static void am_received(void *request, ucs_status_t status, size_t length, void *arg)
{
    am_status = status;
    am_done = 1;
    ucp_request_free(request);
}

static ucs_status_t am_handler(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t receive = param_of(am_to);
    ucs_status_ptr_t request;

    if (!(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        bytes_of(am_to, data, 0);
        am_status = UCS_OK;
        am_done = 1;
        return UCS_OK;
    }
    receive.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK;
    receive.cb.recv_am = am_received;
    request = ucp_am_recv_data_nbx(side.worker, data, argument(am_to), count_of(am_to), &receive);
    if (UCS_PTR_IS_PTR(request)) {
        return UCS_INPROGRESS;
    }
    am_status = UCS_PTR_STATUS(request);
    am_done = 1;
    return UCS_OK;
}

static void message(const char *way, buffer_t *from, buffer_t *to, unsigned flags)
{
    ucp_request_param_t sending = param_of(from), receiving = param_of(to);
    ucs_status_ptr_t receive = NULL, request;
    ucs_status_t status, received;
    size_t length;

    switch (*way) {
    case 't':
        receive = ucp_tag_recv_nbx(side.worker, argument(to), count_of(to), 7, -1, &receiving);
        request = ucp_tag_send_nbx(ep, argument(from), count_of(from), 7, &sending);
        break;
    case 's':
        receiving.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        receiving.flags = UCP_STREAM_RECV_FLAG_WAITALL;
        receive = ucp_stream_recv_nbx(ep, argument(to), count_of(to), &length, &receiving);
        request = ucp_stream_send_nbx(ep, argument(from), count_of(from), &sending);
        break;
    default:
        am_to = to;
        am_done = 0;
        sending.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        sending.flags = flags;
        request = ucp_am_send_nbx(ep, 3, NULL, 0, argument(from), count_of(from), &sending);
    }
    status = ended(request);
    printf(" %s,", ucs_status_string(status));
    if (*way == 'a') {
        WORKERS_UNTIL(side.worker, side.worker, am_done || status != UCS_OK);
        received = am_status;
    } else {
        if (status != UCS_OK && UCS_PTR_IS_PTR(receive)) {
            ucp_request_cancel(side.worker, receive);
        }
        received = ended(receive);
    }
    printf(" %s", ucs_status_string(received));
    if (status == UCS_OK && received == UCS_OK) {
        bytes_of(to, got, 1);
        CHECK(!memcmp(sent, got, to->length));
    }
    putchar('\n');
    fflush(stdout);
}

int main(int argc, char **argv)
{
    enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM };
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = 3, .cb = am_handler};
    ucp_generic_dt_ops_t ops = {start_pack, start_unpack, packed_size, pack, unpack, finish};
    static const ucp_request_param_t none;
    const char *way = argv[1];
    buffer_t *from, *to;
    unsigned round, a, b;
    size_t i, j;

    CHECK(argc == 2);
    alarm(100);
    use_device(0);
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
    CHECK_OK(ucp_dt_create_generic(&ops, NULL, &generic));
    /* Every layout with every other, and every place with every other. */
    for (a = 0; a < PLACES * LAYOUTS; ++a) {
        for (b = 0; b < PLACES * LAYOUTS; ++b) {
            for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                for (round = 0; round < (*way == 'a' ? 2 : 1); ++round) {
                    from = make(a % PLACES, a / PLACES, sizes[i]);
                    to = make(b % PLACES, b / PLACES, sizes[i]);
                    for (j = 0; j < sizes[i]; ++j) {
                        sent[j] = (char)(j * 7 + j / 256 + a * 31 + b);
                    }
                    bytes_of(from, sent, 0);
                    printf("%s%s, %s %s to %s %s, %zu bytes:", way, round ? " by rendezvous" : "", place_names[from->place],
                           layout_names[from->layout], place_names[to->place], layout_names[to->layout], sizes[i]);
                    fflush(stdout);
                    message(way, from, to, round ? UCP_AM_SEND_FLAG_RNDV : 0);
                    destroy(from);
                    destroy(to);
                }
            }
        }
    }
    ucp_dt_destroy(generic);
    CHECK_OK(ended(ucp_ep_close_nbx(ep, &none)));
    side_close(&side);
    return 0;
}
