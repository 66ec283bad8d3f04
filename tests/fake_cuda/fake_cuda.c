/*
 * A stand-in for NVIDIA's libcuda.so.1, for tests on machines without a GPU.
 *
 * Device memory is a memory file that is mapped twice: at the address that the program gets, where any access of the
 * processor is a crash, and where only this library finds it. A copy on a stream happens when somebody has asked for its
 * end several times, or waits for it, so that whoever reads too early reads old bytes; streams advance independently of
 * each other. Who wants to be called sees a stream advance by itself, a little later. Calls that need a current context fail without one.
 *
 * Another process opens an allocation by a handle that names this process and the descriptor of the file. Memory that is
 * created and mapped in steps, and memory of pools, are in virtual_memory.h.
 *
 * The variable FAKE_CUDA has settings, separated by commas:
 *
 *   devices=N     number of devices, 1 unless set
 *   late=N        at most so many questions are answered "not ready" before the work of a stream is done, 3 unless set
 *   seed=N        of the random numbers that decide how many
 *   fabric=N      1: memory may have handles for other nodes; else, as on most machines, creating it so fails
 *   limit=N       bytes of memory of each device, 1 GiB unless set
 *   dmabuf=N      0: devices give out no dmabuf descriptors
 *   managed=N     0: processors cannot access managed memory either, which they do unless this is set
 *   capability=N  major number of the devices' compute capability, 9 unless set
 *   fail=F        function F fails with CUDA_ERROR_UNKNOWN when a library calls it, always; the program's own calls do not
 *   fail=F:N      only in the N-th call of a library
 *   fail=F:N:E    with error E; N may be 0 for always. Several functions may fail
 *   count=FILE    at the end of the process, writes to FILE how often each function was called, and how often by libraries
 *   log=FILE      appends a line to FILE for each call of a library: process, function
 *
 * tests/cuda compiles it also with NVIDIA's cuda.h, so that a function whose type is not the driver's is an error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef __cuda_cuda_h__
typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef int CUdriverProcAddressQueryResult;
typedef int CUpointer_attribute;
typedef int CUdevice_attribute;
typedef int CUmemRangeHandleType;
typedef void (*CUstreamCallback)(CUstream, CUresult, void *);
typedef struct {
    char reserved[64];
} CUipcMemHandle;
typedef struct {
    char bytes[16];
} CUuuid;
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999,
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
    CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
    CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
    CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
};
#endif

#define MAX_DEVICES 16
#define MAX_DEPTH 32
#define GRANULE 4096ul

/* ---- objects ---- */

struct CUctx_st {
    CUdevice device;
    int primary;
    int retained;
    unsigned flags;
    unsigned long long id; /* another one each time that the primary context comes to life */
    CUcontext next; /* of those that programs have created, and not destroyed */
};

/* An allocation. The program's addresses are [base, base + size). */
struct block {
    struct block *next;
    char *base;
    char *shadow; /* where the library itself reads and writes it */
    size_t size, length;
    unsigned type;
    int managed;
    int registered; /* the program's own memory */
    struct CUmemPoolHandle_st *pool;
    struct allocation *allocation; /* of memory in steps */
    int accessible; /* the same, once it is */
    int theirs; /* of another process's pool */
    int synchronous; /* SYNC_MEMOPS was set */
    int file; /* of memory of a device; else -1 */
    int imported; /* how often another process's memory was opened; 0 for own memory */
    ino_t inode; /* of its file */
    unsigned long long id;
    CUcontext context; /* NULL where the memory is of no context */
    CUdevice device;
};

struct task {
    struct task *next;
    char *to;
    const char *from;
    size_t length;
    /* Instead of a copy: */
    CUevent event;
    CUstreamCallback callback;
    void *argument;
};

struct CUstream_st {
    CUstream next; /* of all */
    unsigned long long id;
    struct task *first, **last;
    int late; /* questions that are still answered "not ready" */
    CUcontext context;
    unsigned long long context_id;
};

struct CUevent_st {
    CUstream stream;
    int pending;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized;
static struct block *blocks;
static unsigned long long last_id;
static size_t used[MAX_DEVICES];
static struct CUctx_st primary[MAX_DEVICES];
static unsigned long long last_context;
static CUcontext created;
static struct CUstream_st null_stream;
static CUstream streams;
static unsigned long long last_stream;
static __thread CUcontext stack[MAX_DEPTH];
static __thread int depth;

/* ---- settings ---- */

static int devices = 1;
static int capability = 9;
static int dmabuf = 1;
static int managed = 1;
static unsigned late = 3, seed = 1;
static size_t limit = 1ul << 30;
static int fabric;
static struct failure {
    char name[64];
    long at;
    int code;
} failures[4];
static int failure_count;
static char count_file[256];
static FILE *log_file;

struct counter {
    const char *name;
    long calls, of_libraries;
    struct counter *next;
};
static struct counter *counters;

static void write_counts(void)
{
    FILE *out = fopen(count_file, "w");
    for (struct counter *c = counters; out && c; c = c->next)
        fprintf(out, "%s %ld %ld\n", c->name, c->calls, c->of_libraries);
    if (out)
        fclose(out);
}

__attribute__((constructor)) static void read_settings(void)
{
    const char *settings = getenv("FAKE_CUDA");
    char *copy = strdup(settings ? settings : ""), *rest = copy, *item;
    while ((item = strsep(&rest, ",")) != NULL) {
        char *value = strchr(item, '=');
        if (!*item)
            continue;
        if (!value) {
            fprintf(stderr, "fake libcuda: FAKE_CUDA: %s has no value\n", item);
            abort();
        }
        *value++ = 0;
        if (!strcmp(item, "devices"))
            devices = atoi(value);
        else if (!strcmp(item, "late"))
            late = (unsigned)atoi(value);
        else if (!strcmp(item, "seed"))
            seed = (unsigned)atoi(value);
        else if (!strcmp(item, "limit"))
            limit = strtoul(value, NULL, 0);
        else if (!strcmp(item, "capability"))
            capability = atoi(value);
        else if (!strcmp(item, "dmabuf"))
            dmabuf = atoi(value);
        else if (!strcmp(item, "managed"))
            managed = atoi(value);
        else if (!strcmp(item, "fabric"))
            fabric = atoi(value);
        else if (!strcmp(item, "count")) {
            snprintf(count_file, sizeof count_file, "%s", value);
            atexit(write_counts);
        } else if (!strcmp(item, "log")) {
            log_file = fopen(value, "ae");
            if (!log_file)
                abort();
            setlinebuf(log_file);
        } else if (!strcmp(item, "fail")) {
            struct failure *f = &failures[failure_count++];
            if (failure_count > (int)(sizeof failures / sizeof *failures))
                abort();
            f->code = CUDA_ERROR_UNKNOWN;
            sscanf(value, "%63[^:]:%ld:%d", f->name, &f->at, &f->code);
        } else {
            fprintf(stderr, "fake libcuda: FAKE_CUDA: %s is unknown\n", item);
            abort();
        }
    }
    if (devices < 0 || devices > MAX_DEVICES)
        abort();
    free(copy);
    null_stream.last = &null_stream.first;
    for (int i = 0; i < MAX_DEVICES; i++)
        primary[i] = (struct CUctx_st){.device = i, .primary = 1};
}

/* Whether an address is in the program itself, and not in a library. */
static int is_of_program(const void *address)
{
    Dl_info caller, program;
    return dladdr(address, &caller) && dladdr((void *)getauxval(AT_PHDR), &program) &&
           caller.dli_fbase == program.dli_fbase;
}

static const struct failure *failure_of(const char *function)
{
    for (int i = 0; i < failure_count; i++)
        if (!strcmp(failures[i].name, function))
            return &failures[i];
    return NULL;
}

static void count(struct counter *c)
{
    if (c->calls++ == 0) {
        c->next = counters;
        counters = c;
    }
}

/* Counts the call; what it fails with, or success. The lock is held. */
static int enter(struct counter *c, const void *caller)
{
    const struct failure *f = failure_of(c->name);
    count(c);
    if ((!f && !log_file && !*count_file) || is_of_program(caller))
        return CUDA_SUCCESS;
    ++c->of_libraries;
    if (log_file)
        fprintf(log_file, "%d %s\n", getpid(), c->name);
    return f && (f->at == 0 || f->at == c->of_libraries) ? f->code : CUDA_SUCCESS;
}

static CUresult leave(int result)
{
    pthread_mutex_unlock(&lock);
    return (CUresult)result;
}

/* For tests: this is not NVIDIA's driver. */
int fake_cuda_is_stand_in(void)
{
    return 1;
}

/* For tests: function F fails once in this process, in the N-th call of a library from now on. */
void fake_cuda_fail(const char *function, long number)
{
    pthread_mutex_lock(&lock);
    struct failure *f = &failures[0];
    snprintf(f->name, sizeof f->name, "%s", function);
    f->code = CUDA_ERROR_UNKNOWN;
    f->at = number;
    failure_count = 1;
    for (struct counter *c = counters; c; c = c->next)
        if (!strcmp(c->name, function))
            f->at += c->of_libraries;
    pthread_mutex_unlock(&lock);
}

/* For tests: the next memory is allocated there, where nothing may be mapped. */
static char *place;

void fake_cuda_place_next(void *at)
{
    pthread_mutex_lock(&lock);
    place = at;
    pthread_mutex_unlock(&lock);
}

/* That place, for this once; or NULL. It is mapped, so that nothing else gets it. */
static char *take_place(size_t length)
{
    char *at = place;
    place = NULL;
    if (at && mmap(at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at) {
        fprintf(stderr, "fake libcuda: there is other memory at %p\n", (void *)at);
        abort();
    }
    return at;
}

/* For tests: a line of their own in the log. */
void fake_cuda_note(const char *text)
{
    pthread_mutex_lock(&lock);
    if (log_file)
        fprintf(log_file, "%d # %s\n", getpid(), text);
    pthread_mutex_unlock(&lock);
}

/* For tests: how often a function of the driver was called; any, where it is NULL. */
long fake_cuda_calls(const char *function)
{
    long calls = 0;
    pthread_mutex_lock(&lock);
    for (struct counter *c = counters; c; c = c->next)
        if (!function || !strcmp(c->name, function))
            calls += c->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

/* Each function starts so; it ends by `leave`. */
#define ENTER_ALWAYS                                                                                                   \
    static struct counter here = {.name = __func__};                                                                   \
    pthread_mutex_lock(&lock);                                                                                         \
    int failed = enter(&here, __builtin_return_address(0));                                                            \
    if (failed)                                                                                                        \
    return leave(failed)
#define ENTER                                                                                                          \
    ENTER_ALWAYS;                                                                                                      \
    if (!initialized)                                                                                                  \
    return leave(CUDA_ERROR_NOT_INITIALIZED)
#define ENTER_WITH_CONTEXT                                                                                             \
    ENTER;                                                                                                             \
    CUcontext context = depth ? stack[depth - 1] : NULL;                                                               \
    if (!context)                                                                                                      \
    return leave(CUDA_ERROR_INVALID_CONTEXT)

/* ---- memory ---- */

static struct block *block_of(const void *address)
{
    for (struct block *b = blocks; b; b = b->next)
        if ((const char *)address >= b->base && (const char *)address < b->base + b->size)
            return b;
    return NULL;
}

/* For tests: the processor reaches all memory of devices that there is now, and may run device code. */
void fake_cuda_open_memory(void)
{
    pthread_mutex_lock(&lock);
    for (struct block *b = blocks; b; b = b->next)
        if (b->file >= 0 && mprotect(b->base, b->length, PROT_READ | PROT_WRITE))
            abort();
    pthread_mutex_unlock(&lock);
}

/* For the stand-in for libibverbs: a descriptor of the file of device memory, and where the memory is in it; -1 for other
 * memory, -2 for what is of several files or of none. */
int fake_cuda_file(void *address, size_t length, off_t *offset)
{
    struct block *b;
    int file = -1;
    pthread_mutex_lock(&lock);
    b = block_of(address);
    if (b && !(b->managed || b->registered || b->type != CU_MEMORYTYPE_DEVICE))
        file = -2;
    if (b && b->file >= 0 && length <= b->length - (size_t)((char *)address - b->base)) {
        file = fcntl(b->file, F_DUPFD_CLOEXEC, 0);
        *offset = (char *)address - b->base;
    }
    pthread_mutex_unlock(&lock);
    return file;
}

/* The library's own view of the first of `length` bytes, and how many of them are in one place; NULL where no device
 * reaches them. Other memory is the program's. Only memory in steps goes on behind the end of a block. */
static char *view(const void *address, size_t *length)
{
    struct block *b = block_of(address);
    size_t offset;
    if (!b)
        return (char *)address;
    if (b->allocation && !b->accessible)
        return NULL;
    offset = (size_t)((const char *)address - b->base);
    if (*length > b->size - offset) {
        if (!b->allocation)
            return NULL;
        *length = b->size - offset;
    }
    return b->shadow + offset;
}

static int is_valid(const char *address, size_t length)
{
    int of_device = block_of(address) != NULL;
    while (length > 0) {
        size_t n = length;
        if ((of_device && !block_of(address)) || !view(address, &n))
            return 0;
        address += n;
        length -= n;
    }
    return 1;
}

static void copy(char *to, const char *from, size_t length)
{
    while (length > 0) {
        size_t n = length;
        char *there = view(to, &n), *here = view(from, &n);
        memmove(there, here, n);
        to += n;
        from += n;
        length -= n;
    }
}

static void insert(struct block b)
{
    struct block *at = malloc(sizeof *at);
    if (!at)
        abort();
    b.id = ++last_id;
    b.next = blocks;
    *at = b;
    blocks = at;
}

/* Maps a file of device memory, out of the processor's reach and for the library itself; `at` an address, if there is one. */
static struct block map_file(int file, size_t size, CUcontext context, char *at)
{
    size_t length = (size + GRANULE - 1) & ~(GRANULE - 1);
    struct stat found;
    struct block b = {.size = size, .length = length, .type = CU_MEMORYTYPE_DEVICE, .context = context,
                      .device = context ? context->device : 0, .file = file};
    b.base = mmap(at, length, PROT_NONE, MAP_SHARED | (at ? MAP_FIXED : 0), file, 0);
    b.shadow = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (b.base == MAP_FAILED || b.shadow == MAP_FAILED || fstat(file, &found))
        abort();
    b.inode = found.st_ino;
    return b;
}

static int allocate(CUdeviceptr *address, size_t size, CUcontext context)
{
    size_t length = (size + GRANULE - 1) & ~(GRANULE - 1);
    int file;
    if (size == 0 || !address)
        return CUDA_ERROR_INVALID_VALUE;
    if (length > limit - used[context->device])
        return CUDA_ERROR_OUT_OF_MEMORY;
    file = memfd_create("fake-cuda", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)length))
        abort();
    used[context->device] += length;
    insert(map_file(file, size, context, take_place(length)));
    *address = (CUdeviceptr)(uintptr_t)blocks->base;
    return CUDA_SUCCESS;
}

/* Memory that processors reach as well. */
static int allocate_shared(void **address, size_t size, CUcontext context, unsigned type)
{
    size_t length = (size + GRANULE - 1) & ~(GRANULE - 1);
    char *base, *wanted;
    if (size == 0 || !address)
        return CUDA_ERROR_INVALID_VALUE;
    wanted = take_place(length);
    base = mmap(wanted, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (wanted ? MAP_FIXED : 0), -1, 0);
    if (base == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    insert((struct block){.base = base,
                          .shadow = base,
                          .size = size,
                          .length = length,
                          .type = type,
                          .managed = type == CU_MEMORYTYPE_DEVICE,
                          .context = context,
                          .device = context->device,
                          .file = -1});
    *address = base;
    return CUDA_SUCCESS;
}

/* ---- contexts ---- */

static int is_context(CUcontext context)
{
    if (context >= primary && context < primary + MAX_DEVICES)
        return 1;
    for (CUcontext c = created; c; c = c->next)
        if (c == context)
            return 1;
    return 0;
}

/* ---- streams ---- */

static unsigned below(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return n ? (seed >> 16) % n : 0;
}

static void post(CUstream stream, struct task task)
{
    struct task *at = malloc(sizeof *at);
    if (!at)
        abort();
    if (!stream->first)
        stream->late = (int)below(late + 1);
    task.next = NULL;
    *at = task;
    *stream->last = at;
    stream->last = &at->next;
}

/* Does what waits on a stream, as far as `until`, or all. */
static int run(CUstream stream, CUevent until)
{
    int result = CUDA_SUCCESS;
    while (stream->first) {
        struct task *t = stream->first;
        CUevent event = t->event;
        stream->first = t->next;
        if (!t->next)
            stream->last = &stream->first;
        if (event) {
            event->pending = 0;
        } else if (t->callback) {
            /* It may not call the driver. */
            t->callback(stream, (CUresult)CUDA_SUCCESS, t->argument);
        } else {
            if (is_valid(t->to, t->length) && is_valid(t->from, t->length))
                copy(t->to, t->from, t->length);
            else
                result = CUDA_ERROR_INVALID_VALUE;
        }
        free(t);
        if (until && event == until)
            break;
    }
    stream->late = (int)below(late + 1);
    return result;
}

/* Whether the stream of this number is still there. */
static int is_live(CUstream stream, unsigned long long id)
{
    for (CUstream s = streams; s; s = s->next)
        if (s == stream && s->id == id)
            return 1;
    return 0;
}

struct delayed {
    CUstream stream;
    unsigned long long id;
    unsigned microseconds;
};

static void *advance(void *argument)
{
    struct delayed *d = argument;
    usleep(d->microseconds);
    pthread_mutex_lock(&lock);
    if (is_live(d->stream, d->id))
        run(d->stream, NULL);
    pthread_mutex_unlock(&lock);
    free(d);
    return NULL;
}

static CUstream stream_of(CUstream stream)
{
    /* NULL and the two special handles. */
    return (uintptr_t)stream <= 2 ? &null_stream : stream;
}

/* No function: copies to memory of a device from memory of the host that is not pinned. */
static struct counter unpinned = {.name = "unpinned"};
/* No function: copies between managed memory and the host's, for which the driver may move pages. */
static struct counter moving = {.name = "moving"};

static int is_managed(const void *address)
{
    const struct block *b = block_of(address);
    return b && b->managed;
}

static int is_of_host(const void *address)
{
    const struct block *b = block_of(address);
    return !b || b->type == CU_MEMORYTYPE_HOST;
}

static int copy_later(CUdeviceptr to, CUdeviceptr from, size_t length, CUstream stream)
{
    void *dst = (void *)(uintptr_t)to, *src = (void *)(uintptr_t)from;
    if (!is_valid(dst, length) || !is_valid(src, length))
        return CUDA_ERROR_INVALID_VALUE;
    if (block_of(dst) && !block_of(src))
        count(&unpinned);
    if ((is_managed(dst) && is_of_host(src)) || (is_of_host(dst) && is_managed(src)))
        count(&moving);
    post(stream, (struct task){.to = dst, .from = src, .length = length});
    return CUDA_SUCCESS;
}

/* ---- the driver's functions ---- */

CUresult cuInit(unsigned flags)
{
    ENTER_ALWAYS;
    if (flags)
        return leave(CUDA_ERROR_INVALID_VALUE);
    initialized = 1;
    return leave(devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE);
}

CUresult cuDriverGetVersion(int *version)
{
    ENTER_ALWAYS;
    *version = 12090;
    return leave(CUDA_SUCCESS);
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    ENTER_ALWAYS;
    switch ((int)error) {
    case CUDA_SUCCESS: *text = "no error"; break;
    case CUDA_ERROR_INVALID_VALUE: *text = "invalid argument"; break;
    case CUDA_ERROR_OUT_OF_MEMORY: *text = "out of memory"; break;
    case CUDA_ERROR_NOT_INITIALIZED: *text = "initialization error"; break;
    case CUDA_ERROR_INVALID_CONTEXT: *text = "invalid device context"; break;
    case CUDA_ERROR_UNKNOWN: *text = "unknown error"; break;
    default: *text = NULL; return leave(CUDA_ERROR_INVALID_VALUE);
    }
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int *count)
{
    ENTER;
    *count = devices;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER;
    if (ordinal < 0 || ordinal >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    ENTER;
    if (device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    switch ((int)attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *value = 0x41 + device; break;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: *value = 1; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = capability; break;
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED: *value = dmabuf; break;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED: *value = fabric; break;
    default: *value = 0;
    }
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    ENTER;
    if (device < 0 || device >= devices || length <= 0)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)length, "no GPU");
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem_v2(size_t *size, CUdevice device)
{
    ENTER;
    if (device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    *size = limit;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    ENTER;
    if (!uuid || device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[0] = (char)(device + 1);
    return leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER;
    if (device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    if (!primary[device].retained++)
        primary[device].id = ++last_context;
    *context = &primary[device];
    return leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER;
    if (device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    if (!primary[device].retained)
        return leave(CUDA_ERROR_INVALID_CONTEXT);
    primary[device].retained--;
    return leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    ENTER;
    if (device < 0 || device >= devices)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    *flags = 0;
    *active = primary[device].retained > 0;
    return leave(CUDA_SUCCESS);
}

#undef cuCtxCreate
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    ENTER;
    (void)flags;
    if (device < 0 || device >= devices || depth == MAX_DEPTH)
        return leave(CUDA_ERROR_INVALID_DEVICE);
    *context = calloc(1, sizeof **context);
    if (!*context)
        abort();
    (*context)->device = device;
    (*context)->id = ++last_context;
    (*context)->next = created;
    created = *context;
    stack[depth++] = *context;
    return leave(CUDA_SUCCESS);
}

static void free_memory_of(CUcontext context);

/* With all that is in it. */
CUresult cuCtxDestroy_v2(CUcontext context)
{
    ENTER;
    if (!context || context->primary || !is_context(context))
        return leave(CUDA_ERROR_INVALID_CONTEXT);
    if (depth && stack[depth - 1] == context)
        depth--;
    for (CUstream *s = &streams; *s;) {
        CUstream stream = *s;
        if (stream->context != context) {
            s = &stream->next;
            continue;
        }
        run(stream, NULL);
        *s = stream->next;
        free(stream);
    }
    free_memory_of(context);
    for (CUcontext *c = &created; *c; c = &(*c)->next)
        if (*c == context) {
            *c = context->next;
            break;
        }
    free(context);
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    ENTER;
    *context = depth ? stack[depth - 1] : NULL;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    ENTER;
    if (context && !is_context(context))
        return leave(CUDA_ERROR_INVALID_CONTEXT);
    if (depth)
        depth--;
    if (context)
        stack[depth++] = context;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER;
    if (!context || depth == MAX_DEPTH || !is_context(context))
        return leave(CUDA_ERROR_INVALID_CONTEXT);
    stack[depth++] = context;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    ENTER;
    if (!depth)
        return leave(CUDA_ERROR_INVALID_CONTEXT);
    depth--;
    if (context)
        *context = stack[depth];
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetId(CUcontext of, unsigned long long *id)
{
    ENTER_WITH_CONTEXT;
    *id = (of ? of : context)->id;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    ENTER_WITH_CONTEXT;
    *flags = context->flags;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxSetFlags(unsigned flags)
{
    ENTER_WITH_CONTEXT;
    context->flags = flags;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER_WITH_CONTEXT;
    *device = context->device;
    return leave(CUDA_SUCCESS);
}

/* Whether it is memory of cuMemAlloc() of this process. */
static int is_plain(const struct block *b)
{
    return b->file >= 0 && !b->pool && !b->allocation && !b->imported && !b->managed;
}

static unsigned handle_types(const struct block *b);

/* What was reserved for memory that is mapped in steps: the driver tells that range for each of them. */
struct range {
    char *base;
    size_t size;
};
static struct range reserved_for(const char *at);

/* One attribute of an address; memory that the driver does not know has none. */
static int attribute_of(void *value, int attribute, const struct block *b, CUdeviceptr address)
{
    if (!b)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    /* Memory of a pool is of no context. */
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = b->pool ? NULL : b->context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)value = b->type; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)value = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (b->base != b->shadow)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = (void *)(uintptr_t)address;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned *)value = (unsigned)b->synchronous; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)value = b->id; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)value = (unsigned)b->managed; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = b->device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)(b->allocation ? reserved_for(b->base).base : b->base);
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = b->allocation ? reserved_for(b->base).size : b->size;
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *(int *)value = is_plain(b); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)value = handle_types(b); break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(void **)value = b->pool; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    ENTER;
    return leave(attribute_of(value, (int)attribute, block_of((void *)(uintptr_t)address), address));
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values, CUdeviceptr address)
{
    static const size_t sizes[] = {
        [CU_POINTER_ATTRIBUTE_CONTEXT] = sizeof(CUcontext),
        [CU_POINTER_ATTRIBUTE_MEMORY_TYPE] = sizeof(unsigned),
        [CU_POINTER_ATTRIBUTE_DEVICE_POINTER] = sizeof(CUdeviceptr),
        [CU_POINTER_ATTRIBUTE_HOST_POINTER] = sizeof(void *),
        [CU_POINTER_ATTRIBUTE_SYNC_MEMOPS] = sizeof(unsigned),
        [CU_POINTER_ATTRIBUTE_BUFFER_ID] = sizeof(unsigned long long),
        [CU_POINTER_ATTRIBUTE_IS_MANAGED] = sizeof(unsigned),
        [CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL] = sizeof(int),
        [CU_POINTER_ATTRIBUTE_RANGE_START_ADDR] = sizeof(CUdeviceptr),
        [CU_POINTER_ATTRIBUTE_RANGE_SIZE] = sizeof(size_t),
        [CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE] = sizeof(int),
        [CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES] = sizeof(unsigned long long),
        [CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE] = sizeof(void *),
    };
    ENTER;
    const struct block *b = block_of((void *)(uintptr_t)address);
    /* As the driver: no error for what it does not know; such values are zero. */
    for (unsigned i = 0; i < count; i++) {
        unsigned a = (unsigned)attributes[i];
        if (a >= sizeof sizes / sizeof *sizes || !sizes[a])
            return leave(CUDA_ERROR_INVALID_VALUE);
        memset(values[i], 0, sizes[a]);
        attribute_of(values[i], (int)a, b, address);
    }
    return leave(CUDA_SUCCESS);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    ENTER;
    struct block *b = block_of((void *)(uintptr_t)address);
    if (!b || (int)attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return leave(CUDA_ERROR_INVALID_VALUE);
    if (b->allocation)
        return leave(CUDA_ERROR_NOT_SUPPORTED);
    b->synchronous = *(const unsigned *)value != 0;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    ENTER_WITH_CONTEXT;
    return leave(allocate(address, size, context));
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags)
{
    void *at = NULL;
    ENTER_WITH_CONTEXT;
    (void)flags;
    if (!managed) {
        int result = allocate(address, size, context);
        if (result == CUDA_SUCCESS)
            blocks->managed = 1;
        return leave(result);
    }
    int result = allocate_shared(&at, size, context, CU_MEMORYTYPE_DEVICE);
    if (result == CUDA_SUCCESS)
        *address = (CUdeviceptr)(uintptr_t)at;
    return leave(result);
}

CUresult cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
    ENTER_WITH_CONTEXT;
    (void)flags;
    return leave(allocate_shared(address, size, context, CU_MEMORYTYPE_HOST));
}

CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    ENTER_WITH_CONTEXT;
    (void)flags;
    if (!address || !size || block_of(address))
        return leave(CUDA_ERROR_INVALID_VALUE);
    insert((struct block){.base = address,
                          .shadow = address,
                          .size = size,
                          .type = CU_MEMORYTYPE_HOST,
                          .registered = 1,
                          .context = context,
                          .device = context->device,
                          .file = -1});
    return leave(CUDA_SUCCESS);
}

/* Forgets the block that starts at an address. */
static int release(const void *address, int registered, int imported)
{
    for (struct block **at = &blocks; *at; at = &(*at)->next) {
        struct block *b = *at;
        if (b->base != address || b->registered != registered || !b->imported != !imported || b->allocation)
            continue;
        if (b->imported > 1) {
            b->imported--;
            return CUDA_SUCCESS;
        }
        if (!registered) {
            if (b->shadow != b->base) {
                munmap(b->shadow, b->length);
                if (!imported && !b->theirs)
                    used[b->device] -= b->length;
            }
            if (b->file >= 0)
                close(b->file);
            munmap(b->base, b->length);
        }
        *at = b->next;
        free(b);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static void free_memory_of(CUcontext context)
{
    struct block *b = blocks, *next;
    for (; b; b = next) {
        next = b->next;
        if (b->context == context)
            release(b->base, b->registered, b->imported);
    }
}

CUresult cuMemHostUnregister(void *address)
{
    ENTER_WITH_CONTEXT;
    return leave(release(address, 1, 0));
}

CUresult cuMemFreeHost(void *address)
{
    ENTER_WITH_CONTEXT;
    return leave(release(address, 0, 0));
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    ENTER_WITH_CONTEXT;
    return leave(release((void *)(uintptr_t)address, 0, 0));
}

/* Freed at once. */
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    ENTER_WITH_CONTEXT;
    (void)stream;
    return leave(release((void *)(uintptr_t)address, 0, 0));
}

/* The memory's own file, opened once more, at the place where the memory begins. What is of several files has an empty one. */
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr address, size_t size, CUmemRangeHandleType type,
                                       unsigned long long flags)
{
    char name[64];
    int file;
    ENTER_WITH_CONTEXT;
    const struct block *b = block_of((void *)(uintptr_t)address);
    if (!handle || !b || b->type != CU_MEMORYTYPE_DEVICE || b->managed || (int)type != 1 || flags || !size ||
        address % 4096 || size % 4096)
        return leave(CUDA_ERROR_INVALID_VALUE);
    if (!dmabuf)
        return leave(CUDA_ERROR_NOT_SUPPORTED);
    if (b->file >= 0 && address + size <= (uintptr_t)b->base + b->length) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", b->file);
        file = open(name, O_RDWR | O_CLOEXEC);
        if (file < 0 || lseek(file, (off_t)(address - (uintptr_t)b->base), SEEK_SET) < 0)
            abort();
    } else {
        file = memfd_create("dmabuf", MFD_CLOEXEC);
    }
    *(int *)handle = file;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    ENTER_WITH_CONTEXT;
    struct block *b = block_of((void *)(uintptr_t)address);
    if (!b)
        return leave(CUDA_ERROR_INVALID_VALUE);
    if (base)
        *base = (CUdeviceptr)(uintptr_t)b->base;
    if (size)
        *size = b->size;
    return leave(CUDA_SUCCESS);
}

/* ---- memory of other processes ---- */

#define HANDLE_MAGIC 0x6664616bu

struct handle {
    unsigned magic;
    int pid, file;
    ino_t inode;
    size_t size;
};

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
    ENTER;
    struct block *b = block_of((void *)(uintptr_t)address);
    struct handle h;
    if (!handle || !b || !is_plain(b))
        return leave(CUDA_ERROR_INVALID_VALUE);
    memset(handle, 0, sizeof *handle);
    memset(&h, 0, sizeof h);
    h.magic = HANDLE_MAGIC;
    h.pid = getpid();
    h.file = b->file;
    h.inode = b->inode;
    h.size = b->size;
    memcpy(handle->reserved, &h, sizeof h);
    return leave(CUDA_SUCCESS);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    ENTER_WITH_CONTEXT;
    struct handle h;
    struct stat found;
    char path[64];
    int file;
    memcpy(&h, handle.reserved, sizeof h);
    if (!address || flags != 1 || h.magic != HANDLE_MAGIC || h.size == 0)
        return leave(CUDA_ERROR_INVALID_VALUE);
    if (h.pid == getpid())
        return leave(CUDA_ERROR_INVALID_CONTEXT);
    for (struct block *b = blocks; b; b = b->next)
        if (b->imported && b->inode == h.inode) {
            b->imported++;
            *address = (CUdeviceptr)(uintptr_t)b->base;
            return leave(CUDA_SUCCESS);
        }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h.pid, h.file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return leave(CUDA_ERROR_INVALID_VALUE);
    /* Freed, and the descriptor was given out anew. */
    if (fstat(file, &found) || found.st_ino != h.inode || (size_t)found.st_size < h.size) {
        close(file);
        return leave(CUDA_ERROR_INVALID_VALUE);
    }
    struct block b = map_file(file, h.size, context, NULL);
    b.imported = 1;
    insert(b);
    *address = (CUdeviceptr)(uintptr_t)b.base;
    return leave(CUDA_SUCCESS);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    ENTER_WITH_CONTEXT;
    return leave(release((void *)(uintptr_t)address, 0, 1));
}

#include "virtual_memory.h"

/* A copy that ends with the call. */
static int copy_now(CUdeviceptr to, CUdeviceptr from, size_t length)
{
    int result = copy_later(to, from, length, &null_stream);
    return result == CUDA_SUCCESS ? run(&null_stream, NULL) : result;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t length)
{
    ENTER_WITH_CONTEXT;
    return leave(copy_now(to, from, length));
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t length)
{
    ENTER_WITH_CONTEXT;
    return leave(copy_now(to, (CUdeviceptr)(uintptr_t)from, length));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t length)
{
    ENTER_WITH_CONTEXT;
    return leave(copy_now((CUdeviceptr)(uintptr_t)to, from, length));
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t length, CUstream stream)
{
    ENTER_WITH_CONTEXT;
    return leave(copy_later(to, from, length, stream_of(stream)));
}

/* For upstream. */
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t length, CUstream stream)
{
    ENTER_WITH_CONTEXT;
    return leave(copy_later(to, from, length, stream_of(stream)));
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    ENTER_WITH_CONTEXT;
    (void)flags;
    *stream = calloc(1, sizeof **stream);
    if (!*stream)
        abort();
    (*stream)->last = &(*stream)->first;
    (*stream)->context = context;
    (*stream)->context_id = context->id;
    (*stream)->id = ++last_stream;
    (*stream)->next = streams;
    streams = *stream;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    ENTER_WITH_CONTEXT;
    if ((uintptr_t)stream <= 2)
        return leave(CUDA_ERROR_INVALID_HANDLE);
    /* The driver crashes, too. */
    if (stream->context_id != stream->context->id) {
        fprintf(stderr, "fake libcuda: a stream of a context that is gone is destroyed\n");
        abort();
    }
    run(stream, NULL);
    for (CUstream *s = &streams; *s; s = &(*s)->next)
        if (*s == stream) {
            *s = stream->next;
            break;
        }
    free(stream);
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *argument, unsigned flags)
{
    ENTER_WITH_CONTEXT;
    struct delayed *d = malloc(sizeof *d);
    pthread_t thread;
    if (!d || flags || !callback || (uintptr_t)stream <= 2)
        return leave(CUDA_ERROR_INVALID_VALUE);
    post(stream, (struct task){.callback = callback, .argument = argument});
    *d = (struct delayed){.stream = stream, .id = stream->id, .microseconds = 100 * below(late + 1)};
    if (pthread_create(&thread, NULL, advance, d))
        abort();
    pthread_detach(thread);
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    ENTER_WITH_CONTEXT;
    return leave(run(stream_of(stream), NULL));
}

CUresult cuStreamQuery(CUstream stream)
{
    ENTER_WITH_CONTEXT;
    stream = stream_of(stream);
    if (!stream->first)
        return leave(CUDA_SUCCESS);
    if (stream->late-- > 0)
        return leave(CUDA_ERROR_NOT_READY);
    return leave(run(stream, NULL));
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    ENTER_WITH_CONTEXT;
    (void)flags;
    *event = calloc(1, sizeof **event);
    if (!*event)
        abort();
    return leave(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    ENTER;
    if (event->pending)
        run(event->stream, event);
    free(event);
    return leave(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    ENTER_WITH_CONTEXT;
    stream = stream_of(stream);
    event->stream = stream;
    event->pending = 1;
    post(stream, (struct task){.event = event});
    return leave(CUDA_SUCCESS);
}

CUresult cuEventSynchronize(CUevent event)
{
    ENTER;
    return leave(event->pending ? run(event->stream, event) : CUDA_SUCCESS);
}

/* For upstream, which knows contexts by their numbers. */

/* As well, which looks some functions up. */
CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *found)
{
    (void)version;
    (void)flags;
    *function = dlsym(RTLD_DEFAULT, name);
    if (found)
        *found = (CUdriverProcAddressQueryResult)!*function;
    return (CUresult)(*function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CUresult cuEventQuery(CUevent event)
{
    ENTER;
    if (!event->pending)
        return leave(CUDA_SUCCESS);
    if (event->stream->late-- > 0)
        return leave(CUDA_ERROR_NOT_READY);
    return leave(run(event->stream, event));
}
