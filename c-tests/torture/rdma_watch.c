/* Registrations that are kept, while other threads map and unmap memory: no send after a change of its memory finds the old
 * entry. Two contexts of one process, which the stand-in for libibverbs connects; its count of registrations tells. In each
 * round one thread changes pages of some blocks, in any of the ways that put other pages behind an address, and the moment
 * that it is done a message goes from one block into another. Others map and unmap all the time. */
/* env: UCX_TLS=rc_verbs UCX_RNDV_THRESH=16k UCX_RCACHE_MAX_SIZE=1g UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include "peers.h"
#include "torture.h"
#include "verbs/stand_in.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, PAGES = 16, BLOCK = PAGES * PAGE, BLOCKS = 8, OTHERS = 2 };

static side_t origin, owner;
static unsigned char *blocks[BLOCKS], *aside;
static int stop, done;
static sem_t order;

/* What the thread is to change. */
static struct {
    unsigned block, first, count, way;
} change;

static unsigned char *map_at(void *address, size_t length, int flags)
{
    void *at = mmap(address, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    CHECK(at != MAP_FAILED);
    CHECK((address == NULL) || (at == address));
    return at;
}

/* Other pages behind addresses of a block. */
static void change_pages(void)
{
    unsigned char *at = blocks[change.block] + change.first * PAGE;
    size_t length = change.count * PAGE, i;

    switch (change.way) {
    case 0:
        CHECK(munmap(at, length) == 0);
        map_at(at, length, MAP_FIXED_NOREPLACE);
        break;
    case 1:
        map_at(at, length, MAP_FIXED);
        break;
    case 2:
        CHECK(madvise(at, length, MADV_DONTNEED) == 0);
        break;
    case 3:
        /* Each may be a mapping of its own. */
        for (i = 0; i < length; i += PAGE) {
            CHECK(mremap(at + i, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, aside) == aside);
        }
        map_at(at, length, MAP_FIXED_NOREPLACE);
        break;
    }
}

static void *changer(void *arg)
{
    for (;;) {
        while (sem_wait(&order) != 0) {
        }
        if (__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
            return NULL;
        }
        change_pages();
        __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    }
}

/* Maps, and unmaps by mapping over it, within a range of its own: it takes no address of a block, and leaves no hole that others
 * would take. */
static void *other(void *arg)
{
    unsigned char *at = arg;

    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        map_at(at, BLOCK, MAP_FIXED)[0] = 1;
        CHECK(mmap(at, BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
        sched_yield();
    }
    return NULL;
}

int main(void)
{
    const ucp_request_param_t none = {.op_attr_mask = 0};
    uint64_t count = torture_count(1000), round, messages = 0, changed = 0, again = 0;
    unsigned char *area, *ranges[OTHERS];
    pthread_t threads[OTHERS + 1];
    int watch = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1), i;
    int dirty[BLOCKS];
    ucp_ep_h ep;

    if (watch < 0) {
        SKIP("userfaultfd is not allowed here: no registration is kept");
    }
    close(watch);
    torture_seed(1);
    /* A page between two blocks: they are no neighbours, which the cache would keep as one. */
    area = mmap(NULL, BLOCKS * (BLOCK + PAGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(area != MAP_FAILED);
    aside = map_at(NULL, PAGE, 0);
    for (i = 0; i < BLOCKS; ++i) {
        blocks[i] = map_at(area + i * (BLOCK + PAGE), BLOCK, MAP_FIXED);
        dirty[i] = 1;
    }
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&origin, owner.address);
    CHECK(sem_init(&order, 0, 0) == 0);
    CHECK(pthread_create(&threads[OTHERS], NULL, changer, NULL) == 0);
    for (i = 0; i < OTHERS; ++i) {
        ranges[i] = map_at(NULL, BLOCK, 0);
        CHECK(pthread_create(&threads[i], NULL, other, ranges[i]) == 0);
    }
    for (round = 0; round < count; ++round) {
        unsigned from = number() % BLOCKS, to = (from + 1 + number() % (BLOCKS - 1)) % BLOCKS;
        long before, took;
        ucs_status_ptr_t sent, received;
        /* The library registers buffers of its own with the first messages. */
        int is_first = round < 10;

        if (number() % 4 != 0) {
            change.block = number() % 3 ? from : number() % BLOCKS;
            change.first = number() % PAGES;
            change.count = 1 + number() % (PAGES - change.first);
            change.way = number() % 4;
            dirty[change.block] = 1;
            ++changed;
            __atomic_store_n(&done, 0, __ATOMIC_RELAXED);
            CHECK(sem_post(&order) == 0);
            while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
            }
        }
        before = *setting("reg");
        sent = ucp_tag_send_nbx(ep, blocks[from], BLOCK, 1, &none);
        received = ucp_tag_recv_nbx(owner.worker, blocks[to], BLOCK, 1, -1, &none);
        CHECK_OK(side_wait(&origin, &owner, sent));
        CHECK_OK(side_wait(&origin, &owner, received));
        took = *setting("reg") - before;
        if (took < dirty[from] + dirty[to]) {
            FAIL("message %" PRIu64 ", change of way %u: %ld registrations, and %d blocks are other memory than before", round,
                 change.way, took, dirty[from] + dirty[to]);
        }
        CHECK(memcmp(blocks[from], blocks[to], BLOCK) == 0);
        blocks[from][number() % BLOCK] = (unsigned char)round;
        if (!is_first) {
            messages += 2;
            again += took;
        }
        dirty[from] = dirty[to] = 0;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    CHECK(sem_post(&order) == 0);
    for (i = 0; i <= OTHERS; ++i) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    side_close(&origin);
    side_close(&owner);
    CHECK_EQ(*setting("live"), 0);
    CHECK((messages == 0) || (again < messages));
    FIGURE("%" PRIu64 " messages, %" PRIu64 " behind a change of their memory by another thread; %" PRIu64 " of %" PRIu64
           " buffers registered, no old registration used", count, changed, again, messages);
    return 0;
}
