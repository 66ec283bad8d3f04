/* The functions of NVIDIA's driver that tests call, on the stand-in of tests/fake_cuda. */
#ifndef FERRUCX_CUDA_DRIVER_H
#define FERRUCX_CUDA_DRIVER_H

#include "../tests/fake_cuda/memory_types.h"
#include "check.h"

#include <stdint.h>

typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
enum { CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6, CU_CTX_SYNC_MEMOPS = 0x80 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuCtxGetCurrent(CUcontext *context);
int cuCtxSetCurrent(CUcontext context);
int cuCtxGetFlags(unsigned *flags);
int cuCtxCreate_v2(CUcontext *context, unsigned flags, int device);
int cuCtxDestroy_v2(CUcontext context);
int cuCtxPopCurrent_v2(CUcontext *context);
int cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address);
int cuMemAlloc_v2(CUdeviceptr *address, size_t size);
int cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream);
int cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags);
int cuMemHostAlloc(void **address, size_t size, unsigned flags);
int cuMemFree_v2(CUdeviceptr address);
int cuMemFreeHost(void *address);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);

/* Memory that is created and mapped in steps, and memory of pools. */
enum { HANDLE_NONE = 0, HANDLE_FILE = 1, HANDLE_FABRIC = 8, STEP = 2 << 20 };

int cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                unsigned long long flags);
int cuMemRelease(CUmemGenericAllocationHandle handle);
int cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment, CUdeviceptr hint, unsigned long long flags);
int cuMemAddressFree(CUdeviceptr address, size_t size);
int cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
             unsigned long long flags);
int cuMemUnmap(CUdeviceptr address, size_t size);
int cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count);
int cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props);
int cuMemPoolDestroy(CUmemoryPool pool);
int cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream stream);

/* Of the stand-in alone: how often a function of the driver was called; any, where it is NULL. */
long fake_cuda_calls(const char *function);

/* As well: a function fails once in this process, in the so manyth call of a library from now on. */
void fake_cuda_fail(const char *function, long number);

/* Whether this is the stand-in; 0 where tests/gpu counts the calls of NVIDIA's driver. */
int fake_cuda_is_stand_in(void);

/* As well: writes a line of its own into the log of calls. */
void fake_cuda_note(const char *text);

/* As well: lets the processor access all memory of devices that there is now. */
void fake_cuda_open_memory(void);

static inline void *at(CUdeviceptr address)
{
    return (void*)(uintptr_t)address;
}

/* Makes a device's primary context current. */
static inline CUcontext use_device(int device)
{
    CUcontext context;

    CHECK_EQ(cuInit(0), 0);
    CHECK_EQ(cuDevicePrimaryCtxRetain(&context, device), 0);
    CHECK_EQ(cuCtxSetCurrent(context), 0);
    return context;
}

static inline CUdeviceptr device_memory(size_t size)
{
    CUdeviceptr address = 0;

    CHECK_EQ(cuMemAlloc_v2(&address, size), 0);
    return address;
}

static inline CUdeviceptr managed_memory(size_t size)
{
    CUdeviceptr address = 0;

    CHECK_EQ(cuMemAllocManaged(&address, size, 1), 0);
    return address;
}

/* `count` steps side by side, each an allocation of its own with handles of these types. */
static inline CUdeviceptr memory_in_steps(int count, int handles)
{
    CUmemAllocationProp prop = {.type = 1, .requestedHandleTypes = handles, .location = {.type = 1, .id = 0}};
    CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = 3};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    int i;

    CHECK_EQ(cuMemAddressReserve(&address, (size_t)count * STEP, 0, 0, 0), 0);
    for (i = 0; i < count; ++i) {
        CHECK_EQ(cuMemCreate(&handle, STEP, &prop, 0), 0);
        CHECK_EQ(cuMemMap(address + (size_t)i * STEP, STEP, 0, handle, 0), 0);
        CHECK_EQ(cuMemRelease(handle), 0);
    }
    CHECK_EQ(cuMemSetAccess(address, (size_t)count * STEP, &access, 1), 0);
    return address;
}

static inline void free_steps(CUdeviceptr address, int count)
{
    CHECK_EQ(cuMemUnmap(address, (size_t)count * STEP), 0);
    CHECK_EQ(cuMemAddressFree(address, (size_t)count * STEP), 0);
}

static inline CUmemoryPool pool_with(int handles)
{
    CUmemPoolProps props = {.allocType = 1, .handleTypes = handles, .location = {.type = 1, .id = 0}};
    CUmemoryPool pool;

    CHECK_EQ(cuMemPoolCreate(&pool, &props), 0);
    return pool;
}

static inline CUdeviceptr memory_of_pool(CUmemoryPool pool, size_t size)
{
    CUdeviceptr address = 0;

    CHECK_EQ(cuMemAllocFromPoolAsync(&address, size, pool, NULL), 0);
    return address;
}

#endif
