/* Memory calls of the API run the handlers in order, around the call; others run none. Upstream is run without
 * its code patches, which this library never has. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_MEM_MMAP_HOOK_MODE=none UCX_LOG_LEVEL=fatal */
#define _GNU_SOURCE
#include "check.h"

#include <ucm/api/ucm.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/shm.h>

enum { PAGE = 4096, NATIVE = UCM_EVENT_MMAP | UCM_EVENT_MUNMAP | UCM_EVENT_MREMAP | UCM_EVENT_SHMAT |
                             UCM_EVENT_SHMDT | UCM_EVENT_SBRK | UCM_EVENT_MADVISE | UCM_EVENT_BRK,
       AGGREGATE = UCM_EVENT_VM_MAPPED | UCM_EVENT_VM_UNMAPPED };

static void note(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    printf("  %-6s", (const char *)arg);
    switch (type) {
    case UCM_EVENT_MMAP:
        printf("mmap %zu %s\n", event->mmap.size, (event->mmap.result == MAP_FAILED) ? "no result" : "mapped");
        break;
    case UCM_EVENT_MUNMAP:
        printf("munmap %zu %d\n", event->munmap.size, event->munmap.result);
        break;
    case UCM_EVENT_MREMAP:
        printf("mremap %zu to %zu %s\n", event->mremap.old_size, event->mremap.new_size,
               (event->mremap.result == MAP_FAILED) ? "no result" : "mapped");
        break;
    case UCM_EVENT_SHMAT:
        printf("shmat %s\n", (event->shmat.result == MAP_FAILED) ? "no result" : "attached");
        break;
    case UCM_EVENT_SHMDT:
        printf("shmdt %d\n", event->shmdt.result);
        break;
    case UCM_EVENT_SBRK:
        printf("sbrk %zd %s\n", (ssize_t)event->sbrk.increment,
               (event->sbrk.result == MAP_FAILED) ? "no result" : "moved");
        break;
    case UCM_EVENT_MADVISE:
        printf("madvise %zu %d\n", event->madvise.length, event->madvise.result);
        break;
    case UCM_EVENT_BRK:
        printf("brk %d\n", event->brk.result);
        break;
    case UCM_EVENT_VM_MAPPED:
        printf("mapped %zu\n", event->vm_mapped.size);
        break;
    case UCM_EVENT_VM_UNMAPPED:
        printf("unmapped %zu\n", event->vm_unmapped.size);
        break;
    default:
        printf("event %d\n", type);
    }
}

static void registration(void)
{
    CHECK_STATUS(ucm_set_event_handler(UCM_EVENT_MMAP, 0, note, "none"), UCS_ERR_UNSUPPORTED);
    CHECK_STATUS(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, note, "none"), UCS_ERR_UNSUPPORTED);
    CHECK_OK(ucm_test_events(UCM_EVENT_VM_UNMAPPED));
    CHECK_OK(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED));
    OK("nobody delivers");

    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    CHECK_OK(ucm_set_event_handler(UCM_EVENT_VM_UNMAPPED, 0, note, "extern"));
    ucm_vm_munmap((void *)PAGE, 99);
    CHECK_STATUS(ucm_test_external_events(UCM_EVENT_VM_UNMAPPED), UCS_ERR_UNSUPPORTED);
    ucm_unset_event_handler(UCM_EVENT_VM_UNMAPPED, note, "extern");
    ucm_unset_external_event(UCM_EVENT_VM_UNMAPPED);
    OK("declared by the program");

    CHECK_OK(ucm_set_event_handler(NATIVE | AGGREGATE | UCM_EVENT_FLAG_NO_INSTALL, 5, note, "after"));
    CHECK_OK(ucm_set_event_handler(NATIVE | AGGREGATE | UCM_EVENT_FLAG_NO_INSTALL, -5, note, "before"));
    CHECK_OK(ucm_set_event_handler(AGGREGATE | UCM_EVENT_FLAG_NO_INSTALL, -7, note, "first"));
    OK("without hooks");
}

static void mappings(void)
{
    char *base, *moved;

    base = ucm_mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    base[PAGE] = 'x';
    CHECK(ucm_madvise(base, PAGE, MADV_NORMAL) == 0);
    CHECK(ucm_madvise(base, PAGE, MADV_DONTNEED) == 0);
    moved = ucm_mremap(base, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
    CHECK(moved != MAP_FAILED);
    CHECK(moved[PAGE] == 'x');
    CHECK(ucm_munmap(moved, 4 * PAGE) == 0);
    CHECK(ucm_mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK_EQ(errno, EINVAL);
    OK("mappings");
}

static void segments(void)
{
    int id = shmget(IPC_PRIVATE, 5000, IPC_CREAT | 0600);
    void *base;

    CHECK(id >= 0);
    base = ucm_shmat(id, NULL, 0);
    CHECK(shmctl(id, IPC_RMID, NULL) == 0);
    CHECK(base != MAP_FAILED);
    CHECK(ucm_shmdt(base) == 0);
    OK("segments");
}

/* Headers before 1.15 declare four arguments. */
static void *orig_mremap(void *base, size_t old_size, size_t new_size)
{
    void *(*call)(void *, size_t, size_t, int, void *) =
            (void *(*)(void *, size_t, size_t, int, void *))(void *)ucm_orig_mremap;

    return call(base, old_size, new_size, MREMAP_MAYMOVE, NULL);
}

static void quiet(void)
{
    void *base = ucm_orig_mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *library;

    CHECK(base != MAP_FAILED);
    CHECK(ucm_orig_madvise(base, PAGE, MADV_DONTNEED) == 0);
    base = orig_mremap(base, PAGE, 2 * PAGE);
    CHECK(base != MAP_FAILED);
    CHECK(ucm_orig_munmap(base, 2 * PAGE) == 0);
    library = ucm_dlopen(NULL, 1 /* RTLD_LAZY */);
    CHECK(library != NULL);
    OK("calls without events");
}

static void removal(void)
{
    ucm_vm_mmap((void *)PAGE, 77);
    ucm_unset_event_handler(UCM_EVENT_VM_MAPPED, note, "after");
    ucm_vm_mmap((void *)PAGE, 78);
    ucm_vm_munmap((void *)PAGE, 79);
    ucm_unset_event_handler(NATIVE | AGGREGATE, note, "after");
    ucm_unset_event_handler(NATIVE | AGGREGATE, note, "before");
    ucm_unset_event_handler(NATIVE | AGGREGATE, note, "first");
    ucm_vm_munmap((void *)PAGE, 80);
    OK("removal");
}

int main(void)
{
    registration();
    mappings();
    segments();
    quiet();
    removal();
    return 0;
}
