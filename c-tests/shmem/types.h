/* The types of OpenSHMEM 1.4 with their names in its functions. X(name, type). */
#ifndef FERRUCX_SHMEM_TYPES_H
#define FERRUCX_SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define EVERY_TYPE(X) \
    X(char, char) X(short, short) X(int, int) X(long, long) X(longlong, long long) \
    X(schar, signed char) X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) \
    X(ulong, unsigned long) X(ulonglong, unsigned long long) \
    X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) \
    X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) X(uint64, uint64_t) \
    X(size, size_t) X(ptrdiff, ptrdiff_t) X(float, float) X(double, double) X(longdouble, long double)

/* Those that wait_until and test know. */
#define WAITING_TYPES(X) \
    X(short, short) X(int, int) X(long, long) X(longlong, long long) X(ushort, unsigned short) \
    X(uint, unsigned int) X(ulong, unsigned long) X(ulonglong, unsigned long long) \
    X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t) \
    X(size, size_t) X(ptrdiff, ptrdiff_t)

/* Those that atomics compute with. */
#define ADDING_TYPES(X) \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long) \
    X(ulonglong, unsigned long long)

/* Those that compare_swap is tried with: for the types of four bytes Open MPI 4.1 writes eight into a variable of its own,
 * whatever UCX it has. */
#define COMPARING_TYPES(X) \
    X(long, long) X(longlong, long long) X(ulong, unsigned long) X(ulonglong, unsigned long long)

/* Those that atomics only fetch, set and swap besides. */
#define FLOATING_TYPES(X) X(float, float) X(double, double)

/* Those with atomic and, or, xor. */
#define BITWISE_TYPES(X) \
    X(int, int) X(long, long) X(longlong, long long) X(uint, unsigned int) X(ulong, unsigned long) \
    X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t)

#endif
