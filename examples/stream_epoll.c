/* The child sends bytes as a stream, the parent sleeps in epoll until there are some. A worker's descriptor stands in
 * the program's own epoll set; beside it is the channel, which tells when the other process ends. The order matters:
 * progress until nothing is left, arm the descriptor, sleep only if that succeeded. */
#include "example.h"

#include <sys/epoll.h>

static const char HELP[] = "A process receives a stream of bytes from its child, sleeping in epoll between them.";

enum { CHUNKS = 200, CHUNK_STEP = 97 };

/* An epoll set with the worker's descriptor, which belongs to the worker, and the end of the channel. */
static int make_epoll(const side_t *side)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC), efd;

    check(ucp_worker_get_efd(side->worker, &efd), "ucp_worker_get_efd");
    event.data.fd = efd;
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, efd, &event) != 0) {
        fail("epoll", strerror(errno));
    }
    event.events = EPOLLRDHUP;
    event.data.fd = side->channel;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, side->channel, &event) != 0) {
        fail("epoll", strerror(errno));
    }
    return epoll;
}

/* Sleeps until the worker can make progress. The caller has just seen that it can not, and that nothing is finished. */
static void sleep_in_epoll(side_t *side, int epoll)
{
    struct epoll_event event;
    ucs_status_t status;
    int count;

    check(side->ep_status, "endpoint");
    /* UCS_ERR_BUSY: something came since, and no event would tell. */
    if ((status = ucp_worker_arm(side->worker)) == UCS_ERR_BUSY) {
        return;
    }
    check(status, "ucp_worker_arm");
    if ((count = epoll_wait(epoll, &event, 1, -1)) < 0 && errno != EINTR) {
        fail("epoll_wait", strerror(errno));
    }
    if (count == 1 && event.data.fd == side->channel) {
        fail("channel", "the other process has ended");
    }
}

/* Byte number `at` of the stream. */
static unsigned char byte_at(size_t at)
{
    return at % 251;
}

static size_t stream_length(void)
{
    return (size_t)CHUNK_STEP * CHUNKS * (CHUNKS + 1) / 2;
}

static void receive(side_t *side, int epoll)
{
    size_t received = 0, length;
    ucs_status_ptr_t data;

    while (received < stream_length()) {
        /* The library lends what has come, in pieces of its choice: a stream has no borders between messages. */
        data = ucp_stream_recv_data_nb(side->ep, &length);
        if (UCS_PTR_IS_ERR(data)) {
            check(UCS_PTR_STATUS(data), "ucp_stream_recv_data_nb");
        }
        if (data == NULL) {
            if (ucp_worker_progress(side->worker) == 0) {
                sleep_in_epoll(side, epoll);
            }
            continue;
        }
        for (size_t i = 0; i < length; ++i) {
            if (((unsigned char *)data)[i] != byte_at(received + i)) {
                fail("stream", "wrong bytes");
            }
        }
        received += length;
        ucp_stream_data_release(side->ep, data);
    }
    printf("received %zu bytes in order\n", received);
}

static void send_all(side_t *side, int epoll)
{
    unsigned char *bytes = malloc(CHUNK_STEP * CHUNKS);
    ucp_request_param_t param = {0};
    ucs_status_ptr_t request;
    size_t sent = 0, length;

    if (bytes == NULL) {
        fail("malloc", "no memory");
    }
    for (int chunk = 1; chunk <= CHUNKS; ++chunk, sent += length) {
        length = chunk * CHUNK_STEP;
        for (size_t i = 0; i < length; ++i) {
            bytes[i] = byte_at(sent + i);
        }
        request = ucp_stream_send_nbx(side->ep, bytes, length, &param);
        while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
            if (ucp_worker_progress(side->worker) == 0) {
                sleep_in_epoll(side, epoll);
            }
        }
        finish(side, request, "ucp_stream_send_nbx");
    }
    free(bytes);
}

int main(int argc, char **argv)
{
    side_t side;
    int epoll;

    read_options(argc, argv, HELP);
    fork_peer(&side);
    open_side(&side, UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP);
    connect_by_channel(&side, UCP_ERR_HANDLING_MODE_PEER);
    epoll = make_epoll(&side);
    if (side.child != 0) {
        receive(&side, epoll);
    } else {
        send_all(&side, epoll);
    }
    close(epoll);
    return part(&side);
}
