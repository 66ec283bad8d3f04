/* Atomics to one cell of the right neighbour, with a guard around it. */
#ifndef FERRUCX_SHMEM_CELL_H
#define FERRUCX_SHMEM_CELL_H

#include "shmem_check.h"

enum { CELL_GUARD = 4 };

/* One cell with a guard on both sides. */
#define CELL(type) \
    type *memory = symmetric((2 * CELL_GUARD + 1) * sizeof(type)), *cell = memory + CELL_GUARD; \
    type start = (type)(100 + rank); \
    *cell = start; \
    shmem_barrier_all()

/* What the cell of the right neighbour began with. */
#define BEGAN(type) ((type)(100 + right))

#define LEFT_IS(type, value) \
    do { \
        int guard; \
        shmem_barrier_all(); \
        if (*cell != (type)(value)) { \
            FAIL("%s: %s is not what is left", #type, #value); \
        } \
        for (guard = 0; guard < CELL_GUARD; ++guard) { \
            CHECK((memory[guard] == 0) && (memory[CELL_GUARD + 1 + guard] == 0)); \
        } \
        *cell = start; \
        shmem_barrier_all(); \
    } while (0)

#define RETURNS(type, call, value) \
    do { \
        type returned = call; \
        if (returned != (type)(value)) { \
            FAIL("%s: %s does not return %s", #type, #call, #value); \
        } \
    } while (0)

#endif
