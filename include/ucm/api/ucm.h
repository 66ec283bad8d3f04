/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCM_API_UCM_H
#define FERRUCX_UCM_API_UCM_H

#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/topo/base/topo.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

BEGIN_C_DECLS

enum ucm_event_type {
    UCM_EVENT_NONE = 0,
    UCM_EVENT_MMAP = UCS_BIT(0),
    UCM_EVENT_MUNMAP = UCS_BIT(1),
    UCM_EVENT_MREMAP = UCS_BIT(2),
    UCM_EVENT_SHMAT = UCS_BIT(3),
    UCM_EVENT_SHMDT = UCS_BIT(4),
    UCM_EVENT_SBRK = UCS_BIT(5),
    UCM_EVENT_MADVISE = UCS_BIT(6),
    UCM_EVENT_BRK = UCS_BIT(7),
    UCM_EVENT_VM_MAPPED = UCS_BIT(16),
    UCM_EVENT_VM_UNMAPPED = UCS_BIT(17),
    UCM_EVENT_MEM_TYPE_ALLOC = UCS_BIT(20),
    UCM_EVENT_MEM_TYPE_FREE = UCS_BIT(21),
    UCM_EVENT_FLAG_NO_INSTALL = UCS_BIT(24),
    UCM_EVENT_FLAG_EXISTING_ALLOC = UCS_BIT(25),
};

typedef enum ucm_event_type ucm_event_type_t;

enum ucm_mmap_hook_mode {
    UCM_MMAP_HOOK_NONE = 0,
    UCM_MMAP_HOOK_RELOC = 1,
    UCM_MMAP_HOOK_BISTRO = 2,
    UCM_MMAP_HOOK_LAST = 3,
};

typedef enum ucm_mmap_hook_mode ucm_mmap_hook_mode_t;

enum ucm_module_unload_prevent_mode {
    UCM_UNLOAD_PREVENT_MODE_LAZY = 0,
    UCM_UNLOAD_PREVENT_MODE_NOW = 1,
    UCM_UNLOAD_PREVENT_MODE_NONE = 2,
    UCM_UNLOAD_PREVENT_MODE_LAST = 3,
};

typedef enum ucm_module_unload_prevent_mode ucm_module_unload_prevent_mode_t;

typedef union ucm_event ucm_event_t;

typedef struct ucm_global_config ucm_global_config_t;

struct ucm_event_mmap {
    void *result;
    void *address;
    size_t size;
    int prot;
    int flags;
    int fd;
    off_t offset;
};

struct ucm_event_munmap {
    int result;
    void *address;
    size_t size;
};

struct ucm_event_mremap {
    void *result;
    void *address;
    size_t old_size;
    size_t new_size;
    int flags;
    void *new_address;
};

struct ucm_event_shmat {
    void *result;
    int shmid;
    const void *shmaddr;
    int shmflg;
};

struct ucm_event_shmdt {
    int result;
    const void *shmaddr;
};

struct ucm_event_sbrk {
    void *result;
    ssize_t increment;
};

struct ucm_event_madvise {
    int result;
    void *addr;
    size_t length;
    int advice;
};

struct ucm_event_brk {
    int result;
    void *addr;
};

struct ucm_event_vm_mapped {
    void *address;
    size_t size;
};

struct ucm_event_mem_type {
    void *address;
    size_t size;
    ucs_memory_type_t mem_type;
    ucs_sys_device_t sys_dev;
    uint8_t mem_flags;
};

union ucm_event {
    struct ucm_event_mmap mmap;
    struct ucm_event_munmap munmap;
    struct ucm_event_mremap mremap;
    struct ucm_event_shmat shmat;
    struct ucm_event_shmdt shmdt;
    struct ucm_event_sbrk sbrk;
    struct ucm_event_madvise madvise;
    struct ucm_event_brk brk;
    struct ucm_event_vm_mapped vm_mapped;
    struct ucm_event_vm_mapped vm_unmapped;
    struct ucm_event_mem_type mem_type;
};

struct ucm_global_config {
    ucs_log_level_t log_level;
    int enable_events;
    ucm_mmap_hook_mode_t mmap_hook_mode;
    int enable_malloc_hooks;
    int enable_malloc_reloc;
    uint64_t cuda_hook_modes;
    int enable_dynamic_mmap_thresh;
    size_t alloc_alignment;
    int dlopen_process_rpath;
    int module_unload_prevent_mode;
    int bistro_force_far_jump;
    double bistro_grace_duration;
};

typedef void (*ucm_event_callback_t)(ucm_event_type_t event_type,
                                     ucm_event_t *event,
                                     void *arg);

/** Options of the library that watches memory. */
extern ucm_global_config_t ucm_global_opts;

/** mremap() with events; the new address comes last, where MREMAP_FIXED asks for it. */
void *ucm_mremap(void *old_address, size_t old_size, size_t new_size, int flags, ...);

END_C_DECLS

#endif
