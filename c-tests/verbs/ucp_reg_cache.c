/* Registrations that are kept: two contexts of one process, which the stand-in for libibverbs connects. Its count of
 * registrations tells whether one was kept, and that memory which is unmapped and mapped again is registered anew: a
 * device would write into the pages that were there, or read them. Run by tests/verbs with UCX_TLS=rc_verbs. */
#define _GNU_SOURCE
#include "failure.h"
#include "stand_in.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LENGTH = 1 << 20, BUFFERS = 6 };

static side_t origin, owner;
static ucp_ep_h ep, back;
static unsigned char *from, *to;
static uint64_t seed;
static int kept;    /* registrations are kept here */
static int limited; /* one of this length at a time */

/* Sends a message between these buffers; gives the number of registrations that it took. */
static long registrations_of(unsigned char *source, unsigned char *target)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    long before = *setting("reg");
    ucs_status_ptr_t sent, received;

    fill(source, LENGTH, ++seed);
    memset(target, 0, LENGTH);
    sent = ucp_tag_send_nbx(ep, source, LENGTH, 1, &none);
    received = ucp_tag_recv_nbx(owner.worker, target, LENGTH, 1, -1, &none);
    CHECK_OK(side_wait(&origin, &owner, sent));
    CHECK_OK(side_wait(&origin, &owner, received));
    CHECK_EQ(wrong_at(target, LENGTH, seed), LENGTH);
    return *setting("reg") - before;
}

static unsigned char *map_at(void *address)
{
    void *at = mmap(address, LENGTH, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | (address == NULL ? 0 : MAP_FIXED), -1, 0);

    CHECK(at != MAP_FAILED);
    return at;
}

/* What a message takes if `changed` of its two buffers are other memory than with the last one. */
static void expect(int changed)
{
    CHECK_EQ(registrations_of(from, to), kept ? changed : 2);
}

static void memory_that_changes(void)
{
    static unsigned char **buffers[] = {&from, &to};
    int i;

    expect(2);
    expect(0);
    for (i = 0; i < 2; ++i) {
        unsigned char *buffer = *buffers[i];

        CHECK(munmap(buffer, LENGTH) == 0);
        CHECK(map_at(buffer) == buffer);
        expect(1);
        expect(0);
        CHECK(map_at(buffer) == buffer);
        expect(1);
        CHECK(madvise(buffer, LENGTH, MADV_DONTNEED) == 0);
        expect(1);
        *buffers[i] = mremap(buffer, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, map_at(NULL));
        CHECK(*buffers[i] != MAP_FAILED);
        CHECK(map_at(buffer) == buffer);
        expect(1);
        *buffers[i] = buffer;
        expect(1);
    }
    expect(0);
}

/* The allocator unmaps blocks of this length when they are freed, and often gives the same address again. */
static void blocks_of_the_allocator(void)
{
    int i;

    for (i = 0; i < 50; ++i) {
        unsigned char *block = malloc(LENGTH);

        CHECK(block != NULL);
        registrations_of(block, to);
        free(block);
    }
}

/* Unmappings of others meanwhile. */
static volatile int stop;

static void *churn(void *arg)
{
    while (!stop) {
        unsigned char *block = map_at(NULL);

        block[0] = 1;
        CHECK(munmap(block, LENGTH) == 0);
    }
    return NULL;
}

static void a_thread_that_maps_and_unmaps(void)
{
    pthread_t thread;
    int i;

    CHECK(pthread_create(&thread, NULL, churn, NULL) == 0);
    for (i = 0; i < 200; ++i) {
        unsigned char *block = map_at(NULL);

        registrations_of(block, to);
        CHECK(munmap(block, LENGTH) == 0);
    }
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
}

/* Kept registrations are limited in number and length. */
static void limits(void)
{
    unsigned char *all[BUFFERS];
    long live;
    int i;

    registrations_of(from, to);
    live = *setting("live");
    for (i = 0; i < BUFFERS; ++i) {
        all[i] = map_at(NULL);
        registrations_of(all[i], to);
    }
    if (kept) {
        CHECK_EQ(*setting("live") - live, limited ? 0 : BUFFERS);
        CHECK_EQ(registrations_of(all[0], to), limited);
    } else {
        CHECK_EQ(*setting("live"), live);
    }
    for (i = 0; i < BUFFERS; ++i) {
        CHECK(munmap(all[i], LENGTH) == 0);
    }
}

/* The device must not write into pages that a child got: registrations end before fork(), unless told otherwise. */
static void forks(void)
{
    const char *purge = getenv("UCX_RCACHE_PURGE_ON_FORK");
    int stays = purge != NULL && purge[0] == 'n', status;
    pid_t child;

    registrations_of(from, to);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(munmap(from, LENGTH) == 0 ? 0 : 1);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    expect(stays ? 0 : 2);
}

static failure_t failure;

/* With error handling a buffer may be given back while it is read. So the receiver reads a word behind the data, which
 * changes then; and nobody reads what is not registered for longer than the message. */
static void buffers_that_may_be_given_back(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_ep_h old = ep, second;
    ucs_status_ptr_t sent, dropped, received;
    unsigned char *other = map_at(NULL);
    long reads = *setting("reads"), writes;

    ep = connect_watched(&origin, owner.address, &failure);
    registrations_of(from, to);
    registrations_of(from, to);
    CHECK_EQ(*setting("reads") - reads, kept ? 4 : 0);
    /* The word is read behind the data: what changed it before has changed nothing of them. */
    CHECK(!kept || (*setting("last_read") == 8));
    if (kept) {
        /* One is matched after another, of the same worker, was given back. */
        second = connect_watched(&origin, owner.address, &failure);
        fill(from, LENGTH, ++seed);
        sent = ucp_tag_send_nbx(ep, from, LENGTH, 1, &none);
        dropped = ucp_tag_send_nbx(second, other, LENGTH, 2, &none);
        CHECK(UCS_PTR_IS_PTR(sent) && UCS_PTR_IS_PTR(dropped));
        DRIVE_UNTIL(&origin, &owner, ucp_tag_probe_nb(owner.worker, 2, -1, 0, &(ucp_tag_recv_info_t){0}) != NULL);
        CHECK_OK(side_disconnect(&origin, &owner, second, UCP_EP_CLOSE_FLAG_FORCE));
        CHECK_EQ(side_wait(&origin, &owner, dropped), UCS_ERR_CANCELED);
        reads = *setting("reads");
        writes = *setting("writes");
        received = ucp_tag_recv_nbx(owner.worker, to, LENGTH, 1, -1, &none);
        CHECK_OK(side_wait(&origin, &owner, sent));
        CHECK_OK(side_wait(&origin, &owner, received));
        CHECK_EQ(wrong_at(to, LENGTH, seed), LENGTH);
        CHECK_EQ(*setting("reads") - reads, 2);
        CHECK_EQ(*setting("writes") - writes, 1);
    }
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    ep = old;
    CHECK(munmap(other, LENGTH) == 0);
}

int main(void)
{
    const char *enable = getenv("UCX_RCACHE_ENABLE");
    int watch = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);

    limited = getenv("UCX_RCACHE_MAX_REGIONS") != NULL || getenv("UCX_RCACHE_MAX_SIZE") != NULL;
    /* By default a part of what may be locked. */
    setenv("UCX_RCACHE_MAX_SIZE", "1g", 0);
    kept = watch >= 0 && (enable == NULL || enable[0] != 'n');
    if (watch < 0) {
        printf("userfaultfd is not allowed here: no registration is kept\n");
    } else {
        close(watch);
    }
    from = map_at(NULL);
    to = map_at(NULL);
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&origin, owner.address);
    back = side_connect(&owner, origin.address);
    /* The library registers buffers of its own when they are first needed. */
    registrations_of(map_at(NULL), map_at(NULL));
    if (!limited) {
        memory_that_changes();
        blocks_of_the_allocator();
        a_thread_that_maps_and_unmaps();
        forks();
        buffers_that_may_be_given_back();
    }
    limits();
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    CHECK_OK(side_disconnect(&origin, &owner, back, 0));
    side_close(&origin);
    side_close(&owner);
    CHECK_EQ(*setting("live"), 0);
    CHECK(munmap(from, LENGTH) == 0);
    CHECK(munmap(to, LENGTH) == 0);
    OK("registration cache");
    return 0;
}
