/* ucm_set_global_opts in a program has the effect of the variables: with UCM_MMAP_HOOK_RELOC the program's memory calls run
 * handlers, with UCM_MMAP_HOOK_NONE handlers that need hooks are refused, and without events all are. Options count from the next
 * handler on, and take the place of what the environment says. Each case is a process, as hooks stay. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_MEM_MMAP_HOOK_MODE=none UCX_LOG_LEVEL=fatal */
#define _GNU_SOURCE
#include "check.h"

#include <ucm/api/ucm.h>

#include <sys/mman.h>
#include <sys/wait.h>

/* A size that nothing else here has. */
enum { LENGTH = 37 * 4096 };

static const struct {
    const char *name;
    int is_set, enable_events;
    ucm_mmap_hook_mode_t mode;
    int events;
} cases[] = {
    {"environment: none", 0, 0, UCM_MMAP_HOOK_NONE, UCM_EVENT_MMAP},
    {"reloc", 1, 1, UCM_MMAP_HOOK_RELOC, UCM_EVENT_MMAP},
    {"reloc, mappings", 1, 1, UCM_MMAP_HOOK_RELOC, UCM_EVENT_VM_MAPPED},
    {"none", 1, 1, UCM_MMAP_HOOK_NONE, UCM_EVENT_MMAP},
    {"none, not installed", 1, 1, UCM_MMAP_HOOK_NONE, UCM_EVENT_MMAP | UCM_EVENT_FLAG_NO_INSTALL},
    {"no events", 1, 0, UCM_MMAP_HOOK_RELOC, UCM_EVENT_MMAP},
};

static unsigned seen;

static void note(ucm_event_type_t type, ucm_event_t *event, void *arg)
{
    seen += (type == UCM_EVENT_MMAP) ? (event->mmap.size == LENGTH) : (event->vm_mapped.size == LENGTH);
}

static void run(unsigned i)
{
    ucm_global_config_t options = {.log_level = UCS_LOG_LEVEL_FATAL,
                                   .enable_events = cases[i].enable_events,
                                   .mmap_hook_mode = cases[i].mode,
                                   .enable_malloc_reloc = 1,
                                   .alloc_alignment = 16};
    ucs_status_t status;

    if (cases[i].is_set) {
        ucm_set_global_opts(&options);
    }
    status = ucm_set_event_handler(cases[i].events, 1, note, NULL);
    CHECK(mmap(NULL, LENGTH, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    printf("%s: %s, %u\n", cases[i].name, ucs_status_string(status), seen);
}

int main(void)
{
    unsigned i;
    int status;
    pid_t child;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        fflush(stdout);
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            run(i);
            exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_EQ(status, 0);
    }
    OK("options");
    return 0;
}
