/* Two processes that send each other tagged and active messages and bytes of streams, one on our library and one on upstream's (tests/interop).
 *
 *     messages server|client HOST PORT ours|upstream          what it runs on
 *
 * They meet by a socket at PORT, where they exchange worker addresses and keep in step. Each message of LENGTHS goes both
 * ways by tag, once before its receive is posted and once after, then as an active message with a reply, then by the stream.
 * Last the endpoints are flushed and closed. Ours also says what cannot be sent to upstream. Prints the number of messages
 * that were received. */
#include <ucp/api/ucp.h>

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static const size_t LENGTHS[] = {0, 1, 8, 100, 2000, 8000, 8179, 8180, 8200, 30000, 65536, 300000};
#define COUNT (sizeof(LENGTHS) / sizeof(*LENGTHS))
#define LONGEST 300000

static ucp_worker_h worker;
static int out_of_band;

/* Moves bytes between the processes, and makes progress meanwhile. */
static void move(void *data, size_t length, int sends)
{
    char *at = data;

    while (length > 0) {
        ssize_t n = sends ? send(out_of_band, at, length, MSG_NOSIGNAL) : recv(out_of_band, at, length, 0);

        if (n < 0 && errno == EAGAIN) {
            ucp_worker_progress(worker);
            continue;
        }
        CHECK(n > 0);
        at += n;
        length -= n;
    }
}

/* Both sides have come so far. */
static void meet(uint32_t where)
{
    uint32_t theirs;

    move(&where, sizeof(where), 1);
    move(&theirs, sizeof(theirs), 0);
    CHECK_EQ(theirs, where);
}

static void finish(ucs_status_ptr_t request, ucs_status_t wanted)
{
    ucs_status_t status;

    if (request == NULL) {
        CHECK_EQ(wanted, UCS_OK);
        return;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    CHECK_EQ(status, wanted);
    ucp_request_free(request);
}

static uint8_t byte(size_t at, uint32_t seed)
{
    return at * 131 + (at >> 8) * 7 + seed;
}

static void send_message(ucp_ep_h ep, size_t length, uint32_t number, int late)
{
    static uint8_t data[LONGEST];
    ucp_request_param_t param = {0};

    for (size_t i = 0; i < length; i++)
        data[i] = byte(i, number);
    meet(3 * number);
    finish(ucp_tag_send_nbx(ep, data, length, 0xabcd000000000000 + number, &param), UCS_OK);
    if (late)
        meet(3 * number + 1);
    meet(3 * number + 2);
}

static void receive_message(size_t length, uint32_t number, int late)
{
    static uint8_t data[LONGEST + 1];
    ucp_tag_recv_info_t info;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO, .recv_info.tag_info = &info};
    ucs_status_ptr_t request;

    memset(data, 0x5a, length + 1);
    if (late) {
        /* The message, or a part of it, is here before its receive. */
        meet(3 * number);
        while (ucp_tag_probe_nb(worker, 0xabcd000000000000 + number, -1, 0, &info) == NULL)
            ucp_worker_progress(worker);
        meet(3 * number + 1);
    }
    request = ucp_tag_recv_nbx(worker, data, length, 0xabcd000000000000 + number, -1, &param);
    if (!late)
        meet(3 * number);
    finish(request, UCS_OK);
    CHECK_EQ(data[length], 0x5a);
    for (size_t i = 0; i < length; i++)
        CHECK_EQ(data[i], byte(i, number));
    meet(3 * number + 2);
}

/* The other process's worker address. */
static void *exchange(void *own, size_t length)
{
    uint64_t count = length;
    void *theirs;

    move(&count, sizeof(count), 1);
    move(own, length, 1);
    move(&count, sizeof(count), 0);
    theirs = malloc(count);
    move(theirs, count, 0);
    return theirs;
}

static int connected(int is_server, const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, peer;

    CHECK_EQ(inet_pton(AF_INET, host, &address.sin_addr), 1);
    if (is_server) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        CHECK_EQ(listen(fd, 1), 0);
        peer = accept(fd, NULL, NULL);
        close(fd);
    } else {
        CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        peer = fd;
    }
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    CHECK_EQ(fcntl(peer, F_SETFL, O_NONBLOCK), 0);
    return peer;
}

/* What cannot be sent to upstream ends at once. */
static void check_refusals(ucp_ep_h ep)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t sent = ucp_tag_send_sync_nbx(ep, "x", 1, 1, &param);

    CHECK_EQ(UCS_PTR_STATUS(sent), UCS_ERR_UNSUPPORTED);
}

#define MESSAGE 7
#define REPLY 8
#define HEADER 40
static uint32_t messages, replies, wanted_number;
static size_t wanted_length;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ucp_request_param_t none = {0};
    ucs_status_ptr_t sent;

    CHECK_EQ(header_length, HEADER);
    CHECK_EQ(length, wanted_length);
    for (size_t i = 0; i < HEADER; i++)
        CHECK_EQ(((const uint8_t *)header)[i], byte(i, wanted_number + 1));
    for (size_t i = 0; i < length; i++)
        CHECK_EQ(((uint8_t *)data)[i], byte(i, wanted_number));
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    sent = ucp_am_send_nbx(param->reply_ep, REPLY, NULL, 0, NULL, 0, &none);
    CHECK(!UCS_PTR_IS_ERR(sent));
    if (sent != NULL)
        ucp_request_free(sent);
    messages++;
    return UCS_OK;
}

static ucs_status_t on_reply(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    CHECK_EQ(header_length + length, 0);
    replies++;
    return UCS_OK;
}

static void set_handlers(void)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                    .id = MESSAGE,
                                    .cb = on_message};

    CHECK_EQ(ucp_worker_set_am_recv_handler(worker, &param), UCS_OK);
    param.id = REPLY;
    param.cb = on_reply;
    CHECK_EQ(ucp_worker_set_am_recv_handler(worker, &param), UCS_OK);
}

static void active_message(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST], header[HEADER];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY};
    uint32_t before = messages, replies_before = replies;

    wanted_number = number;
    wanted_length = length;
    meet(3 * number);
    if (sends) {
        for (size_t i = 0; i < length; i++)
            data[i] = byte(i, number);
        for (size_t i = 0; i < HEADER; i++)
            header[i] = byte(i, number + 1);
        finish(ucp_am_send_nbx(ep, MESSAGE, header, HEADER, data, length, &param), UCS_OK);
        while (replies == replies_before)
            ucp_worker_progress(worker);
    } else {
        while (messages == before)
            ucp_worker_progress(worker);
    }
    meet(3 * number + 1);
}

static void stream(ucp_ep_h ep, int sends, size_t length, uint32_t number)
{
    static uint8_t data[LONGEST];
    ucp_request_param_t param = {0};
    size_t received;

    meet(3 * number);
    if (sends) {
        for (size_t i = 0; i < length; i++)
            data[i] = byte(i, number);
        finish(ucp_stream_send_nbx(ep, data, length, &param), UCS_OK);
    } else {
        param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
        memset(data, 0x5a, length);
        finish(ucp_stream_recv_nbx(ep, data, length, &received, &param), UCS_OK);
        for (size_t i = 0; i < length; i++)
            CHECK_EQ(data[i], byte(i, number));
    }
    meet(3 * number + 1);
}

int main(int argc, char **argv)
{
    int is_server;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, 
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM};
    ucp_worker_params_t worker_params = {0};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_request_param_t param = {0};
    ucp_context_h context;
    ucp_address_t *own;
    size_t own_length;
    ucp_ep_h ep;
    uint32_t number = 0, received = 0;
    void *theirs;

    CHECK_EQ(argc, 5);
    is_server = strcmp(argv[1], "server") == 0;
    CHECK_EQ(ucp_init(&params, NULL, &context), UCS_OK);
    CHECK_EQ(ucp_worker_create(context, &worker_params, &worker), UCS_OK);
    set_handlers();
    out_of_band = connected(is_server, argv[2], atoi(argv[3]));
    CHECK_EQ(ucp_worker_get_address(worker, &own, &own_length), UCS_OK);
    theirs = exchange(own, own_length);
    ucp_worker_release_address(worker, own);
    ep_params.address = theirs;
    CHECK_EQ(ucp_ep_create(worker, &ep_params, &ep), UCS_OK);
    free(theirs);
    if (strcmp(argv[4], "ours") == 0)
        check_refusals(ep);
    for (size_t i = 0; i < COUNT; i++) {
        for (int way = 0; way < 4; way++) {
            if ((way & 1) == is_server) {
                send_message(ep, LENGTHS[i], number++, way & 2);
            } else {
                receive_message(LENGTHS[i], number++, way & 2);
                received++;
            }
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (int way = 0; way < 2; way++) {
            active_message(ep, way == is_server, LENGTHS[i], number++);
            if (LENGTHS[i] > 0)
                stream(ep, way == is_server, LENGTHS[i], number++);
            received += way == is_server ? 0 : 1 + (LENGTHS[i] > 0);
        }
    }
    finish(ucp_ep_flush_nbx(ep, &param), UCS_OK);
    meet(3 * number);
    finish(ucp_ep_close_nbx(ep, &param), UCS_OK);
    meet(3 * number + 1);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    printf("received %u\n", received);
    return 0;
}
