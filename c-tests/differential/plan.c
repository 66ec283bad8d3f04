/* Draws the plan of a program from its seed, see plan.h. Nothing here calls UCX. */
#include "plan.h"

#include <ucp/api/ucp.h>

#include <stdio.h>
#include <stdlib.h>

#define PICK(numbers, array) ((array)[below(numbers, sizeof(array) / sizeof((array)[0]))])

enum { ROUND_BYTES = 12 << 20 };

config_t plan_config(uint64_t seed)
{
    static const char *tls[] = {"self,posix", "self,sysv", "self,posix,cma", "self,sysv,cma", "self,tcp",
                                "self,posix,tcp", "self,posix,sysv,cma,tcp", "sm,self", "tcp,self,cma"};
    static const char *rndv_thresh[] = {NULL, NULL, NULL, "0", "512", "8k", "100k", "inf"};
    static const char *rndv_scheme[] = {NULL, NULL, NULL, "get_zcopy", "put_zcopy", "am"};
    static const char *zcopy_thresh[] = {NULL, NULL, NULL, "0", "4k", "inf"};
    static const unsigned processes[] = {2, 2, 2, 3, 3, 4};
    numbers_t numbers = {mix(seed / PROGRAMS_PER_BLOCK) ^ 0xb10c};
    config_t config;

    config.processes = PICK(&numbers, processes);
    config.nodes = config.processes + (percent(&numbers, 35) ? 1 + below(&numbers, 2) : 0);
    config.tls = PICK(&numbers, tls);
    config.tls = getenv("DIFFERENTIAL_TLS") ? getenv("DIFFERENTIAL_TLS") : config.tls;
    config.rndv_thresh = PICK(&numbers, rndv_thresh);
    config.rndv_scheme = PICK(&numbers, rndv_scheme);
    config.zcopy_thresh = PICK(&numbers, zcopy_thresh);
    config.region_length = percent(&numbers, 25) ? 10 << 20 : 1 << 20;
    config.am_alignment = percent(&numbers, 50) ? 1u << below(&numbers, 9) : 0;
    config.multi = percent(&numbers, 20);
    config.wakeup = percent(&numbers, 20);
    config.blocking = config.nodes == config.processes;
    return config;
}

static size_t draw_length(numbers_t *numbers, size_t *budget)
{
    static const size_t edges[] = {8, 64, 92, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 102400, 262144};
    unsigned kind = below(numbers, 100);
    size_t length;

    if (kind < 15) {
        length = below(numbers, 9);
    } else if (kind < 40) {
        length = below(numbers, 256);
    } else if (kind < 55) {
        length = below(numbers, 2048);
    } else if (kind < 75) {
        length = PICK(numbers, edges);
        length = length - length / 8 + below(numbers, length / 4 + 1);
        length = percent(numbers, 30) ? (length & ~(size_t)63) : length;
    } else if (kind < 90) {
        length = below(numbers, 65536);
    } else if (kind < 97) {
        length = below(numbers, 1 << 20);
    } else {
        length = percent(numbers, 20) ? MAX_LENGTH : below(numbers, MAX_LENGTH);
    }
    if (length > *budget) {
        length = below(numbers, 512);
    }
    *budget -= length < *budget ? length : *budget;
    return length;
}

static layout_t draw_contig(numbers_t *numbers, size_t length)
{
    static const unsigned sizes[] = {1, 1, 2, 4, 8, 3, 12, 16};
    unsigned size = PICK(numbers, sizes);
    layout_t layout = {CONTIG, length % size ? 1 : size, 0};
    return layout;
}

static layout_t draw_layout(numbers_t *numbers, size_t length, int generic)
{
    layout_t layout;

    if (percent(numbers, 60)) {
        return draw_contig(numbers, length);
    }
    if (!generic || percent(numbers, 50)) {
        layout.kind = VECTOR;
        layout.a = 1 + below(numbers, percent(numbers, 20) ? 40 : 5);
        layout.b = 0;
        return layout;
    }
    layout.kind = STRIDED;
    layout.a = 1 + below(numbers, length > 65536 ? 4096 : 40);
    layout.a = length > 65536 ? layout.a + 64 : layout.a;
    layout.b = below(numbers, 20);
    return layout;
}

static unsigned draw_attributes(numbers_t *numbers, int sends)
{
    unsigned attributes = 0;

    attributes |= percent(numbers, 50) ? BY_CALLBACK : 0;
    attributes |= percent(numbers, 15) ? USER_REQUEST : 0;
    attributes |= percent(numbers, 20) ? WITH_MEMH : 0;
    attributes |= percent(numbers, 20) ? WITH_MEMORY_TYPE : 0;
    attributes |= percent(numbers, 15) ? NO_IMMEDIATE : 0;
    if (sends && percent(numbers, 20)) {
        attributes |= percent(numbers, 50) ? FAST : MULTI_SEND;
    }
    if ((attributes & (BY_CALLBACK | USER_REQUEST)) == BY_CALLBACK && percent(numbers, 50)) {
        attributes |= FREE_IN_CALLBACK;
    }
    return attributes;
}

static op_t *add(round_t *round, kind_t kind, unsigned node, unsigned peer)
{
    op_t *op = &round->ops[round->count++];

    if (round->count > MAX_OPS) {
        fprintf(stderr, "the plan has too many operations\n");
        abort();
    }
    memset(op, 0, sizeof(*op));
    op->kind = kind;
    op->node = node;
    op->peer = peer;
    op->match = -1;
    return op;
}

static uint64_t draw_tag(numbers_t *numbers, unsigned from)
{
    return ((uint64_t)(from + 1) << 56) | ((uint64_t)below(numbers, 2) << 40) | below(numbers, 3);
}

static void add_receive(round_t *round, numbers_t *numbers, unsigned node, unsigned from, uint64_t tag)
{
    static const unsigned forms[] = {FORM_NBX, FORM_NBX, FORM_NBX, FORM_NB, FORM_NBR, FORM_PROBE_NBX, FORM_PROBE_NB};
    static const uint64_t masks[] = {~0ull, ~0ull, ~0ull, 0xff000000000000ffull, 0xffffff0000000000ull,
                                     0xff00000000000000ull};
    op_t *op = add(round, TAG_RECV, node, from);

    op->mask = PICK(numbers, masks);
    /* Bits outside the mask must not matter. */
    op->tag = (tag & op->mask) | (percent(numbers, 50) ? draw(numbers) & ~op->mask : 0);
    op->form = PICK(numbers, forms);
    op->phase = op->form >= FORM_PROBE_NBX ? 1 : percent(numbers, 40);
    op->probe_first = percent(numbers, 40);
    op->attributes = draw_attributes(numbers, 0);
    op->key = draw(numbers);
    op->rooms = percent(numbers, 80) ? 0 : 1 + percent(numbers, 40);
}

static void add_tags(round_t *round, numbers_t *numbers, unsigned from, unsigned to, size_t *budget)
{
    static const unsigned forms[] = {FORM_NBX, FORM_NBX, FORM_NBX, FORM_NB, FORM_NBR, FORM_SYNC_NBX, FORM_SYNC_NBX,
                                     FORM_SYNC_NB};
    unsigned i, messages = 1 + below(numbers, 6);
    op_t *op;

    for (i = 0; i < messages; ++i) {
        op = add(round, TAG_SEND, from, to);
        op->tag = draw_tag(numbers, from);
        op->length = draw_length(numbers, budget);
        op->layout = draw_layout(numbers, op->length, 1);
        op->form = PICK(numbers, forms);
        op->attributes = draw_attributes(numbers, 1);
        op->key = draw(numbers);
        if (percent(numbers, 90)) {
            add_receive(round, numbers, to, from, op->tag);
        }
    }
    if (percent(numbers, 30)) {
        add_receive(round, numbers, to, from, draw_tag(numbers, from) ^ (percent(numbers, 50) ? 0x77 : 0));
    }
}

static void add_am(round_t *round, numbers_t *numbers, unsigned from, unsigned to, size_t *budget, uint64_t *used)
{
    unsigned id = below(numbers, AM_IDS), old = id >= AM_IDS - OLD_AM_IDS;
    op_t *op;

    if (used[to] & (1ull << id)) {
        return;
    }
    used[to] |= 1ull << id;
    op = add(round, AM_SEND, from, to);
    op->length = draw_length(numbers, budget);
    op->key = draw(numbers);
    op->attributes = draw_attributes(numbers, 1);
    op->layout = draw_layout(numbers, op->length, 1);
    op->am.id = id;
    op->am.reply = percent(numbers, 30) && !old;
    if (old) {
        op->form = FORM_NB;
        op->length = op->length > 60000 ? 60000 : op->length;
        op->layout = draw_contig(numbers, op->length);
        return;
    }
    op->form = FORM_NBX;
    op->am.handler_flags = percent(numbers, 50) ? UCP_AM_FLAG_PERSISTENT_DATA : 0;
    op->am.handler_flags |= percent(numbers, 50) ? UCP_AM_FLAG_WHOLE_MSG : 0;
    op->am.header_length = percent(numbers, 30) ? 0 : below(numbers, percent(numbers, 10) ? 2000 : 100);
    op->am.send_flags = percent(numbers, 50) ? UCP_AM_SEND_FLAG_COPY_HEADER : 0;
    op->am.send_flags |= op->am.reply ? UCP_AM_SEND_FLAG_REPLY : 0;
    if (percent(numbers, 40)) {
        op->am.send_flags |= percent(numbers, 50) ? UCP_AM_SEND_FLAG_RNDV : UCP_AM_SEND_FLAG_EAGER;
    }
    op->am.then = percent(numbers, 50) ? AM_TAKE : percent(numbers, 80) ? AM_LATER : AM_DROP;
    op->am.layout = draw_layout(numbers, op->length, 1);
    op->am.truncate = (op->am.send_flags & UCP_AM_SEND_FLAG_RNDV) && (op->length > 1) && percent(numbers, 10);
}

static void add_stream(round_t *round, numbers_t *numbers, unsigned from, unsigned to, size_t *budget)
{
    unsigned i, messages = 1 + below(numbers, 6);
    size_t total = 0;
    op_t *op;

    for (i = 0; i < messages; ++i) {
        op = add(round, STREAM_SEND, from, to);
        op->length = plan_stream_length(draw_length(numbers, budget) % (plan_stream_limit() + 1));
        op->layout = draw_layout(numbers, op->length, 1);
        op->form = percent(numbers, 80) ? FORM_NBX : FORM_NB;
        op->attributes = draw_attributes(numbers, 1);
        op->key = draw(numbers);
        total += op->length;
    }
    op = add(round, STREAM_RECV, to, from);
    op->length = total;
    op->stream.pieces = plan_stream_pieces(1 + below(numbers, 6), total);
    op->stream.wait_all = percent(numbers, 50);
    op->form = percent(numbers, 80) ? FORM_NBX : FORM_NB;
    op->attributes = draw_attributes(numbers, 0);
    op->phase = percent(numbers, 50);
    op->key = draw(numbers);
}

/* What a round has given out of the nodes' regions. */
typedef struct {
    size_t at[MAX_NODES][REGIONS];
    struct {
        int used, shared, opcode;
        unsigned size;
    } cells[MAX_NODES][REGIONS][CELLS];
} given_t;

static void add_transfer(round_t *round, numbers_t *numbers, const config_t *config, unsigned from, unsigned to,
                         size_t *budget, given_t *given)
{
    static const kind_t kinds[] = {PUT, PUT, PUT, GET, GET, GET, PUT_TWICE, PUT_GET};
    unsigned region = below(numbers, REGIONS);
    size_t length = draw_length(numbers, budget);
    size_t *at = &given->at[to][region];
    op_t *op;

    *at += percent(numbers, 50) ? below(numbers, 100) : (64 - *at % 64);
    if (*at + length > config->region_length) {
        length = length % 512;
        if (*at + length > config->region_length) {
            return;
        }
    }
    op = add(round, PICK(numbers, kinds), from, to);
    op->rma.region = region;
    op->rma.offset = *at;
    *at += length;
    op->length = length;
    op->key = draw(numbers);
    op->attributes = draw_attributes(numbers, 1);
    op->layout = draw_layout(numbers, length, 0);
    op->form = percent(numbers, 60) ? FORM_NBX : percent(numbers, 40) ? FORM_NB : FORM_NBR;
    if (config->blocking && percent(numbers, 15)) {
        op->form = FORM_BLOCKING;
    }
    if (op->form != FORM_NBX) {
        op->layout = (layout_t){CONTIG, 1, 0}; /* the old calls count bytes */
    }
    round->remote_memory = 1;
}

static void add_atomic(round_t *round, numbers_t *numbers, const config_t *config, unsigned from, unsigned to,
                       given_t *given)
{
    static const int shared[] = {UCP_ATOMIC_OP_ADD, UCP_ATOMIC_OP_AND, UCP_ATOMIC_OP_OR, UCP_ATOMIC_OP_XOR};
    unsigned region = below(numbers, REGIONS), cell = below(numbers, CELLS);
    unsigned size = percent(numbers, 50) ? 4 : 8;
    int together = percent(numbers, 50), opcode = PICK(numbers, shared);
    op_t *op;

    if (given->cells[to][region][cell].used) {
        if (!given->cells[to][region][cell].shared) {
            return;
        }
        together = 1;
        size = given->cells[to][region][cell].size;
        opcode = given->cells[to][region][cell].opcode;
    }
    given->cells[to][region][cell].used = 1;
    given->cells[to][region][cell].shared = together;
    given->cells[to][region][cell].size = size;
    given->cells[to][region][cell].opcode = opcode;
    op = add(round, together ? AMO : AMO_SEQUENCE, from, to);
    op->rma.region = region;
    op->rma.offset = cell * 8;
    op->rma.size = size;
    op->rma.opcode = opcode;
    op->rma.count = 1 + below(numbers, 5);
    op->rma.fetch = percent(numbers, 50); /* of an AMO: asked for, not compared */
    op->key = draw(numbers);
    op->attributes = draw_attributes(numbers, 1) & ~(WITH_MEMH | FAST | MULTI_SEND);
    op->form = config->blocking && percent(numbers, 25) ? FORM_BLOCKING : percent(numbers, 30) ? FORM_NB : FORM_NBX;
    round->remote_memory = 1;
}

/* Sends keep their order in a pair, and so do receives; else anything goes. */
static void shuffle(round_t *round, numbers_t *numbers)
{
    unsigned i, j;
    op_t op;

    for (i = round->count; i > 1; --i) {
        j = below(numbers, i);
        op = round->ops[i - 1];
        round->ops[i - 1] = round->ops[j];
        round->ops[j] = op;
    }
}

/* Messages in the order they are sent, receives in the order they are posted (by phase, then by place), each
 * message takes the first receive that is left and wants it: the same pairs as in any order of events, since
 * both sides prefer who comes first. */
static void match(round_t *round, unsigned limit)
{
    unsigned i, j, phase;
    op_t *send, *receive;

    for (i = 0; i < limit; ++i) {
        send = &round->ops[i];
        if (send->kind != TAG_SEND || send->match >= 0) {
            continue;
        }
        for (phase = 0; phase < 3 && send->match < 0; ++phase) {
            for (j = 0; j < round->count; ++j) {
                receive = &round->ops[j];
                if (receive->kind == TAG_RECV && receive->phase == phase && receive->match < 0 &&
                    receive->node == send->peer && receive->peer == send->node &&
                    !((receive->tag ^ send->tag) & receive->mask)) {
                    receive->match = i;
                    send->match = j;
                    break;
                }
            }
        }
    }
}

static void match_all(round_t *round, numbers_t *numbers)
{
    unsigned i, count = round->count;
    size_t length;
    op_t *op;

    match(round, count);
    for (i = 0; i < count; ++i) {
        op = &round->ops[i];
        if (op->kind == TAG_SEND && op->match < 0) {
            add_receive(round, numbers, op->peer, op->node, op->tag);
            round->ops[round->count - 1].mask = ~0ull;
            round->ops[round->count - 1].tag = op->tag;
            round->ops[round->count - 1].phase = 2;
        }
    }
    match(round, count);
    for (i = 0; i < round->count; ++i) {
        op = &round->ops[i];
        if (op->kind != TAG_RECV) {
            continue;
        }
        length = op->match < 0 ? below(numbers, 3000) : round->ops[op->match].length;
        if (op->rooms == 1) {
            length += 1 + below(numbers, 5000);
        } else if (op->rooms == 2 && length > 0) {
            length = length * below(numbers, 100) / 100;
        }
        op->length = length;
        op->layout = draw_layout(numbers, length, 1);
        if (op->match < 0 && op->form == FORM_NBX && percent(numbers, 30)) {
            op->attributes = (op->attributes & ~NO_IMMEDIATE) | FORCE_IMMEDIATE;
        }
    }
}

unsigned plan_rounds(uint64_t seed)
{
    return 2 + mix(seed ^ 0x726f756e) % 4;
}

void plan_round(round_t *round, const config_t *config, uint64_t seed, unsigned number)
{
    static given_t given;
    numbers_t numbers = {mix(mix(seed) + number)};
    size_t budget = ROUND_BYTES;
    uint64_t used_ids[MAX_NODES] = {0};
    uint64_t streams = 0;
    unsigned activities = 2 + below(&numbers, 7), i, j, from, to, count;

    memset(&given, 0, sizeof(given));
    for (i = 0; i < MAX_NODES; ++i) {
        given.at[i][0] = given.at[i][1] = CELL_BYTES;
    }
    round->count = 0;
    round->remote_memory = 0;
    round->flush_form = below(&numbers, config->blocking ? 4 : 2);
    for (i = 0; i < activities && round->count < MAX_OPS / 3; ++i) {
        from = below(&numbers, config->nodes);
        to = below(&numbers, config->nodes);
        count = 1 + below(&numbers, 4);
        switch (below(&numbers, 6)) {
        case 0:
        case 1:
            add_tags(round, &numbers, from, to, &budget);
            break;
        case 2:
            for (j = 0; j < count; ++j) {
                add_am(round, &numbers, from, to, &budget, used_ids);
            }
            break;
        case 3:
            if (!(streams & (1ull << (from * MAX_NODES + to)))) {
                streams |= 1ull << (from * MAX_NODES + to);
                add_stream(round, &numbers, from, to, &budget);
            }
            break;
        case 4:
            for (j = 0; j < count; ++j) {
                add_transfer(round, &numbers, config, from, to, &budget, &given);
            }
            break;
        default:
            for (j = 0; j < count; ++j) {
                add_atomic(round, &numbers, config, from, to, &given);
            }
        }
        if (percent(&numbers, 20)) {
            add(round, config->blocking && percent(&numbers, 50) ? FENCE : EP_FLUSH, from, to);
        }
    }
    shuffle(round, &numbers);
    match_all(round, &numbers);
    for (i = 0; i < round->count; ++i) {
        plan_avoid(&round->ops[i], config);
    }
}
