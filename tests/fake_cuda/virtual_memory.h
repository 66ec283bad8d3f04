/*
 * A part of fake_cuda.c: memory that is reserved, created and mapped in steps, and memory of pools.
 *
 * A created allocation is a memory file. Its name for other processes is a descriptor of the file, or bytes that say where
 * the file is ("fabric handle"). That of a pool is a descriptor of a file with the pool's number, or the same bytes; a pointer
 * into it has a name of its own, which only an import of that pool takes.
 */

#ifndef __cuda_cuda_h__
#include "memory_types.h"

typedef int CUmemAllocationGranularity_flags;
typedef struct {
    unsigned char reserved[64];
} CUmemPoolPtrExportData;
enum {
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
    CU_MEM_HANDLE_TYPE_FABRIC = 8,
    CU_MEM_LOCATION_TYPE_DEVICE = 1,
    CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
};
#endif

/* As that of all devices until now. */
#define VIRTUAL_GRANULE (2ul << 20)
#define ALLOCATION_FILE "fake-cuda-allocation-"
#define POOL_FILE "fake-cuda-pool"
#define NAME_MAGIC 0x6e6d6163u

static const unsigned all_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;

struct allocation {
    int references; /* handles, and mappings */
    int file;
    size_t size;
    CUdevice device;
    unsigned types;
    int imported;
};

struct reservation {
    struct reservation *next;
    char *base;
    size_t size;
};
static struct reservation *reservations;

struct CUmemPoolHandle_st {
    CUdevice device;
    unsigned types;
    int imported;
    int exported;
    int pid;
    unsigned serial; /* in the process that made it */
};
static struct CUmemPoolHandle_st default_pools[MAX_DEVICES];
static unsigned last_pool;

/* How other processes name memory: in 64 bytes. */
struct name {
    unsigned magic, kind;
    int pid, file;
    ino_t inode;
    size_t size;
    CUdevice device;
    unsigned pool;
};
_Static_assert(sizeof(struct name) <= 64, "the bytes of a handle");

/* The file that a name leads to; -1 where it is gone. */
static int file_of(const struct name *n)
{
    struct stat found;
    char path[64];
    int file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", n->pid, n->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &found) || found.st_ino != n->inode || (size_t)found.st_size < n->size)) {
        close(file);
        file = -1;
    }
    return file;
}

static struct name name_of(unsigned kind, int file, size_t size, CUdevice device, unsigned pool)
{
    struct stat found;
    struct name n;
    if (fstat(file, &found))
        abort();
    memset(&n, 0, sizeof n);
    n.magic = NAME_MAGIC;
    n.kind = kind;
    n.pid = getpid();
    n.file = file;
    n.inode = found.st_ino;
    n.size = size;
    n.device = device;
    n.pool = pool;
    return n;
}

/* Whether a descriptor is of a memory file whose name begins so; `rest` is what follows. */
static int is_file(int file, const char *begin, char *rest, size_t room)
{
    char path[64], target[128];
    ssize_t n;
    size_t skip;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    n = readlink(path, target, sizeof target - 1);
    if (n < 0)
        return 0;
    target[n] = 0;
    skip = strlen("/memfd:") + strlen(begin);
    if ((size_t)n < skip || strncmp(target, "/memfd:", 7) || strncmp(target + 7, begin, strlen(begin)))
        return 0;
    snprintf(rest, room, "%s", target + skip);
    return 1;
}

/* By what other processes may open a block. */
static unsigned handle_types(const struct block *b)
{
    return b->allocation ? b->allocation->types : b->pool && !b->theirs ? b->pool->types : 0;
}

/* ---- memory in steps ---- */

static void drop(struct allocation *a)
{
    if (--a->references > 0)
        return;
    if (!a->imported)
        used[a->device] -= a->size;
    close(a->file);
    free(a);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    ENTER;
    (void)option;
    if (!granularity || !prop)
        return leave(CUDA_ERROR_INVALID_VALUE);
    *granularity = VIRTUAL_GRANULE;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    ENTER;
    char name[64];
    struct allocation *a;
    if (!handle || !prop || flags || !size || size % VIRTUAL_GRANULE ||
        (int)prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || (int)prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        prop->location.id < 0 || prop->location.id >= devices || ((unsigned)prop->requestedHandleTypes & ~all_types))
        return leave(CUDA_ERROR_INVALID_VALUE);
    if (((unsigned)prop->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) && !fabric)
        return leave(CUDA_ERROR_NOT_SUPPORTED);
    if (size > limit - used[prop->location.id])
        return leave(CUDA_ERROR_OUT_OF_MEMORY);
    a = calloc(1, sizeof *a);
    snprintf(name, sizeof name, ALLOCATION_FILE "%d", prop->location.id);
    if (!a || (a->file = memfd_create(name, MFD_CLOEXEC)) < 0 || ftruncate(a->file, (off_t)size))
        abort();
    used[prop->location.id] += size;
    a->references = 1;
    a->size = size;
    a->device = prop->location.id;
    a->types = (unsigned)prop->requestedHandleTypes;
    *handle = (uintptr_t)a;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ENTER;
    if (!handle)
        return leave(CUDA_ERROR_INVALID_VALUE);
    drop((struct allocation *)(uintptr_t)handle);
    return leave(CUDA_SUCCESS);
}

static struct range reserved_for(const char *at)
{
    struct reservation *r = reservations;

    while (at < r->base || at >= r->base + r->size)
        r = r->next;
    return (struct range){r->base, r->size};
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags)
{
    ENTER;
    struct reservation *r;
    char *raw;
    (void)alignment;
    (void)hint;
    if (!address || !size || size % VIRTUAL_GRANULE || flags)
        return leave(CUDA_ERROR_INVALID_VALUE);
    raw = mmap(NULL, size + VIRTUAL_GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return leave(CUDA_ERROR_OUT_OF_MEMORY);
    r = malloc(sizeof *r);
    if (!r)
        abort();
    /* The rest of it stays reserved. */
    r->base = (char *)(((uintptr_t)raw + VIRTUAL_GRANULE - 1) & ~(VIRTUAL_GRANULE - 1));
    r->size = size;
    r->next = reservations;
    reservations = r;
    *address = (uintptr_t)r->base;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
    ENTER;
    for (struct reservation **at = &reservations; *at; at = &(*at)->next) {
        struct reservation *r = *at;
        if (r->base != (char *)(uintptr_t)address || r->size != size)
            continue;
        for (struct block *b = blocks; b; b = b->next)
            if (b->base >= r->base && b->base < r->base + r->size)
                return leave(CUDA_ERROR_INVALID_VALUE);
        munmap(r->base, r->size);
        *at = r->next;
        free(r);
        return leave(CUDA_SUCCESS);
    }
    return leave(CUDA_ERROR_INVALID_VALUE);
}

static int is_reserved(const char *base, size_t size)
{
    for (struct reservation *r = reservations; r; r = r->next)
        if (base >= r->base && size <= r->size && (size_t)(base - r->base) <= r->size - size)
            return 1;
    return 0;
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    ENTER;
    struct allocation *a = (struct allocation *)(uintptr_t)handle;
    char *base = (char *)(uintptr_t)address;
    if (!a || !size || offset || flags || size > a->size || size % VIRTUAL_GRANULE || address % VIRTUAL_GRANULE ||
        !is_reserved(base, size))
        return leave(CUDA_ERROR_INVALID_VALUE);
    for (struct block *b = blocks; b; b = b->next)
        if (b->base < base + size && base < b->base + b->size)
            return leave(CUDA_ERROR_INVALID_VALUE);
    insert(map_file(a->file, size, NULL, base));
    blocks->device = a->device;
    blocks->allocation = a;
    a->references++;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
    ENTER;
    char *from = (char *)(uintptr_t)address, *to = from + size;
    size_t found = 0;
    for (struct block *b = blocks; b; b = b->next)
        if (b->allocation && b->base >= from && b->base + b->size <= to)
            found += b->size;
    if (!size || found != size)
        return leave(CUDA_ERROR_INVALID_VALUE);
    for (struct block **at = &blocks; *at;) {
        struct block *b = *at;
        if (!b->allocation || b->base < from || b->base >= to) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        munmap(b->shadow, b->length);
        if (mmap(b->base, b->length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
            MAP_FAILED)
            abort();
        drop(b->allocation);
        free(b);
    }
    return leave(CUDA_SUCCESS);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count)
{
    ENTER;
    char *from = (char *)(uintptr_t)address, *to = from + size;
    size_t found = 0;
    if (!access || count == 0)
        return leave(CUDA_ERROR_INVALID_VALUE);
    for (struct block *b = blocks; b; b = b->next)
        if (b->allocation && b->base >= from && b->base + b->size <= to)
            found += b->size;
    if (!size || found != size)
        return leave(CUDA_ERROR_INVALID_VALUE);
    for (struct block *b = blocks; b; b = b->next)
        if (b->base >= from && b->base < to)
            b->accessible = (int)access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    ENTER;
    struct block *b = block_of(address);
    if (!handle || !b || !b->allocation)
        return leave(CUDA_ERROR_INVALID_VALUE);
    b->allocation->references++;
    *handle = (uintptr_t)b->allocation;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    ENTER;
    const struct allocation *a = (const struct allocation *)(uintptr_t)handle;
    if (!prop || !a)
        return leave(CUDA_ERROR_INVALID_VALUE);
    memset(prop, 0, sizeof *prop);
    prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop->requestedHandleTypes = (CUmemAllocationHandleType)a->types;
    prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop->location.id = a->device;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags)
{
    ENTER;
    struct allocation *a = (struct allocation *)(uintptr_t)handle;
    struct name n;
    if (!shareable || !a || flags || !((unsigned)type & a->types & all_types))
        return leave(CUDA_ERROR_INVALID_VALUE);
    if ((int)type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        *(int *)shareable = fcntl(a->file, F_DUPFD_CLOEXEC, 3);
        return leave(*(int *)shareable < 0 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS);
    }
    n = name_of('a', a->file, a->size, a->device, 0);
    memset(shareable, 0, 64);
    memcpy(shareable, &n, sizeof n);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        CUmemAllocationHandleType type)
{
    ENTER;
    struct allocation *a;
    struct stat found;
    struct name n;
    char rest[32];
    int file, device;
    if (!handle)
        return leave(CUDA_ERROR_INVALID_VALUE);
    if ((int)type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        file = (int)(intptr_t)shareable;
        if (!is_file(file, ALLOCATION_FILE, rest, sizeof rest))
            return leave(CUDA_ERROR_INVALID_VALUE);
        device = atoi(rest);
        file = fcntl(file, F_DUPFD_CLOEXEC, 3);
    } else if ((int)type == CU_MEM_HANDLE_TYPE_FABRIC) {
        memcpy(&n, shareable, sizeof n);
        if (n.magic != NAME_MAGIC || n.kind != 'a')
            return leave(CUDA_ERROR_INVALID_VALUE);
        device = n.device;
        file = file_of(&n);
    } else {
        return leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (file < 0)
        return leave(CUDA_ERROR_INVALID_VALUE);
    a = calloc(1, sizeof *a);
    if (!a || fstat(file, &found))
        abort();
    a->references = 1;
    a->imported = 1;
    a->file = file;
    a->size = (size_t)found.st_size;
    a->device = device;
    *handle = (uintptr_t)a;
    return leave(CUDA_SUCCESS);
}

/* ---- pools ---- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    ENTER;
    if (!pool || device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_VALUE);
    default_pools[device].device = device;
    *pool = &default_pools[device];
    return leave(CUDA_SUCCESS);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    ENTER;
    if (!pool || !props || (int)props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        (int)props->location.type != CU_MEM_LOCATION_TYPE_DEVICE || props->location.id < 0 ||
        props->location.id >= devices || ((unsigned)props->handleTypes & ~all_types))
        return leave(CUDA_ERROR_INVALID_VALUE);
    if (((unsigned)props->handleTypes & CU_MEM_HANDLE_TYPE_FABRIC) && !fabric)
        return leave(CUDA_ERROR_NOT_SUPPORTED);
    *pool = calloc(1, sizeof **pool);
    if (!*pool)
        abort();
    (*pool)->device = props->location.id;
    (*pool)->types = (unsigned)props->handleTypes;
    (*pool)->pid = getpid();
    (*pool)->serial = ++last_pool;
    return leave(CUDA_SUCCESS);
}

/* Its memory stays until it is freed. */
CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    ENTER;
    if (!pool)
        return leave(CUDA_ERROR_INVALID_VALUE);
    for (struct block *b = blocks; b; b = b->next)
        if (b->pool == pool)
            b->pool = &default_pools[pool->device];
    free(pool);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    ENTER;
    return leave(pool && access && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream stream)
{
    ENTER_WITH_CONTEXT;
    (void)stream;
    if (!pool || pool->imported)
        return leave(CUDA_ERROR_INVALID_VALUE);
    int result = allocate(address, size, context);
    if (result == CUDA_SUCCESS)
        blocks->pool = pool;
    return leave(result);
}

/* Memory of a pool. Allocated at once: no stream of this library is that lazy. */
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
    ENTER_WITH_CONTEXT;
    (void)stream;
    int result = allocate(address, size, context);
    if (result == CUDA_SUCCESS)
        blocks->pool = &default_pools[context->device];
    return leave(result);
}

CUresult cuMemPoolExportToShareableHandle(void *shareable, CUmemoryPool pool, CUmemAllocationHandleType type,
                                          unsigned long long flags)
{
    ENTER;
    struct name n;
    int file;
    if (!shareable || !pool || flags || pool->imported || !((unsigned)type & pool->types & all_types))
        return leave(CUDA_ERROR_INVALID_VALUE);
    file = memfd_create(POOL_FILE, MFD_CLOEXEC);
    if (file < 0)
        abort();
    pool->exported = 1;
    n = name_of('p', file, 0, pool->device, pool->serial);
    if ((int)type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        if (pwrite(file, &n, sizeof n, 0) != sizeof n)
            abort();
        *(int *)shareable = file;
        return leave(CUDA_SUCCESS);
    }
    close(file);
    memset(shareable, 0, 64);
    memcpy(shareable, &n, sizeof n);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *shareable, CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    ENTER;
    struct name n;
    char rest[32];
    int file = (int)(intptr_t)shareable;
    if (!pool || flags)
        return leave(CUDA_ERROR_INVALID_VALUE);
    if ((int)type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        if (!is_file(file, POOL_FILE, rest, sizeof rest) || pread(file, &n, sizeof n, 0) != sizeof n)
            return leave(CUDA_ERROR_INVALID_VALUE);
    } else if ((int)type == CU_MEM_HANDLE_TYPE_FABRIC) {
        memcpy(&n, shareable, sizeof n);
    } else {
        return leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (n.magic != NAME_MAGIC || n.kind != 'p')
        return leave(CUDA_ERROR_INVALID_VALUE);
    *pool = calloc(1, sizeof **pool);
    if (!*pool)
        abort();
    (*pool)->device = n.device;
    (*pool)->imported = 1;
    (*pool)->pid = n.pid;
    (*pool)->serial = n.pool;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address)
{
    ENTER;
    struct block *b = block_of((void *)(uintptr_t)address);
    struct name n;
    /* Pointers follow their pool. */
    if (!data || !b || b->base != (char *)(uintptr_t)address || !b->pool || !b->pool->exported || b->theirs)
        return leave(CUDA_ERROR_INVALID_VALUE);
    n = name_of('m', b->file, b->size, b->device, b->pool->serial);
    memset(data, 0, sizeof *data);
    memcpy(data, &n, sizeof n);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
    ENTER;
    struct name n;
    int file;
    if (!address || !pool || !data || !pool->imported)
        return leave(CUDA_ERROR_INVALID_VALUE);
    memcpy(&n, data, sizeof n);
    if (n.magic != NAME_MAGIC || n.kind != 'm' || n.pid != pool->pid || n.pool != pool->serial ||
        (file = file_of(&n)) < 0)
        return leave(CUDA_ERROR_INVALID_VALUE);
    insert(map_file(file, n.size, NULL, NULL));
    blocks->device = n.device;
    blocks->pool = pool;
    blocks->theirs = 1;
    *address = (uintptr_t)blocks->base;
    return leave(CUDA_SUCCESS);
}
