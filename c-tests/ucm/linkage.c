/* UCX_MEM_MMAP_HOOK_MODE=reloc: memory calls of the program run the handlers, since its linkage table is changed; those with
 * "orig" in their name do not. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_MEM_MMAP_HOOK_MODE=reloc UCX_MEM_MALLOC_HOOKS=n UCX_LOG_LEVEL=fatal */
#define _GNU_SOURCE
#include "check.h"

#include <ucm/api/ucm.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/shm.h>

/* Sizes that nothing else here has. */
enum { PAGE = 4096, LENGTH = 37 * PAGE, LONGER = 53 * PAGE };

static struct {
    unsigned mmap, munmap, mremap, shmat, shmdt, madvise, sbrk, mapped, unmapped;
} seen;

static void note(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    CHECK(arg == &seen);
    switch (type) {
    case UCM_EVENT_MMAP:
        seen.mmap += (event->mmap.size == LENGTH) && (event->mmap.result != MAP_FAILED);
        break;
    case UCM_EVENT_MUNMAP:
        seen.munmap += (event->munmap.size == LONGER) && (event->munmap.result == 0);
        break;
    case UCM_EVENT_MREMAP:
        seen.mremap += (event->mremap.old_size == LENGTH) && (event->mremap.new_size == LONGER);
        break;
    case UCM_EVENT_SHMAT:
        ++seen.shmat;
        break;
    case UCM_EVENT_SHMDT:
        ++seen.shmdt;
        break;
    case UCM_EVENT_MADVISE:
        seen.madvise += (event->madvise.length == LENGTH);
        break;
    case UCM_EVENT_SBRK:
        seen.sbrk += (event->sbrk.increment == PAGE);
        break;
    case UCM_EVENT_VM_MAPPED:
        seen.mapped += (event->vm_mapped.size == LENGTH);
        break;
    case UCM_EVENT_VM_UNMAPPED:
        seen.unmapped += (event->vm_unmapped.size == LONGER);
        break;
    default:
        break;
    }
}

static void map(unsigned expected)
{
    char *base = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(base != MAP_FAILED);
    CHECK_EQ(seen.mmap, expected);
    CHECK_EQ(seen.mapped, expected);
    base[PAGE] = 'x';
    CHECK(madvise(base, LENGTH, MADV_NORMAL) == 0);
    CHECK_EQ(seen.madvise, expected);
    base = mremap(base, LENGTH, LONGER, MREMAP_MAYMOVE);
    CHECK(base != MAP_FAILED);
    CHECK(base[PAGE] == 'x');
    CHECK_EQ(seen.mremap, expected);
    CHECK(munmap(base, LONGER) == 0);
    CHECK_EQ(seen.munmap, expected);
    CHECK(seen.unmapped >= expected);
}

static void attach(unsigned expected)
{
    int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600);
    void *base;

    CHECK(id >= 0);
    base = shmat(id, NULL, 0);
    CHECK(shmctl(id, IPC_RMID, NULL) == 0);
    CHECK(base != MAP_FAILED);
    CHECK(shmdt(base) == 0);
    CHECK_EQ(seen.shmat, expected);
    CHECK_EQ(seen.shmdt, expected);
}

static void quiet(void)
{
    void *base = ucm_orig_mmap(NULL, LENGTH, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(base != MAP_FAILED);
    CHECK(ucm_orig_munmap(base, LENGTH) == 0);
}

int main(void)
{
    const int events = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT | UCM_EVENT_SHMDT |
                       UCM_EVENT_SBRK | UCM_EVENT_MADVISE | UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED;

    map(0);
    CHECK_OK(ucm_set_event_handler(events, 5, note, &seen));
    map(1);
    attach(1);
    /* musl refuses, but is asked. */
    sbrk(PAGE);
    CHECK_EQ(seen.sbrk, 1);
    quiet();
    CHECK_EQ(seen.mmap, 1);
    CHECK_OK(ucm_test_events(UCM_EVENT_MMAP | UCM_EVENT_MUNMAP));
    errno = 0;
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK_EQ(errno, EINVAL);
    OK("calls of the program");

    ucm_unset_event_handler(events, note, &seen);
    map(1);
    OK("without the handler");
    return 0;
}
