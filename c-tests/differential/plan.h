/* What a program does: configuration, and for each round a list of operations with everything that the
 * nodes must agree on. A node is a worker; a process has one or more.
 *
 * A round has phases, with a barrier before each: 0 sends and early receives, 1 late receives and probes,
 * 2 cancels and receives of what nothing else takes. Which message a receive gets does not depend on time:
 * each receive names its source, so messages and receives are two lists whose order both sides respect.
 * The plan computes the pairs beforehand (`plan_match`), to know what must complete and what must not. */
#ifndef FERRUCX_DIFFERENTIAL_PLAN_H
#define FERRUCX_DIFFERENTIAL_PLAN_H

#include "bytes.h"

enum {
    PROGRAMS_PER_BLOCK = 40, /* share processes, environment and context */
    PROGRAMS_PER_GENERATION = 4, /* share workers, endpoints and memory */
    MAX_PROCESSES = 4,
    MAX_NODES = 6,
    MAX_OPS = 160,
    MAX_LENGTH = 8 << 20,
    REGIONS = 2, /* of each node: 0 is the program's memory, 1 the library's */
    CELLS = 64, /* of 8 bytes, for atomics, at the begin of each region */
    CELL_BYTES = CELLS * 8,
    AM_IDS = 48, /* the last OLD_AM_IDS of them by the old call */
    OLD_AM_IDS = 8,
    AM_REPLY = 1000 /* id of the answer to operation i of the round: AM_REPLY + i */
};

typedef struct {
    unsigned processes, nodes;
    const char *tls, *rndv_thresh, *rndv_scheme, *zcopy_thresh;
    size_t region_length, am_alignment;
    int multi, wakeup;
    int blocking; /* calls that block, as a fence may, are safe: one worker for each process */
} config_t;

typedef enum { CONTIG, VECTOR, STRIDED } layout_kind_t;

/* How bytes lie in memory: elements of `a` bytes; `a` parts; blocks of `a` bytes with gaps of `b`. */
typedef struct {
    layout_kind_t kind;
    unsigned a, b;
} layout_t;

typedef enum {
    TAG_SEND,
    TAG_RECV,
    AM_SEND,
    STREAM_SEND,
    STREAM_RECV,
    PUT,
    GET,
    PUT_TWICE, /* a fence between */
    PUT_GET, /* a flush between */
    AMO,
    AMO_SEQUENCE,
    FENCE,
    EP_FLUSH
} kind_t;

enum { FORM_NBX, FORM_NB, FORM_NBR, FORM_SYNC_NBX, FORM_SYNC_NB, FORM_PROBE_NBX, FORM_PROBE_NB, FORM_BLOCKING };

/* How a request is made and waited for. */
enum {
    BY_CALLBACK = 1 << 0,
    USER_REQUEST = 1 << 1,
    WITH_MEMH = 1 << 2,
    WITH_MEMORY_TYPE = 1 << 3,
    NO_IMMEDIATE = 1 << 4,
    FAST = 1 << 5,
    MULTI_SEND = 1 << 6,
    FREE_IN_CALLBACK = 1 << 7,
    FORCE_IMMEDIATE = 1 << 8 /* of receives that no message is for: they are refused */
};

/* What the receiver of an active message does with it. */
enum { AM_TAKE, AM_LATER, AM_DROP };

typedef struct {
    kind_t kind;
    unsigned node, peer; /* who does it, and with whom */
    unsigned phase, form, attributes;
    layout_t layout;
    size_t length; /* of the message, or room for it */
    uint64_t key; /* of its bytes */
    uint64_t tag, mask;
    int match; /* index of the operation on the other side, or -1 */
    int rooms; /* receives: 0 exact, 1 more than the message needs, 2 less */
    int probe_first; /* receives by probe: asked first without taking */
    struct {
        unsigned id, send_flags, handler_flags, then, reply, header_length;
        layout_t layout; /* of the receiver's buffer */
        int truncate;
    } am;
    struct {
        unsigned pieces; /* STREAM_RECV: how many calls */
        int wait_all;
    } stream;
    struct {
        unsigned region, count, size; /* operations of a sequence; bytes of an operand */
        uint64_t offset;
        int opcode, fetch;
    } rma;
} op_t;

typedef struct {
    op_t ops[MAX_OPS];
    unsigned count;
    int remote_memory; /* a flush ends it */
    unsigned flush_form;
} round_t;

config_t plan_config(uint64_t seed);
unsigned plan_rounds(uint64_t seed);
/* Whether what upstream gets wrong is left out. */
int plan_avoids(void);
/* How many receives of a stream's bytes. */
unsigned plan_stream_pieces(unsigned drawn, size_t total);
/* The longest message of a stream. */
size_t plan_stream_limit(void);
/* The length of a message of a stream. */
size_t plan_stream_length(size_t drawn);
/* Changes an operation that upstream gets wrong into one that it gets right. */
void plan_avoid(op_t *op, const config_t *config);
void plan_round(round_t *round, const config_t *config, uint64_t seed, unsigned number);

#endif
