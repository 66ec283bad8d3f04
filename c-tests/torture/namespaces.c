/* Two processes of one host that live in namespaces of their own, as containers do: whatever they share not, messages of
 * every size pass, with nothing on stderr. And a network between them that goes silent: every packet is lost, no interface
 * and no peer says so, and endpoints with error handling learn it within two intervals of keepalive, one or TORTURE_COUNT
 * of them, quiet or with data under way. Needs root and ip(8). */
/* env: UCX_LOG_LEVEL=warn UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "failure.h"
#include "peers.h"
#include "torture.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { LARGE = 1 << 20, LIMIT_S = 40, NO_PTRACE = 1, FEATURES = ALL_FEATURES | UCP_FEATURE_AM };

/* What each of the two has for itself, by its flags of clone(2), and may not. */
typedef struct {
    const char *name;
    int own[2], without[2];
    const char *tls;
} host_t;

static const host_t hosts[] = {
    {"nothing apart", {0, 0}, {0, 0}, "all"},
    {"ipc", {0, CLONE_NEWIPC}, {0, 0}, "all"},
    {"pid", {0, CLONE_NEWPID}, {0, 0}, "all"},
    {"pid of both", {CLONE_NEWPID, CLONE_NEWPID}, {0, 0}, "all"},
    {"user", {0, CLONE_NEWUSER}, {0, 0}, "all"},
    {"net", {0, CLONE_NEWNET}, {0, 0}, "all"},
    {"net of both", {CLONE_NEWNET, CLONE_NEWNET}, {0, 0}, "all"},
    {"mounts", {0, CLONE_NEWNS}, {0, 0}, "all"},
    {"pid and mounts", {CLONE_NEWPID | CLONE_NEWNS, CLONE_NEWPID | CLONE_NEWNS}, {0, 0}, "all"},
    {"container", {0, CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS}, {0, 0}, "all"},
    {"two containers",
     {CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS,
      CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS},
     {0, 0},
     "all"},
    {"rootless container", {0, CLONE_NEWUSER | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET}, {0, 0}, "all"},
    {"one without CAP_SYS_PTRACE", {0, 0}, {0, NO_PTRACE}, "all"},
    {"both without CAP_SYS_PTRACE", {0, 0}, {NO_PTRACE, NO_PTRACE}, "all"},
    {"one without CAP_SYS_PTRACE, posix and cma", {0, 0}, {0, NO_PTRACE}, "posix,cma,tcp"},
    {"one without CAP_SYS_PTRACE, sysv and cma", {0, 0}, {0, NO_PTRACE}, "sysv,cma"},
};

static const ucp_request_param_t plain;

static void command(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void command(const char *format, ...)
{
    char text[512];
    va_list rest;

    va_start(rest, format);
    vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    if (system(text) != 0) {
        FAIL("%s", text);
    }
}

static void write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);

    CHECK(fd >= 0);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void drop_ptrace(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[2];

    CHECK(syscall(SYS_capget, &head, caps) == 0);
    caps[0].effective &= ~(1u << CAP_SYS_PTRACE);
    caps[0].permitted &= ~(1u << CAP_SYS_PTRACE);
    caps[0].inheritable &= ~(1u << CAP_SYS_PTRACE);
    CHECK(syscall(SYS_capset, &head, caps) == 0);
}

/* The name and address of the end of the wire between two networks that is `which` process's. */
static const char *wire(int which)
{
    return which ? "torture1" : "torture0";
}

/* Moves this process, `which` of two, to namespaces of its own. */
static void go_apart(const host_t *host, int which, const pair_t *pair)
{
    int own = host->own[which], networks = (host->own[0] | host->own[1]) & CLONE_NEWNET, status;
    int own_networks[2] = {host->own[0] & CLONE_NEWNET, host->own[1] & CLONE_NEWNET};
    pid_t mine = getpid(), theirs, inner;

    /* The owner of a network is the user namespace that its maker is in. */
    if (own & CLONE_NEWUSER) {
        CHECK(unshare(CLONE_NEWUSER) == 0);
        write_to("/proc/self/setgroups", "deny");
        write_to("/proc/self/uid_map", "0 0 1");
        write_to("/proc/self/gid_map", "0 0 1");
    }
    CHECK(unshare(own & ~(CLONE_NEWUSER | CLONE_NEWPID)) == 0);
    pair_exchange(pair, &mine, &theirs, sizeof(mine));
    if (networks) {
        if (which == 0) {
            command("ip link del torture0 2> /dev/null; ip link add torture0 type veth peer name torture1 netns %d", own_networks[1] ? theirs : mine);
        }
        pair_barrier(pair);
        command("ip addr add 10.77.0.%d/24 dev %s && ip link set %s up && ip link set lo up", which + 1, wire(which), wire(which));
        pair_barrier(pair);
        /* The kernel says a little later that the other end is there. */
        command("until ip -o link show %s | grep -q 'state UP'; do :; done", wire(which));
        pair_barrier(pair);
    }
    if (own & CLONE_NEWNS) {
        CHECK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
        CHECK(mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") == 0);
    }
    if (own & CLONE_NEWPID) {
        CHECK(unshare(CLONE_NEWPID) == 0);
        inner = fork();
        CHECK(inner >= 0);
        if (inner > 0) {
            CHECK(waitpid(inner, &status, 0) == inner);
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(LIMIT_S);
        if (own & CLONE_NEWNS) {
            CHECK(mount("proc", "/proc", "proc", 0, NULL) == 0);
        }
    }
    if (host->without[which] & NO_PTRACE) {
        drop_ptrace();
    }
}

static void talk(const pair_t *pair)
{
    static char out[LARGE], in[LARGE], address[ADDRESS_ROOM];
    size_t lengths[] = {8, 5000, LARGE};
    ucs_status_ptr_t received;
    failure_t failure;
    side_t side;
    ucp_ep_h ep;
    int i;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, pair, address);
    ep = connect_watched(&side, address, &failure);
    fill(out, LARGE, 3);
    for (i = 0; i < 3; ++i) {
        received = ucp_tag_recv_nbx(side.worker, in, lengths[i], i, -1, &plain);
        request_finish(side.worker, ucp_tag_send_nbx(ep, out, lengths[i], i, &plain));
        request_finish(side.worker, received);
        CHECK_PATTERN(in, lengths[i], 3);
    }
    side_meet(&side, pair);
    side_disconnect(&side, &side, ep, 0);
    side_close(&side);
}

/* Endpoints over a wire that loses everything from some moment on; `busy`: with data under way. */
static double fall_silent(const pair_t *pair, int which, unsigned count, int busy)
{
    static char out[LARGE], address[ADDRESS_ROOM];
    failure_t *failures = calloc(count, sizeof(*failures));
    ucp_ep_h *eps = calloc(count, sizeof(*eps));
    ucs_status_ptr_t *sent = calloc(count, sizeof(*sent));
    char byte = 1, got[8];
    unsigned i, told = 0;
    double start, last = 0;
    side_t side;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, pair, address);
    for (i = 0; i < count; ++i) {
        ucs_status_ptr_t received = ucp_tag_recv_nbx(side.worker, got, sizeof(got), 1, -1, &plain);
        eps[i] = connect_watched(&side, address, &failures[i]);
        request_finish(side.worker, ucp_tag_send_nbx(eps[i], &byte, 1, 1, &plain));
        request_finish(side.worker, received);
    }
    side_meet(&side, pair);
    /* The other end is nobody's from here on. */
    command("ip neigh replace 10.77.0.%d lladdr 02:00:00:00:00:99 dev %s nud permanent", 2 - which, wire(which));
    start = now();
    for (i = 0; busy && (i < count); ++i) {
        sent[i] = ucp_tag_send_nbx(eps[i], out, (i < 8) ? LARGE : 4000, 2, &plain);
    }
    while (told < count) {
        ucp_worker_progress(side.worker);
        for (i = told = 0; i < count; ++i) {
            CHECK(failures[i].calls <= 1);
            told += failures[i].calls;
        }
        if (now() - start > 20) {
            FAIL("%u of %u endpoints were told within 20 s, %s", told, count, busy ? "busy" : "quiet");
        }
    }
    last = now() - start;
    for (i = 0; i < count; ++i) {
        CHECK(has_ended(sent[i]));
        drop(sent[i]);
        side_disconnect(&side, &side, eps[i], UCP_EP_CLOSE_FLAG_FORCE);
    }
    side_close(&side);
    free(failures);
    free(eps);
    free(sent);
    return last;
}

/* Two processes in the places of `host`; what they say on stderr is an error. */
static void two(const host_t *host, unsigned count, int busy, double *told)
{
    char said[4096];
    int noise = memfd_create("stderr", 0), fds[2], i, status, results[2], bad = 0;
    pid_t pids[2];
    ssize_t length;

    CHECK(noise >= 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CHECK(pipe(results) == 0);
    fflush(NULL);
    for (i = 0; i < 2; ++i) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0) {
            pair_t pair = {.fd = fds[i], .child = !i};
            double seconds = 0;

            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(LIMIT_S);
            close(fds[!i]);
            CHECK(dup2(noise, STDERR_FILENO) >= 0);
            setenv("UCX_TLS", host->tls, 1);
            go_apart(host, i, &pair);
            if (count) {
                seconds = fall_silent(&pair, i, count, busy);
            } else {
                talk(&pair);
            }
            CHECK(write(results[1], &seconds, sizeof(seconds)) == sizeof(seconds));
            _exit(0);
        }
    }
    close(fds[0]);
    close(fds[1]);
    close(results[1]);
    for (i = 0; i < 2; ++i) {
        CHECK(waitpid(pids[i], &status, 0) == pids[i]);
        bad |= status;
    }
    /* The kernel takes the wire away some time after its other end's network: no later process is to see it. */
    command("ip link del %s 2> /dev/null; true", wire(0));
    length = pread(noise, said, sizeof(said) - 1, 0);
    said[length > 0 ? length : 0] = 0;
    if (bad || (length > 0 && !count)) {
        FAIL("%s: wait status 0x%x; they said: %s", host->name, bad, said);
    }
    *told = 0;
    for (i = 0; i < 2; ++i) {
        double seconds;
        CHECK(read(results[0], &seconds, sizeof(seconds)) == sizeof(seconds));
        *told = (seconds > *told) ? seconds : *told;
    }
    close(results[0]);
    close(noise);
}

int main(void)
{
    static const host_t apart = {"silent network", {CLONE_NEWNET, CLONE_NEWNET}, {0, 0}, "tcp"};
    unsigned count = torture_count(1), i, number_of_hosts = sizeof(hosts) / sizeof(*hosts);
    double quiet, busy;

    if ((geteuid() != 0) || (system("ip -V > /dev/null 2>&1") != 0)) {
        SKIP("namespaces and wires between them are made by root, with ip(8)");
    }
    if ((unshare(CLONE_NEWNET) != 0) || (system("ip link add probe type veth peer name eborp && ip link set lo up") != 0)) {
        SKIP("this machine lets nobody make a network of its own");
    }
    for (i = 0; i < number_of_hosts; ++i) {
        two(&hosts[i], 0, 0, &quiet);
    }
    FIGURE("%u ways of two processes to live apart: every message passed, nothing was said", number_of_hosts);
    /* The kernel's part has to be as short as UCP's. */
    setenv("UCX_KEEPALIVE_INTERVAL", "2s", 1);
    setenv("UCX_TCP_KEEPIDLE", "1s", 1);
    setenv("UCX_TCP_KEEPINTVL", "1s", 1);
    setenv("UCX_TCP_KEEPCNT", "1", 1);
    two(&apart, count, 0, &quiet);
    two(&apart, count, 1, &busy);
    if ((quiet > 4.5) || (busy > 4.5)) {
        FAIL("%u endpoints on a silent network were told after %.1f s, with data under way after %.1f s", count, quiet, busy);
    }
    FIGURE("%u endpoints on a network that loses everything, keepalive every 2 s: told within %.1f s, with data under way %.1f s",
           count, quiet, busy);
    return 0;
}
