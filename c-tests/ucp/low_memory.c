/* Shared memory or address space that is small, missing, or runs out while messages are in flight: every message
 * arrives by the remaining transports, or an operation returns an error; no signal, no hang. Each case runs in two
 * processes with their own namespaces. */
/* headers: ours */
/* timeout: 240 */
/* valgrind: no, unshare and mount in a process under valgrind need more rights than some hosts give */
#define _GNU_SOURCE
#include "peers.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SHORT = 8, LONG = 200000, ROUNDS = 40 };

static char out[LONG], in[LONG];

static void write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);

    CHECK(fd >= 0);
    CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* What is to be short of. */
static void small_dev_shm(const char *size)
{
    char options[32];

    snprintf(options, sizeof(options), "size=%s", size);
    CHECK_EQ(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    CHECK_EQ(mount("shm", "/dev/shm", "tmpfs", 0, options), 0);
}

static void no_system_v(const char *unused)
{
    write_to("/proc/sys/kernel/shmmni", "0");
}

static void address_space(const char *megabytes)
{
    struct rlimit limit;
    long pages;
    FILE *file = fopen("/proc/self/statm", "r");

    CHECK(file != NULL && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    limit.rlim_cur = limit.rlim_max = pages * 4096 + (atol(megabytes) << 20);
    CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Uses up what /dev/shm has. */
static void fill_dev_shm(void)
{
    static char block[1 << 16];
    int fd = open("/dev/shm/filler", O_WRONLY | O_CREAT, 0600);

    CHECK(fd >= 0);
    while (write(fd, block, sizeof(block)) > 0) {
    }
    close(fd);
}

/* The other side is not there, or could not do its part: so is this one. */
static void agree(const pair_t *pair, side_t *side, int *fine)
{
    int theirs;

    pair_send(pair, fine, sizeof(*fine));
    while (side != NULL && !pair_ready(pair)) {
        ucp_worker_progress(side->worker);
    }
    pair_recv(pair, &theirs, sizeof(theirs));
    *fine = *fine && theirs;
}

static int open_side(side_t *side)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};

    if (ucp_init(&params, NULL, &side->context) != UCS_OK) {
        return 0;
    }
    if (ucp_worker_create(side->context, &worker_params, &side->worker) != UCS_OK) {
        ucp_cleanup(side->context);
        return 0;
    }
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
    return 1;
}

/* Messages both ways at once; gives whether all passed. */
static int talk(const pair_t *pair, side_t *side, ucp_ep_h ep, int fills)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    int fine = 1, round;

    for (round = 0; fine && round < ROUNDS; ++round) {
        size_t length = round % 2 ? LONG : SHORT;
        ucs_status_ptr_t receive = ucp_tag_recv_nbx(side->worker, in, length, round, ~0ull, &param), send;

        CHECK(!UCS_PTR_IS_ERR(receive));
        memset(out, round, length);
        send = ucp_tag_send_nbx(ep, out, length, round, &param);
        fine = side_wait(side, side, send) == UCS_OK;
        agree(pair, side, &fine);
        if (!fine && UCS_PTR_IS_PTR(receive)) {
            ucp_request_cancel(side->worker, receive);
        }
        fine &= side_wait(side, side, receive) == UCS_OK;
        CHECK(!fine || (in[0] == (char)round && memcmp(in, in + 1, length - 1) == 0));
        if (fills && round == ROUNDS / 2 && pair_is_child(pair)) {
            fill_dev_shm();
        }
    }
    return fine;
}

typedef struct {
    const char *what, *tls;
    void (*shorten)(const char *);
    const char *argument;
    int fills, passes; /* passes: 0, 1, or -1 where it may be either */
} way_t;

/* Two processes that are short of something; ends this one with whether messages passed. */
static void try(const void *arg)
{
    const way_t *way = arg;
    int fine, passed = 0;
    void *address;
    side_t side;
    pair_t pair;
    ucp_ep_h ep;

    CHECK_EQ(unshare(CLONE_NEWNS | CLONE_NEWIPC), 0);
    setenv("UCX_TLS", way->tls, 1);
    setenv("UCX_LOG_LEVEL", "fatal", 0);
    way->shorten(way->argument);
    pair = pair_start();
    fine = open_side(&side);
    agree(&pair, NULL, &fine);
    if (fine) {
        pair_send_blob(&pair, side.address, side.address_length);
        address = pair_recv_blob(&pair);
        ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = address};
        fine = ucp_ep_create(side.worker, &params, &ep) == UCS_OK;
        agree(&pair, &side, &fine);
        passed = fine && talk(&pair, &side, ep, way->fills);
        pair_barrier(&pair);
        side_close(&side);
        free(address);
    }
    pair_finish(&pair);
    exit(passed ? 0 : 3);
}

int main(void)
{
    static const way_t ways[] = {
        {"/dev/shm of 4 KiB, posix and tcp", "posix,tcp", small_dev_shm, "4k", 0, 1},
        {"/dev/shm of 4 KiB, everything", "all", small_dev_shm, "4k", 0, 1},
        {"/dev/shm of 4 KiB, posix alone", "posix", small_dev_shm, "4k", 0, 1},
        {"/dev/shm of 64 KiB, posix and tcp", "posix,tcp", small_dev_shm, "64k", 0, 1},
        {"/dev/shm of 64 KiB, posix alone", "posix", small_dev_shm, "64k", 0, 1},
        {"/dev/shm of 1 MiB, posix and tcp", "posix,tcp", small_dev_shm, "1m", 0, 1},
        {"/dev/shm of 1 MiB, posix alone", "posix", small_dev_shm, "1m", 0, 1},
        {"/dev/shm that is filled up, posix and tcp", "posix,tcp", small_dev_shm, "32m", 1, 1},
        {"/dev/shm that is filled up, posix alone", "posix", small_dev_shm, "32m", 1, 1},
        {"no segments of System V, sysv and tcp", "sysv,tcp", no_system_v, NULL, 0, 1},
        {"no segments of System V, sysv alone", "sysv", no_system_v, NULL, 0, 0},
        {"1 MiB of address space", "all", address_space, "1", 0, -1},
        {"2 MiB of address space", "all", address_space, "2", 0, -1},
        {"4 MiB of address space", "all", address_space, "4", 0, -1},
        {"8 MiB of address space", "all", address_space, "8", 0, -1},
        {"16 MiB of address space", "all", address_space, "16", 0, -1},
        {"32 MiB of address space", "all", address_space, "32", 0, 1},
    };
    unsigned i;

    if (geteuid() != 0) {
        SKIP("only root can make namespaces");
    }
    for (i = 0; i < sizeof(ways) / sizeof(*ways); ++i) {
        int status = pair_apart(try, &ways[i]);

        if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3)) {
            FAIL("%s: status %d", ways[i].what, status);
        }
        if (ways[i].passes >= 0) {
            CHECK_EQ(status == 0, ways[i].passes);
        }
        OK("%s: %s", ways[i].what, status == 0 ? "every message passed" : "an error");
    }
    return 0;
}
