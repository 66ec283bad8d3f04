/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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

/** How calls are hooked. */
enum ucm_mmap_hook_mode {
    /** Not. */
    UCM_MMAP_HOOK_NONE = 0,
    /** By the tables of loaded objects. */
    UCM_MMAP_HOOK_RELOC = 1,
    /** By patching code, which this library never does. */
    UCM_MMAP_HOOK_BISTRO = 2,
    /** Number of modes. */
    UCM_MMAP_HOOK_LAST = 3,
};

typedef enum ucm_mmap_hook_mode ucm_mmap_hook_mode_t;

/** Events on memory; masks of them in the calls. */
enum ucm_event_type {
    /** No event. */
    UCM_EVENT_NONE = 0,
    /** mmap(). */
    UCM_EVENT_MMAP = UCS_BIT(0),
    /** munmap(). */
    UCM_EVENT_MUNMAP = UCS_BIT(1),
    /** mremap(). */
    UCM_EVENT_MREMAP = UCS_BIT(2),
    /** shmat(). */
    UCM_EVENT_SHMAT = UCS_BIT(3),
    /** shmdt(). */
    UCM_EVENT_SHMDT = UCS_BIT(4),
    /** sbrk(). */
    UCM_EVENT_SBRK = UCS_BIT(5),
    /** madvise(). */
    UCM_EVENT_MADVISE = UCS_BIT(6),
    /** brk(). */
    UCM_EVENT_BRK = UCS_BIT(7),
    /** Addresses became valid, by whichever call. */
    UCM_EVENT_VM_MAPPED = UCS_BIT(16),
    /** Addresses became invalid, by whichever call. */
    UCM_EVENT_VM_UNMAPPED = UCS_BIT(17),
    /** Memory of a device was allocated. */
    UCM_EVENT_MEM_TYPE_ALLOC = UCS_BIT(20),
    /** Memory of a device was freed. */
    UCM_EVENT_MEM_TYPE_FREE = UCS_BIT(21),
    /** Flag: do not hook; only listen to what comes anyway. */
    UCM_EVENT_FLAG_NO_INSTALL = UCS_BIT(24),
    /** Flag: report what is allocated already. */
    UCM_EVENT_FLAG_EXISTING_ALLOC = UCS_BIT(25),
};

typedef enum ucm_event_type ucm_event_type_t;

/** Whether hooked modules may be unloaded. */
enum ucm_module_unload_prevent_mode {
    /** They stay; symbols are bound when used. */
    UCM_UNLOAD_PREVENT_MODE_LAZY = 0,
    /** They stay; symbols are bound at once. */
    UCM_UNLOAD_PREVENT_MODE_NOW = 1,
    /** They may go. */
    UCM_UNLOAD_PREVENT_MODE_NONE = 2,
    /** Number of modes. */
    UCM_UNLOAD_PREVENT_MODE_LAST = 3,
};

typedef enum ucm_module_unload_prevent_mode ucm_module_unload_prevent_mode_t;

typedef struct ucm_global_config ucm_global_config_t;

typedef union ucm_event ucm_event_t;

/** Options of the library that watches memory. */
struct ucm_global_config {
    /** Messages up to this level. */
    ucs_log_level_t log_level;
    /** Nonzero: events are on. */
    int enable_events;
    /** How calls are hooked. */
    ucm_mmap_hook_mode_t mmap_hook_mode;
    /** Nonzero: malloc() is hooked. */
    int enable_malloc_hooks;
    /** Nonzero: by the tables of loaded objects. */
    int enable_malloc_reloc;
    /** Ways to hook CUDA; none is used. */
    uint64_t cuda_hook_modes;
    /** Nonzero: malloc() adapts its threshold. */
    int enable_dynamic_mmap_thresh;
    /** Least alignment of malloc(), bytes. */
    size_t alloc_alignment;
    /** Nonzero: a hooked dlopen() honours the caller's RPATH. */
    int dlopen_process_rpath;
    /** Whether hooked modules may be unloaded. */
    int module_unload_prevent_mode;
    /** Not used. */
    int bistro_force_far_jump;
    /** Not used. */
    double bistro_grace_duration;
};

/** Arguments and result of mmap(). */
struct ucm_event_mmap {
    /** Result; a handler may set it and so replace the call. */
    void *result;
    /** Start. */
    void *address;
    /** Bytes. */
    size_t size;
    /** Access, as of mmap(). */
    int prot;
    /** Flags, as of mmap(). */
    int flags;
    /** File, as of mmap(). */
    int fd;
    /** Where in the file, bytes. */
    off_t offset;
};

/** Arguments and result of munmap(). */
struct ucm_event_munmap {
    /** Result; a handler may set it and so replace the call. */
    int result;
    /** Start. */
    void *address;
    /** Bytes. */
    size_t size;
};

/** Arguments and result of mremap(). */
struct ucm_event_mremap {
    /** Result; a handler may set it and so replace the call. */
    void *result;
    /** Start. */
    void *address;
    /** Bytes before. */
    size_t old_size;
    /** Bytes after. */
    size_t new_size;
    /** Flags, as of mremap(). */
    int flags;
    /** Where to, with MREMAP_FIXED. */
    void *new_address;
};

/** Arguments and result of shmat(). */
struct ucm_event_shmat {
    /** Result; a handler may set it and so replace the call. */
    void *result;
    /** Segment. */
    int shmid;
    /** Where to, or NULL. */
    const void *shmaddr;
    /** Flags, as of shmat(). */
    int shmflg;
};

/** Arguments and result of shmdt(). */
struct ucm_event_shmdt {
    /** Result; a handler may set it and so replace the call. */
    int result;
    /** Start of the attached segment. */
    const void *shmaddr;
};

/** Arguments and result of sbrk(). */
struct ucm_event_sbrk {
    /** Result; a handler may set it and so replace the call. */
    void *result;
    /** Bytes that are added. */
    ssize_t increment;
};

/** Arguments and result of madvise(). */
struct ucm_event_madvise {
    /** Result; a handler may set it and so replace the call. */
    int result;
    /** Start. */
    void *addr;
    /** Bytes. */
    size_t length;
    /** Advice, as of madvise(). */
    int advice;
};

/** Arguments and result of brk(). */
struct ucm_event_brk {
    /** Result; a handler may set it and so replace the call. */
    int result;
    /** New end of the heap. */
    void *addr;
};

/** Addresses that changed. */
struct ucm_event_vm_mapped {
    /** Start. */
    void *address;
    /** Bytes. */
    size_t size;
};

/** Memory of a device. */
struct ucm_event_mem_type {
    /** Start. */
    void *address;
    /** Bytes. */
    size_t size;
    /** Kind of the memory. */
    ucs_memory_type_t mem_type;
    /** Device that it is on; 255 where unknown. */
    ucs_sys_device_t sys_dev;
    /** `UCS_MEM_FLAG_*`. */
    uint8_t mem_flags;
};

/** One event, by its type. */
union ucm_event {
    /** With UCM_EVENT_MMAP. */
    struct ucm_event_mmap mmap;
    /** With UCM_EVENT_MUNMAP. */
    struct ucm_event_munmap munmap;
    /** With UCM_EVENT_MREMAP. */
    struct ucm_event_mremap mremap;
    /** With UCM_EVENT_SHMAT. */
    struct ucm_event_shmat shmat;
    /** With UCM_EVENT_SHMDT. */
    struct ucm_event_shmdt shmdt;
    /** With UCM_EVENT_SBRK. */
    struct ucm_event_sbrk sbrk;
    /** With UCM_EVENT_MADVISE. */
    struct ucm_event_madvise madvise;
    /** With UCM_EVENT_BRK. */
    struct ucm_event_brk brk;
    /** With UCM_EVENT_VM_MAPPED. */
    struct ucm_event_vm_mapped vm_mapped;
    /** With UCM_EVENT_VM_UNMAPPED. */
    struct ucm_event_vm_mapped vm_unmapped;
    /** With UCM_EVENT_MEM_TYPE_ALLOC and UCM_EVENT_MEM_TYPE_FREE. */
    struct ucm_event_mem_type mem_type;
};

/**
 * Gets an event. It may be called in any thread and must not allocate.
 *
 * @param[in] event_type What happens, one bit of `ucm_event_type_t`.
 * @param[in,out] event The call and its result; valid during the call.
 * @param[in] arg As it was given with the handler.
 */
typedef void (*ucm_event_callback_t)(ucm_event_type_t event_type,
                                     ucm_event_t *event,
                                     void *arg);

/**
 * Sets options, in place of what the environment says: `enable_events` as `UCX_MEM_EVENTS`, `mmap_hook_mode` as
 * `UCX_MEM_MMAP_HOOK_MODE`, from the next handler on. The others are about hooks of malloc() and patched code, of which there are none.
 *
 *
 * @param[in] ucm_opts The options; copied.
 */
void ucm_set_global_opts(const ucm_global_config_t *ucm_opts);

/**
 * Registers a handler of memory events. It hears of the calls of this header, and with
 * `UCX_MEM_MMAP_HOOK_MODE=reloc` of those of loaded objects.
 *
 * @param[in] events Bits of `ucm_event_type_t`.
 * @param[in] priority Lower ones run first, those below 0 before the call itself.
 * @param[in] cb The handler.
 * @param[in] arg Its last argument.
 * @return UCS_OK. UCS_ERR_INVALID_PARAM for what is no event. UCS_ERR_UNSUPPORTED where the
 *   configuration allows none (`UCX_MEM_EVENTS`, `UCX_MEM_MMAP_HOOK_MODE`).
 */
ucs_status_t ucm_set_event_handler(int events,
                                   int priority,
                                   ucm_event_callback_t cb,
                                   void *arg);

/**
 * Removes events from a handler; waits for callbacks under way.
 *
 * @param[in] events Bits of `ucm_event_type_t`.
 * @param[in] cb The handler.
 * @param[in] arg As it was given with the handler.
 */
void ucm_unset_event_handler(int events, ucm_event_callback_t cb, void *arg);

/**
 * Declares events that the program delivers by itself.
 *
 * @param[in] events Bits of `ucm_event_type_t`.
 */
void ucm_set_external_event(int events);

/**
 * Takes a declaration back.
 *
 * @param[in] events Bits of `ucm_event_type_t`.
 */
void ucm_unset_external_event(int events);

/**
 * Tells whether the hooks that the library installed work.
 *
 * @param[in] events Bits of `ucm_event_type_t`.
 * @return UCS_OK or UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucm_test_events(int events);

/**
 * Whether the program delivers the events that it declared.
 *
 * @param[in] events Bits of `ucm_event_type_t`.
 * @return UCS_OK or UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucm_test_external_events(int events);

/**
 * mmap(2) without events.
 *
 * @param[in] addr Address wanted, or NULL.
 * @param[in] length Bytes of the range.
 * @param[in] prot As of the system call.
 * @param[in] flags As of the system call.
 * @param[in] fd As of the system call.
 * @param[in] offset As of the system call.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_orig_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

/**
 * munmap(2) without events.
 *
 * @param[in] addr Start of the range.
 * @param[in] length Bytes of the range.
 * @return 0, or -1 with errno set.
 */
int ucm_orig_munmap(void *addr, size_t length);

/**
 * mremap(2) without events.
 *
 * @param[in] old_address Start of the range.
 * @param[in] old_size Its bytes.
 * @param[in] new_size Bytes wanted.
 * @param[in] flags As of the system call.
 * @param[in] new_address Where it shall be, with MREMAP_FIXED.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_orig_mremap(void *old_address,
                      size_t old_size,
                      size_t new_size,
                      int flags,
                      void *new_address);

/**
 * shmat(2) without events.
 *
 * @param[in] shmid Segment.
 * @param[in] shmaddr Address of the segment, as of the system call.
 * @param[in] shmflg As of the system call.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_orig_shmat(int shmid, const void *shmaddr, int shmflg);

/**
 * shmdt(2) without events.
 *
 * @param[in] shmaddr Address of the segment, as of the system call.
 * @return 0, or -1 with errno set.
 */
int ucm_orig_shmdt(const void *shmaddr);

/**
 * sbrk(3) without events.
 *
 * @param[in] increment Bytes by which the break moves.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_orig_sbrk(ssize_t increment);

/**
 * brk(2) without events.
 *
 * @param[in] addr New end of the heap.
 * @return 0, or -1 with errno set.
 */
int ucm_orig_brk(void *addr);

/**
 * madvise(2) without events.
 *
 * @param[in] addr Start of the range.
 * @param[in] length Bytes of the range.
 * @param[in] advice As of the system call.
 * @return 0, or -1 with errno set.
 */
int ucm_orig_madvise(void *addr, size_t length, int advice);

/**
 * mmap(2) with events.
 *
 * @param[in] addr Address wanted, or NULL.
 * @param[in] length Bytes of the range.
 * @param[in] prot As of the system call.
 * @param[in] flags As of the system call.
 * @param[in] fd As of the system call.
 * @param[in] offset As of the system call.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

/**
 * munmap(2) with events.
 *
 * @param[in] addr Start of the range.
 * @param[in] length Bytes of the range.
 * @return 0, or -1 with errno set.
 */
int ucm_munmap(void *addr, size_t length);

/**
 * Tells the handlers that the program mapped a range.
 *
 * @param[in] addr Start of the range.
 * @param[in] length Bytes of the range.
 */
void ucm_vm_mmap(void *addr, size_t length);

/**
 * Tells the handlers that the program unmaps a range.
 *
 * @param[in] addr Start of the range.
 * @param[in] length Bytes of the range.
 */
void ucm_vm_munmap(void *addr, size_t length);

/**
 * shmat(2) with events.
 *
 * @param[in] shmid Segment.
 * @param[in] shmaddr Address of the segment, as of the system call.
 * @param[in] shmflg As of the system call.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_shmat(int shmid, const void *shmaddr, int shmflg);

/**
 * shmdt(2) with events.
 *
 * @param[in] shmaddr Address of the segment, as of the system call.
 * @return 0, or -1 with errno set.
 */
int ucm_shmdt(const void *shmaddr);

/**
 * sbrk(3) with events.
 *
 * @param[in] increment Bytes by which the break moves.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_sbrk(ssize_t increment);

/**
 * brk(2) with events.
 *
 * @param[in] addr New end of the heap.
 * @return 0, or -1 with errno set.
 */
int ucm_brk(void *addr);

/**
 * madvise(2) with events.
 *
 * @param[in] addr Start of the range.
 * @param[in] length Bytes of the range.
 * @param[in] advice As of the system call.
 * @return 0, or -1 with errno set.
 */
int ucm_madvise(void *addr, size_t length, int advice);

/**
 * dlopen(3); nothing is hooked in the new object.
 *
 * @param[in] filename Name of the object, NUL-terminated, or NULL.
 * @param[in] flag As of dlopen(3).
 * @return Handle of the object, or NULL.
 */
void *ucm_dlopen(const char *filename, int flag);

/** Options of the library that watches memory. */
extern ucm_global_config_t ucm_global_opts;

/**
 * mremap() with events; the new address comes last, where MREMAP_FIXED asks for it.
 *
 * @param[in] old_address Start of the range.
 * @param[in] old_size Its bytes.
 * @param[in] new_size Bytes wanted.
 * @param[in] flags As of the system call.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_mremap(void *old_address, size_t old_size, size_t new_size, int flags, ...);

END_C_DECLS

#endif
