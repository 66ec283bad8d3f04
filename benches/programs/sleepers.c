/* Two processes that answer each other and sleep until a message comes: lines "latency US", half of a round trip (the median), and
 * "processor US", the time of processors that both together spend for one message.
 *
 *     sleepers arm BYTES SECONDS     by ucp_worker_arm() and poll() of the event descriptor
 *     sleepers wait BYTES SECONDS    by ucp_worker_wait()
 *     sleepers late BYTES SECONDS    by arm and poll, where each answer comes 200 us late: the other really sleeps
 *     sleepers calls BYTES ROUNDS    as arm, a number of round trips and no lines: to count system calls of
 *
 * The first runs on the first processor, the other on the second. */
#define _GNU_SOURCE
#include "clock.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>

enum { ADDRESS = 4096, MOST_ROUNDS = 1 << 20, WARM_UP = 200, LATE_US = 200 };

/* What both processes share. */
static struct {
    atomic_int ready[2], end;
    char address[2][ADDRESS];
    double spent_us;
} *common;

static const ucp_request_param_t plain;
static ucp_worker_h worker;
static ucp_ep_h ep;
static int event_fd, waits;
static char *out, *in;
static size_t bytes;
static double late_us;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static double spent_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static void sleep_once(void)
{
    struct pollfd fd = {.fd = event_fd, .events = POLLIN};
    ucs_status_t status;

    if (waits) {
        must(ucp_worker_wait(worker), "ucp_worker_wait");
        return;
    }
    status = ucp_worker_arm(worker);
    if (status == UCS_OK) {
        poll(&fd, 1, -1);
    } else if (status != UCS_ERR_BUSY) {
        must(status, "ucp_worker_arm");
    }
}

static void finish(ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request)) {
        must(UCS_PTR_STATUS(request), "an operation");
    }
    while (request && (ucp_request_check_status(request) == UCS_INPROGRESS)) {
        if (ucp_worker_progress(worker) == 0) {
            sleep_once();
        }
    }
    if (request) {
        must(ucp_request_check_status(request), "an operation");
        ucp_request_free(request);
    }
}

static void work_late(void)
{
    double until = now_us() + late_us;

    while ((late_us > 0) && (now_us() < until)) {
    }
}

static void ask(void)
{
    ucs_status_ptr_t answer = ucp_tag_recv_nbx(worker, in, bytes, 1, UINT64_MAX, &plain);

    finish(ucp_tag_send_nbx(ep, out, bytes, 1, &plain));
    finish(answer);
    work_late();
}

static void answer(void)
{
    finish(ucp_tag_recv_nbx(worker, in, bytes, 1, UINT64_MAX, &plain));
    work_late();
    finish(ucp_tag_send_nbx(ep, out, bytes, 1, &plain));
}

static void open_worker(int me)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_context_h context;
    ucp_address_t *address;
    size_t length;

    must(ucp_init(&params, NULL, &context), "ucp_init");
    must(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
    must(ucp_worker_get_efd(worker, &event_fd), "ucp_worker_get_efd");
    must(ucp_worker_get_address(worker, &address, &length), "ucp_worker_get_address");
    if (length > ADDRESS) {
        exit(1);
    }
    memcpy(common->address[me], address, length);
    atomic_store(&common->ready[me], 1);
    while (!atomic_load(&common->ready[!me])) {
        usleep(1000);
    }
    ep_params.address = (void *)common->address[!me];
    must(ucp_ep_create(worker, &ep_params, &ep), "ucp_ep_create");
    out = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    in = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(out, 1, bytes);
    memset(in, 2, bytes);
}

/* Until a message that begins with 0. */
static void answer_all(void)
{
    double before = 0;
    long i;

    for (i = 0; *in != 0; ++i) {
        if (i == WARM_UP) {
            before = spent_us();
        }
        answer();
    }
    common->spent_us = spent_us() - before;
}

int main(int argc, char **argv)
{
    static double took[MOST_ROUNDS];
    double before = 0, end, from;
    long rounds = 0, i;
    pid_t child;
    int me, status;

    if (argc != 4) {
        return 1;
    }
    waits = strcmp(argv[1], "wait") == 0;
    late_us = strcmp(argv[1], "late") == 0 ? LATE_US : 0;
    bytes = atol(argv[2]);
    if (strcmp(argv[1], "calls") == 0) {
        rounds = atol(argv[3]);
    }
    common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    child = fork();
    me = child == 0;
    if (me) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    pin(me);
    open_worker(me);
    if (me) {
        answer_all();
        fflush(NULL);
        _exit(0);
    }
    end = now_us() + atof(argv[3]) * 1e6;
    for (i = 0; i < MOST_ROUNDS; ++i) {
        if (i == WARM_UP) {
            before = spent_us();
        }
        from = now_us();
        ask();
        took[i] = (now_us() - from) / 2 - late_us;
        if (*out == 0) {
            ++i;
            break;
        }
        if (rounds ? i + 2 >= rounds : (i > 2 * WARM_UP) && (now_us() > end)) {
            *out = 0;
        }
    }
    before = spent_us() - before;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        return 1;
    }
    if (!rounds) {
        printf("latency %.3f\nprocessor %.3f\n", median(took + WARM_UP, i - WARM_UP),
               (before + common->spent_us) / (2 * (i - WARM_UP)) - late_us);
    }
    return 0;
}
