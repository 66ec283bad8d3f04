/* A worker that is attacked (tests/attacks), and an honest process that goes on with it: prints the worker's address, and
 * for each line of input descriptors, resident KB, and messages that went to the honest process and back in a while. */
/* env: UCX_TLS=tcp UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include "pair.h"
#include "roles.h"
#include "torture.h"
#include "worker.h"

#include <poll.h>

enum { TAG = 7, WHILE_MS = 500 };

static int to_peer[2], from_peer[2];
static side_t side;

static void tell(int fd, const side_t *from)
{
    CHECK_EQ(write(fd, &from->address_length, sizeof(size_t)), (ssize_t)sizeof(size_t));
    CHECK_EQ(write(fd, from->address, from->address_length), (ssize_t)from->address_length);
}

static ucp_ep_h hear(int fd)
{
    static char address[4096];
    size_t length, got = 0;

    CHECK_EQ(read(fd, &length, sizeof(length)), (ssize_t)sizeof(length));
    CHECK(length <= sizeof(address));
    while (got < length) {
        ssize_t n = read(fd, address + got, length - got);
        CHECK(n > 0);
        got += n;
    }
    return side_connect(&side, address);
}

/* Until the request has ended or `end` has passed; whether it has ended. */
static int finish_by(ucs_status_ptr_t request, double end)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(side.worker);
        if (now() > end) {
            return 0;
        }
    }
    if (UCS_PTR_IS_PTR(request)) {
        CHECK_OK(ucp_request_check_status(request));
        ucp_request_free(request);
    }
    return 1;
}

static void answer_for_ever(void)
{
    static const ucp_request_param_t plain;
    uint64_t word = 0;
    ucp_ep_h ep;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    tell(from_peer[1], &side);
    ep = hear(to_peer[0]);
    for (;;) {
        CHECK(finish_by(ucp_tag_recv_nbx(side.worker, &word, sizeof(word), TAG, UINT64_MAX, &plain), now() + 1e9));
        CHECK(finish_by(ucp_tag_send_nbx(ep, &word, sizeof(word), TAG, &plain), now() + 1e9));
    }
}

/* How many messages went there and back in a while. */
static unsigned exchange(ucp_ep_h ep)
{
    static const ucp_request_param_t plain;
    static uint64_t sent;
    double end = now() + WHILE_MS * 1e-3;
    unsigned count = 0;

    do {
        uint64_t word = 0;

        ++sent;
        CHECK(finish_by(ucp_tag_send_nbx(ep, &sent, sizeof(sent), TAG, &plain), now() + 20));
        CHECK(finish_by(ucp_tag_recv_nbx(side.worker, &word, sizeof(word), TAG, UINT64_MAX, &plain), now() + 20));
        CHECK_EQ(word, sent);
        ++count;
    } while (now() < end);
    return count;
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char line[16];
    ucp_ep_h ep;
    size_t i;

    CHECK(pipe(to_peer) == 0 && pipe(from_peer) == 0);
    role_start(answer_for_ever);
    side_open(&side, ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    ep = hear(from_peer[0]);
    tell(to_peer[1], &side);
    exchange(ep);
    printf("address ");
    for (i = 0; i < side.address_length; ++i) {
        printf("%02x", ((const unsigned char *)side.address)[i]);
    }
    printf("\n");
    fflush(stdout);
    for (;;) {
        ucp_worker_progress(side.worker);
        if (poll(&input, 1, 0) != 1) {
            continue;
        }
        if (read(0, line, sizeof(line)) <= 0) {
            break;
        }
        printf("%d %ld %u\n", open_descriptors(), resident_kb(), exchange(ep));
        fflush(stdout);
    }
    OK("attacked, and went on");
    return 0;
}
