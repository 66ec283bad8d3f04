/* What UCP's atomics do to a word, for tests that compare. */
#ifndef FERRUCX_ATOMICS_H
#define FERRUCX_ATOMICS_H

#include <ucp/api/ucp.h>

#include "check.h"

/* The new value, of as many bits as it takes; `swap` is the new value of a compare-and-swap. */
static inline uint64_t atomic_model(ucp_atomic_op_t op, uint64_t old, uint64_t value, uint64_t swap)
{
    switch (op) {
    case UCP_ATOMIC_OP_ADD:
        return old + value;
    case UCP_ATOMIC_OP_SWAP:
        return value;
    case UCP_ATOMIC_OP_CSWAP:
        return (old == value) ? swap : old;
    case UCP_ATOMIC_OP_AND:
        return old & value;
    case UCP_ATOMIC_OP_OR:
        return old | value;
    case UCP_ATOMIC_OP_XOR:
        return old ^ value;
    default:
        FAIL("no such operation");
    }
}

#endif
