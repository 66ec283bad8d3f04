/* The functions of NVIDIA's driver that tests call, on the stand-in of tests/fake_cuda. */
#ifndef FERRUCX_CUDA_DRIVER_H
#define FERRUCX_CUDA_DRIVER_H

#include "check.h"

#include <stdint.h>

typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
enum { CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuCtxGetCurrent(CUcontext *context);
int cuCtxSetCurrent(CUcontext context);
int cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address);
int cuMemAlloc_v2(CUdeviceptr *address, size_t size);
int cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream);
int cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags);
int cuMemHostAlloc(void **address, size_t size, unsigned flags);
int cuMemFree_v2(CUdeviceptr address);
int cuMemFreeHost(void *address);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);

/* Of the stand-in alone: how often a function of the driver was called. */
long fake_cuda_calls(const char *function);

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

#endif
