/* Two processes on one processor take turns: a process that waits for a message yields, so a message costs
 * microseconds. Without that each spins until the kernel preempts it, milliseconds a message. */
/* valgrind: no, it takes longer for a call than one that spins */
#define _GNU_SOURCE
#include <sched.h>

#include <ucp/api/ucp.h>

#include "peers.h"

#include <sys/resource.h>

enum { TURNS = 1000, MOST_US_A_TURN = 500 };

static void have_one_processor(void)
{
    cpu_set_t all, one;
    int cpu = 0;

    CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    while (!CPU_ISSET(cpu, &all)) {
        ++cpu;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static long long used_us(void)
{
    struct rusage usage;

    CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static void turn(side_t *side, ucp_ep_h ep, int sends)
{
    static const ucp_request_param_t plain;
    char byte = 0;

    if (sends) {
        CHECK_OK(side_wait(side, side, ucp_tag_send_nbx(ep, &byte, 1, 1, &plain)));
    } else {
        CHECK_OK(side_wait(side, side, ucp_tag_recv_nbx(side->worker, &byte, 1, 1, UINT64_MAX, &plain)));
    }
}

static void crowd(const char *transports)
{
    pair_t pair;
    side_t side;
    ucp_ep_h ep;
    char theirs[ADDRESS_ROOM];
    long long begin;
    int i, first;

    CHECK_EQ(setenv("UCX_TLS", transports, 1), 0);
    pair = pair_start();
    first = pair_is_child(&pair);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, (const ucp_address_t *)theirs);
    for (i = 0; i < 2; ++i) {
        turn(&side, ep, i == first);
    }
    begin = used_us();
    for (i = 0; i < 2 * TURNS; ++i) {
        turn(&side, ep, i % 2 == first);
    }
    CHECK((used_us() - begin) / TURNS < MOST_US_A_TURN);
    pair_barrier(&pair);
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    pair_finish(&pair);
    printf("ok %s\n", transports);
}

int main(void)
{
    have_one_processor();
    CHECK_EQ(setenv("UCX_NET_DEVICES", "lo", 1), 0);
    crowd("posix");
    crowd("tcp");
    return 0;
}
