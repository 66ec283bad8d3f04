/* An unused worker has few descriptors: a listener for each device of tcp, the eventfd of posix and sysv, the memory
 * of posix. A process has the local channel once. Descriptors for sleeping are created on demand and freed with the
 * worker. */
#include "peers.h"

#include <sched.h>

static void exchange(side_t *a, side_t *b, ucp_ep_h ep)
{
    static const ucp_request_param_t plain;
    uint64_t out = 17, in = 0;
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(b->worker, &in, sizeof(in), 1, UINT64_MAX, &plain);

    CHECK_OK(side_wait(a, b, ucp_tag_send_nbx(ep, &out, sizeof(out), 1, &plain)));
    CHECK_OK(side_wait(a, b, receive));
    CHECK_EQ(in, 17);
}

enum { CHANNEL = 5 }; /* two listeners, the place of one, what the thread waits with and is ended by */

/* The thread of the local channel has descriptors of its own for moments; a count that stays too high is found by the
 * time limit of the test. */
static void await_at_most(int most)
{
    while (open_descriptors() > most) {
        sched_yield();
    }
}

/* Of the descriptors, those with which something waits for others. */
static int epoll_descriptors(void)
{
    char path[64], target[64];
    int fd, count = 0;

    for (fd = 0; fd < 256; ++fd) {
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof(target) - 1);
        target[(length > 0) ? length : 0] = '\0';
        count += (strstr(target, "eventpoll") != NULL);
    }
    return count;
}

static void idle(const char *transports, int most, int channel)
{
    int before = open_descriptors(), epolls, fd;
    side_t a, b;
    ucp_ep_h ep;

    CHECK_EQ(setenv("UCX_TLS", transports, 1), 0);
    side_open(&a, UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    await_at_most(before + most + channel);
    CHECK_EQ(ucp_worker_get_efd(a.worker, &fd), UCS_ERR_UNSUPPORTED);
    side_open(&b, ALL_FEATURES | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    await_at_most(before + 2 * most + channel + 1);
    ep = side_connect(&a, b.address);
    exchange(&a, &b, ep);
    epolls = epoll_descriptors();
    CHECK_OK(ucp_worker_get_efd(b.worker, &fd));
    CHECK(epoll_descriptors() > epolls);
    exchange(&a, &b, ep);
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
    side_close(&a);
    side_close(&b);
    CHECK_EQ(open_descriptors(), before);
    printf("ok %s\n", transports);
}

int main(void)
{
    CHECK_EQ(setenv("UCX_NET_DEVICES", "lo", 1), 0);
    idle("posix", 2, CHANNEL);
    idle("sysv", 1, CHANNEL);
    idle("tcp", 1, 0);
    idle("self,posix,sysv,cma,tcp", 4, CHANNEL);
    return 0;
}
