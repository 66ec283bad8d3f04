/* One process of a program: its context, its workers, endpoints to all nodes, memory for buffers; and what the
 * processes share without UCX: addresses, keys, a barrier, and where they are, for the watchdog. */
#ifndef FERRUCX_DIFFERENTIAL_WORLD_H
#define FERRUCX_DIFFERENTIAL_WORLD_H

#include "plan.h"

#include <ucp/api/ucp.h>

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct {
    atomic_uint arrived, generation;
    atomic_ulong seed; /* that runs, or was the last */
    atomic_uint finished; /* processes at their end */
    struct {
        size_t address_length, key_length[REGIONS];
        unsigned char address[2048], key[REGIONS][1024];
        uint64_t base[REGIONS];
    } nodes[MAX_NODES];
} shared_t;

typedef struct {
    ucp_worker_h worker; /* NULL for nodes of other processes */
    ucp_ep_h eps[MAX_NODES];
    ucp_rkey_h rkeys[MAX_NODES][REGIONS];
    unsigned char *region[REGIONS];
    ucp_mem_h memh[REGIONS];
} node_t;

typedef struct {
    shared_t *shared;
    config_t config;
    unsigned rank;
    ucp_context_h context;
    size_t request_size;
    node_t nodes[MAX_NODES];
    unsigned char *arena;
    size_t arena_used;
    ucp_mem_h arena_memh;
    FILE *out;
    uint64_t seed;
    unsigned round;
    int break_byte; /* the next received byte is to be falsified: the test of the test */
    void (*show_pending)(void); /* for the watchdog */
} world_t;

extern world_t world;

/* A mistake of the library or of this program that no comparison can go on after. */
#define STOP(...) \
    do { \
        fprintf(stderr, "seed %lu round %u process %u: ", (unsigned long)world.seed, world.round, world.rank); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
        fflush(NULL); \
        _exit(1); \
    } while (0)

#define MUST(call) \
    do { \
        ucs_status_t must_status = (call); \
        if (must_status != UCS_OK) { \
            STOP("%s: %s", #call, ucs_status_string(must_status)); \
        } \
    } while (0)

static inline int world_is_mine(unsigned node)
{
    return node % world.config.processes == world.rank;
}

void world_open(void);
void world_close(void);
/* The regions of all nodes as the program begins. */
void world_fill_regions(void);
void world_open_generation(void);
void world_close_generation(void);

/* One turn of all workers of this process; gives way or sleeps when nothing happens; ends the process when
 * the program takes too long. */
void world_progress(void);
void world_start_watch(void);
void world_barrier(void);
/* Progresses until the request is complete, frees it, and gives its status. */
ucs_status_t world_wait(void *request);

void *arena_alloc(size_t length);

#endif
