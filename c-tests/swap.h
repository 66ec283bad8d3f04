/* Two processes with a worker each, which learn each other's addresses. */
#ifndef FERRUCX_SWAP_H
#define FERRUCX_SWAP_H

#include "pair.h"
#include "worker.h"

/* Bytes that any worker address fits into. */
enum { ADDRESS_ROOM = 1024 };

/* Each process of the pair gets the other's worker address. */
static inline void side_swap_addresses(const side_t *side, const pair_t *pair, char theirs[ADDRESS_ROOM])
{
    char mine[ADDRESS_ROOM] = "";

    CHECK(side->address_length <= sizeof(mine));
    memcpy(mine, side->address, side->address_length);
    pair_exchange(pair, mine, theirs, sizeof(mine));
}

/* Both processes come here, and progress until the other one has. */
static inline void side_meet(const side_t *side, const pair_t *pair)
{
    char byte = 0;

    pair_send(pair, &byte, 1);
    while (!pair_ready(pair)) {
        ucp_worker_progress(side->worker);
    }
    pair_recv(pair, &byte, 1);
}

#endif
