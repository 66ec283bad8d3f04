/* Types of the driver's functions for memory that is created and mapped in steps and for memory of pools, as its header has them:
 * for the stand-in, and for the programs of c-tests, which are compiled without that header. */
#ifndef FERRUCX_MEMORY_TYPES_H
#define FERRUCX_MEMORY_TYPES_H

#include <stddef.h>

typedef unsigned long long CUmemGenericAllocationHandle;
typedef int CUmemAllocationHandleType;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct {
    int type, id;
} CUmemLocation;
typedef struct {
    int type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    unsigned char allocFlags[8];
} CUmemAllocationProp;
typedef struct {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;
typedef struct {
    int allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

#endif
