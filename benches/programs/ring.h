/* A ring of slots in memory of two processes, one that sends and one that receives: a slot is there when its number is that
 * of the message, and `done` counts those that were taken. */
#ifndef FERRUCX_RING_H
#define FERRUCX_RING_H

#include <stdatomic.h>
#include <stdint.h>

enum { SLOTS = 256, SLOT = 128, IN_SLOT = SLOT - 8 };

typedef struct {
    _Alignas(128) _Atomic uint64_t done;
    _Alignas(128) struct {
        _Atomic uint64_t number;
        char bytes[IN_SLOT];
    } slots[SLOTS];
} ring_t;

#endif
