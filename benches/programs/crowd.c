/* Messages of many at once, all of them together: one line, "rate MESSAGES_A_SECOND".
 *
 *     crowd pairs N BYTES SECONDS    N processes, each sends to one of its own
 *     crowd many N BYTES SECONDS     N processes send to one worker
 *     crowd shared N BYTES SECONDS   N threads of one process with one worker send to N threads of another with one worker
 *     crowd workers N BYTES SECONDS  the same, but each thread has a worker of its own
 *
 * A sender sends a window of messages and waits for a word from the receiver, which says that it has them. Receivers go on until
 * they are killed. The n-th sender runs on the processor 2n, its receiver on 2n + 1, counted around those there are. */
#define _GNU_SOURCE
#include "clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>

enum { MOST = 64, WINDOW = 64, LONG_WINDOW = 8, LONG = 8192, ADDRESS = 4096 };

/* One side of a stream of messages: a process, or a thread. */
typedef struct {
    unsigned number;
    int sends;
    ucp_worker_h worker;
    ucp_ep_h ep;
    char *buffer;
} party_t;

typedef struct {
    atomic_int ready;
    char address[ADDRESS];
} place_t;

/* What all processes share. */
static struct {
    place_t places[2][MOST];
    atomic_int waiting;
    double end_us;
    atomic_ullong windows, spent_us;
} *common;

static const ucp_request_param_t plain;
static unsigned n, window;
static size_t bytes;
static double duration_us;
static int one_receiver, multi;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static void finish(ucp_worker_h worker, ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request)) {
        must(UCS_PTR_STATUS(request), "an operation");
    } else if (request) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        must(ucp_request_check_status(request), "an operation");
        ucp_request_free(request);
    }
}

static ucp_context_h open_context(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                           .features = UCP_FEATURE_TAG,
                           .mt_workers_shared = multi};
    ucp_context_h context;

    must(ucp_init(&params, NULL, &context), "ucp_init");
    return context;
}

static ucp_worker_h open_worker(ucp_context_h context, int shared)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = shared ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE};
    ucp_worker_h worker;

    must(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
    return worker;
}

/* Says where the worker of a party is. */
static void announce(const party_t *party)
{
    place_t *place = &common->places[party->sends][party->number];
    ucp_address_t *address;
    size_t length;

    must(ucp_worker_get_address(party->worker, &address, &length), "ucp_worker_get_address");
    if (length > sizeof(place->address)) {
        exit(1);
    }
    memcpy(place->address, address, length);
    ucp_worker_release_address(party->worker, address);
    atomic_store(&place->ready, 1);
}

static ucp_ep_h connect_to(const party_t *party, int sends, unsigned number)
{
    place_t *place = &common->places[sends][number];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (void *)place->address};
    ucp_ep_h ep;

    while (!atomic_load(&place->ready)) {
        usleep(1000);
    }
    must(ucp_ep_create(party->worker, &params, &ep), "ucp_ep_create");
    return ep;
}

static char *room(void)
{
    char *buffer = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    memset(buffer, 1, bytes);
    return buffer;
}

static void send_window(party_t *party)
{
    ucs_status_ptr_t requests[WINDOW], heard;
    char word;
    unsigned i;

    heard = ucp_tag_recv_nbx(party->worker, &word, 1, MOST + party->number, UINT64_MAX, &plain);
    for (i = 0; i < window; ++i) {
        requests[i] = ucp_tag_send_nbx(party->ep, party->buffer, bytes, party->number, &plain);
    }
    for (i = 0; i < window; ++i) {
        finish(party->worker, requests[i]);
    }
    finish(party->worker, heard);
}

static void *send_all(void *arg)
{
    party_t *party = arg;
    unsigned long long done = 0;
    double start;

    pin(2 * party->number);
    announce(party);
    party->ep = connect_to(party, 0, one_receiver ? 0 : party->number);
    party->buffer = room();
    send_window(party);
    if (atomic_fetch_sub(&common->waiting, 1) == 1) {
        common->end_us = now_us() + duration_us;
        atomic_store(&common->waiting, -1);
    }
    while (atomic_load(&common->waiting) != -1) {
        ucp_worker_progress(party->worker);
        sched_yield();
    }
    start = now_us();
    while (now_us() < common->end_us) {
        send_window(party);
        ++done;
    }
    atomic_fetch_add(&common->windows, done);
    atomic_fetch_add(&common->spent_us, (unsigned long long)(now_us() - start));
    return NULL;
}

static void *receive_all(void *arg)
{
    party_t *party = arg;
    ucs_status_ptr_t requests[WINDOW];
    char word = 1;
    unsigned i;

    pin(2 * party->number + 1);
    announce(party);
    party->ep = connect_to(party, 1, party->number);
    party->buffer = room();
    for (;;) {
        for (i = 0; i < window; ++i) {
            requests[i] = ucp_tag_recv_nbx(party->worker, party->buffer, bytes, party->number, UINT64_MAX, &plain);
        }
        for (i = 0; i < window; ++i) {
            finish(party->worker, requests[i]);
        }
        finish(party->worker, ucp_tag_send_nbx(party->ep, &word, 1, MOST + party->number, &plain));
    }
    return NULL;
}

static void on_received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *left)
{
    must(status, "a receive");
    ucp_request_free(request);
    --*(unsigned *)left;
}

/* One worker that receives from all. */
static void receive_from_all(party_t *party)
{
    static struct {
        ucp_ep_h ep;
        unsigned left;
    } senders[MOST];
    char word = 1;
    unsigned from, i, w;

    pin(1);
    announce(party);
    party->buffer = room();
    for (from = 0; from < n; ++from) {
        senders[from].ep = connect_to(party, 1, from);
        senders[from].left = 0;
    }
    for (i = 0;; ++i) {
        ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                     UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                     .cb.recv = on_received};

        ucp_worker_progress(party->worker);
        from = i % n;
        if (senders[from].left > 0) {
            continue;
        }
        if (i >= n) {
            finish(party->worker, ucp_tag_send_nbx(senders[from].ep, &word, 1, MOST + from, &plain));
        }
        param.user_data = &senders[from].left;
        /* A receive that is posted may find its message, and is then told of before the call returns. */
        senders[from].left = window;
        for (w = 0; w < window; ++w) {
            ucs_status_ptr_t request = ucp_tag_recv_nbx(party->worker, party->buffer, bytes, from, UINT64_MAX, &param);

            if (UCS_PTR_IS_ERR(request)) {
                must(UCS_PTR_STATUS(request), "a receive");
            }
        }
    }
}

/* A process with one party, which ends with its parent. */
static pid_t process(unsigned number, int sends)
{
    pid_t pid = fork();

    if (pid == 0) {
        party_t party = {.number = number, .sends = sends};

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        party.worker = open_worker(open_context(), 0);
        if (sends) {
            send_all(&party);
        } else if (one_receiver) {
            receive_from_all(&party);
        } else {
            receive_all(&party);
        }
        _exit(0);
    }
    return pid;
}

/* A process with a thread for each party of one side. */
static pid_t threads(int sends, int shared)
{
    pid_t pid = fork();

    if (pid == 0) {
        static party_t parties[MOST];
        static pthread_t ids[MOST];
        ucp_context_h context;
        unsigned i;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        context = open_context();
        for (i = 0; i < n; ++i) {
            parties[i] = (party_t){.number = i, .sends = sends};
            parties[i].worker = shared && i > 0 ? parties[0].worker : open_worker(context, shared);
        }
        for (i = 0; i < n; ++i) {
            if (pthread_create(&ids[i], NULL, sends ? send_all : receive_all, &parties[i]) != 0) {
                _exit(1);
            }
        }
        for (i = 0; i < n; ++i) {
            pthread_join(ids[i], NULL);
        }
        _exit(0);
    }
    return pid;
}

int main(int argc, char **argv)
{
    pid_t senders[MOST], receivers[MOST];
    unsigned processes = 1, heard = 1, i;
    int status, failed = 0;
    const char *kind = argc == 5 ? argv[1] : "";

    n = argc == 5 ? strtoul(argv[2], NULL, 0) : 0;
    if (n == 0 || n > MOST) {
        return 2;
    }
    bytes = strtoul(argv[3], NULL, 0);
    window = bytes > LONG ? LONG_WINDOW : WINDOW;
    duration_us = atof(argv[4]) * 1e6;
    common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (common == MAP_FAILED) {
        return 1;
    }
    atomic_store(&common->waiting, n);
    if (!strcmp(kind, "pairs") || !strcmp(kind, "many")) {
        one_receiver = !strcmp(kind, "many");
        processes = n;
        heard = one_receiver ? 1 : n;
        for (i = 0; i < n; ++i) {
            senders[i] = process(i, 1);
        }
        for (i = 0; i < heard; ++i) {
            receivers[i] = process(i, 0);
        }
    } else if (!strcmp(kind, "shared") || !strcmp(kind, "workers")) {
        multi = 1;
        senders[0] = threads(1, !strcmp(kind, "shared"));
        receivers[0] = threads(0, !strcmp(kind, "shared"));
    } else {
        return 2;
    }
    for (i = 0; i < processes; ++i) {
        failed |= waitpid(senders[i], &status, 0) != senders[i] || status != 0;
    }
    for (i = 0; i < heard; ++i) {
        kill(receivers[i], SIGKILL);
        waitpid(receivers[i], NULL, 0);
    }
    if (failed) {
        return 1;
    }
    /* The last windows go on a little longer: each sender's own time counts. */
    printf("rate %.0f\n", (double)common->windows * window / (common->spent_us / 1e6 / n));
    return 0;
}
