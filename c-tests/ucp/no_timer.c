/* Nothing needs a timer to finish: in two processes that make progress only when the event descriptor or ucp_worker_wait() says
 * so, every kind of operation ends at both sides, in every size, and endpoints close, while no timer of the library fires and
 * none of its threads wakes up by itself. */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n UCX_NET_DEVICES=lo */
/* timeout: 300 */
/* valgrind: no, it stands between the library and the calls that are replaced here */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "operations.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

enum { MOST = 4 << 20, FAR_S = 100000 };

static const size_t sizes[] = {0, 8, 4000, 20000, 100000, 1 << 20, MOST};

/* These precede libc's for every library of the program: a timer that is set is due far in the future, and a thread that sleeps
 * for a while sleeps until it is woken. */
int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *old)
{
    static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
    struct itimerspec late = *to;

    if (real == NULL) {
        real = (int (*)(int, int, const struct itimerspec *, struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
    }
    if ((late.it_value.tv_sec != 0) || (late.it_value.tv_nsec != 0)) {
        late.it_value.tv_sec += FAR_S;
    }
    return real(fd, flags, &late, old);
}

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long arg[6];
    va_list args;
    int i;

    if (real == NULL) {
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    }
    va_start(args, number);
    for (i = 0; i < 6; ++i) {
        arg[i] = va_arg(args, long);
    }
    va_end(args);
    if (number == SYS_futex) {
        int operation = arg[1] & 0x7f;

        if ((operation == 0) || (operation == 9)) { /* FUTEX_WAIT, FUTEX_WAIT_BITSET */
            arg[3] = 0;
        }
    }
    return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* The other process has posted its part, or ended it: it is waited for as anything else is. */
static void wait_for(const pair_t *pair)
{
    char byte;

    while (!pair_ready(pair)) {
        step(pair->fd);
    }
    pair_recv(pair, &byte, 1);
}

static void tell(const pair_t *pair)
{
    char byte = 0;

    pair_send(pair, &byte, 1);
}

/* One operation between the two processes; `late` posts its part when the other has. */
static void run_once(const pair_t *pair, kind_t kind, size_t size, int late)
{
    int child = pair_is_child(pair);
    ucs_status_ptr_t request;

    if (late) {
        wait_for(pair);
    }
    request = child ? take_part(kind, size) : initiate(kind, size);
    if (!late) {
        tell(pair);
    }
    if (child) {
        finish_target(kind, size, request);
    } else {
        finish_initiator(kind, request);
    }
    tell(pair);
    wait_for(pair);
}

/* The same of a worker with itself. */
static void run_once_alone(kind_t kind, size_t size, int late)
{
    ucs_status_ptr_t receive = NULL, request;

    if (!late) {
        receive = take_part(kind, size);
    }
    request = initiate(kind, size);
    if (late) {
        receive = take_part(kind, size);
    }
    finish_target(kind, size, receive);
    finish_initiator(kind, request);
}

static void run_kinds(const pair_t *pair, const char *tls)
{
    unsigned kind, at, way;

    for (kind = 0; kind < KINDS; ++kind) {
        for (at = 0; at < sizeof(sizes) / sizeof(sizes[0]); ++at) {
            /* An atomic has one size. */
            for (way = 0; (way < 4) && ((kind != FETCH_ADD) || (at == 1)); ++way) {
                waiting = (way & 1) ? BY_WAIT : BY_ARM;
                snprintf(doing, sizeof(doing), "%s: %s of %zu bytes%s%s", tls, kind_names[kind], sizes[at],
                         (waiting == BY_WAIT) ? ", by wait" : "", (way & 2) ? ", target late" : "");
                if (pair == NULL) {
                    run_once_alone(kind, sizes[at], way & 2);
                } else {
                    run_once(pair, kind, sizes[at], pair_is_child(pair) == !!(way & 2));
                }
            }
        }
    }
    snprintf(doing, sizeof(doing), "%s: close", tls);
    ucp_rkey_destroy(exported.key);
    finish(ucp_ep_close_nbx(ep, &plain));
}

static void run(const char *tls)
{
    pair_t pair;

    setenv("UCX_TLS", tls, 1);
    pair = pair_start();
    operations_open(MOST);
    operations_connect(&pair);
    run_kinds(&pair, tls);
    tell(&pair);
    wait_for(&pair);
    operations_close();
    if (!pair_is_child(&pair)) {
        OK("%s", tls);
    }
    pair_finish(&pair);
}

static void run_alone(const char *tls)
{
    setenv("UCX_TLS", tls, 1);
    operations_open(MOST);
    operations_connect(NULL);
    run_kinds(NULL, tls);
    operations_close();
    OK("%s, alone", tls);
}

int main(void)
{
    run("posix");
    run("sysv");
    run("posix,cma");
    run("tcp");
    run("all");
    run_alone("self");
    run_alone("posix");
    run_alone("tcp");
    return 0;
}
