/* Active messages between two workers: every mix of header, size, send flags and handler flags arrives
 * once, whole, with the header, on memory of the alignment asked for, and can be answered by the reply
 * endpoint. */
/* headers: ours 1.22.0 */
/* oracle: 1.22.0 */
/* timeout: 60 */
#include "peers.h"

enum { PLAIN = 3, PERSISTENT = 4, ECHO = 65534, ALIGNMENT = 64, MAX = 3 << 20 };

static two_t two;
static unsigned char *source, *target;
static unsigned arrived, answered, fetched;
static size_t expected_header, expected_length;
static uint64_t last_attr;
static ucp_ep_h last_reply;

static unsigned char byte_at(size_t at)
{
    return (unsigned char)(at * 7 + (at >> 8) * 13);
}

static void check_bytes(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    size_t i;

    for (i = 0; i < length; ++i) {
        if (bytes[i] != byte_at(i)) {
            FAIL("byte %zu of %zu is %u", i, length, bytes[i]);
        }
    }
}

static void on_fetched(void *request, ucs_status_t status, size_t length, void *user_data)
{
    CHECK_OK(status);
    CHECK_EQ(length, expected_length);
    check_bytes(target, length);
    fetched++;
    ucp_request_free(request);
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t fetch;
    size_t now = 0;
    void *request;

    CHECK_EQ(header_length, expected_header);
    check_bytes(header, header_length);
    CHECK_EQ(length, expected_length);
    last_attr = param->recv_attr;
    last_reply = (last_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ? param->reply_ep : NULL;
    arrived++;
    if (!(last_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        if (last_attr & UCP_AM_RECV_ATTR_FLAG_DATA) {
            CHECK_EQ((uintptr_t)data % ALIGNMENT, 0);
        } else {
            CHECK((uintptr_t)arg != PERSISTENT);
        }
        check_bytes(data, length);
        fetched++;
        return UCS_OK;
    }

    memset(target, 0, length);
    fetch.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_RECV_INFO;
    fetch.cb.recv_am = on_fetched;
    fetch.recv_info.length = &now;
    request = ucp_am_recv_data_nbx(two.worker[1], data, target, length, &fetch);
    if (request == NULL) {
        CHECK_EQ(now, length);
        check_bytes(target, length);
        fetched++;
    } else {
        CHECK(UCS_PTR_IS_PTR(request));
    }
    return UCS_INPROGRESS;
}

static ucs_status_t on_answer(void *arg, const void *header, size_t header_length, void *data, size_t length,
                              const ucp_am_recv_param_t *param)
{
    CHECK_EQ(length, 2);
    CHECK(!memcmp(data, "hi", 2));
    answered++;
    return UCS_OK;
}

static void set_handler(int worker, unsigned id, unsigned flags, ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t param;

    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = id;
    param.flags = flags;
    param.cb = cb;
    param.arg = (void *)(uintptr_t)id;
    CHECK_OK(ucp_worker_set_am_recv_handler(two.worker[worker], &param));
}

static void send_one(unsigned id, size_t header_length, size_t length, unsigned flags, int iov)
{
    ucp_request_param_t param;
    unsigned char *header = malloc(header_length + 1);
    ucp_dt_iov_t parts[3];
    void *request;

    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_DATATYPE;
    param.flags = flags | UCP_AM_SEND_FLAG_COPY_HEADER;
    param.datatype = iov ? UCP_DATATYPE_IOV : ucp_dt_make_contig(1);
    parts[0] = (ucp_dt_iov_t){source, length / 3};
    parts[1] = (ucp_dt_iov_t){source + length / 3, 0};
    parts[2] = (ucp_dt_iov_t){source + length / 3, length - length / 3};
    memcpy(header, source, header_length);
    expected_header = header_length;
    expected_length = length;
    arrived = fetched = 0;
    request = ucp_am_send_nbx(two.ep[0], id, header, header_length, iov ? (void *)parts : source,
                              iov ? 3 : length, &param);
    memset(header, 0xee, header_length + 1);
    free(header);
    CHECK_OK(two_wait(&two, request));
    TWO_UNTIL(&two, fetched == 1);
    CHECK_EQ(arrived, 1);
    if (flags & UCP_AM_SEND_FLAG_RNDV) {
        CHECK(last_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    }
    if (flags & UCP_AM_SEND_FLAG_EAGER) {
        CHECK(!(last_attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
    }
    CHECK_EQ(last_reply != NULL, !!(flags & UCP_AM_SEND_FLAG_REPLY));
    if (last_reply) {
        param.op_attr_mask = 0;
        answered = 0;
        CHECK_OK(two_wait(&two, ucp_am_send_nbx(last_reply, ECHO, NULL, 0, "hi", 2, &param)));
        TWO_UNTIL(&two, answered == 1);
    }
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 7, 8, 100, 2000, 8000, 8200, 20000, 70000, 300000, MAX};
    static const size_t headers[] = {0, 1, 16, 300};
    static const unsigned modes[] = {0, UCP_AM_SEND_FLAG_EAGER, UCP_AM_SEND_FLAG_RNDV, UCP_AM_SEND_FLAG_REPLY,
                                     UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_RNDV};
    static const char *mode_names[] = {"plain", "eager", "rendezvous", "reply", "reply by rendezvous"};
    unsigned i, h, m, id;
    size_t at;

    source = malloc(MAX);
    target = malloc(MAX);
    for (at = 0; at < MAX; ++at) {
        source[at] = byte_at(at);
    }
    two_open(&two, UCP_FEATURE_AM, ALIGNMENT);
    set_handler(1, PLAIN, UCP_AM_FLAG_WHOLE_MSG, on_message);
    set_handler(1, PERSISTENT, UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA, on_message);
    set_handler(0, ECHO, UCP_AM_FLAG_WHOLE_MSG, on_answer);
    for (m = 0; m < sizeof(modes) / sizeof(*modes); ++m) {
        for (id = PLAIN; id <= PERSISTENT; ++id) {
            for (h = 0; h < sizeof(headers) / sizeof(*headers); ++h) {
                for (i = 0; i < sizeof(sizes) / sizeof(*sizes); ++i) {
                    send_one(id, headers[h], sizes[i], modes[m], 0);
                    if (sizes[i] > 0) {
                        send_one(id, headers[h], sizes[i], modes[m], 1);
                    }
                }
            }
        }
        OK("%s", mode_names[m]);
    }
    two_close(&two);
    free(source);
    free(target);
    OK("closed");
    return 0;
}
