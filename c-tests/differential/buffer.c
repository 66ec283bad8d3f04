#include "buffer.h"

#include <stdlib.h>

typedef struct {
    strided_t *strided;
    unsigned char *memory;
    size_t length;
} state_t;

static size_t strided_span(unsigned block, unsigned gap, size_t length)
{
    return length + (length ? (length - 1) / block : 0) * gap;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    state_t *state = malloc(sizeof(*state));

    state->strided = context;
    state->memory = buffer;
    state->length = count;
    state->strided->started++;
    return state;
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return start_unpack(context, (void *)buffer, count);
}

static size_t packed_size(void *state)
{
    return ((state_t *)state)->length;
}

/* Copies between packed bytes [offset, offset + length) and their places. */
static void stride(const state_t *state, size_t offset, unsigned char *packed, size_t length, int pack)
{
    unsigned block = state->strided->block, gap = state->strided->gap;
    size_t piece;
    unsigned char *place;

    while (length > 0) {
        place = state->memory + offset + offset / block * gap;
        piece = block - offset % block;
        piece = piece < length ? piece : length;
        memcpy(pack ? packed : place, pack ? place : packed, piece);
        packed += piece;
        offset += piece;
        length -= piece;
    }
}

static size_t pack(void *arg, size_t offset, void *dest, size_t max_length)
{
    state_t *state = arg;

    if (offset > state->length) {
        state->strided->wrong++;
        return 0;
    }
    if (max_length > state->length - offset) {
        max_length = state->length - offset;
    }
    stride(state, offset, dest, max_length, 1);
    return max_length;
}

static ucs_status_t unpack(void *arg, size_t offset, const void *src, size_t length)
{
    state_t *state = arg;

    if (offset > state->length || length > state->length - offset) {
        state->strided->wrong++;
        return UCS_ERR_MESSAGE_TRUNCATED;
    }
    stride(state, offset, (unsigned char *)src, length, 0);
    return UCS_OK;
}

static void finish(void *arg)
{
    state_t *state = arg;

    state->strided->finished++;
    free(state);
}

static const ucp_generic_dt_ops_t strided_ops = {
    .start_pack = start_pack,
    .start_unpack = start_unpack,
    .packed_size = packed_size,
    .pack = pack,
    .unpack = unpack,
    .finish = finish,
};

static void make_parts(buffer_t *buffer, unsigned count, size_t length, uint64_t key)
{
    numbers_t numbers = {mix(key ^ 0x9a27)};
    size_t left = length, part, at = 0;
    unsigned i;

    buffer->parts = calloc(count, sizeof(*buffer->parts));
    for (i = 0; i < count; ++i) {
        part = i + 1 == count ? left : percent(&numbers, 15) ? 0 : draw(&numbers) % (left / (count - i) * 2 + 1);
        part = part < left ? part : left;
        at += below(&numbers, 24);
        buffer->parts[i].buffer = (void *)(uintptr_t)at; /* the memory comes later */
        buffer->parts[i].length = part;
        at += part;
        left -= part;
    }
    buffer->span = at;
    buffer->pointer = buffer->parts;
    buffer->count = count;
    buffer->datatype = ucp_dt_make_iov();
}

void buffer_open(buffer_t *buffer, layout_t layout, size_t length, uint64_t key)
{
    size_t i;

    memset(buffer, 0, sizeof(*buffer));
    buffer->layout = layout;
    buffer->length = length;
    if (layout.kind == VECTOR) {
        make_parts(buffer, layout.a, length, key);
    } else if (layout.kind == STRIDED) {
        buffer->span = strided_span(layout.a, layout.b, length);
        buffer->count = length;
        buffer->strided = calloc(1, sizeof(*buffer->strided));
        buffer->strided->block = layout.a;
        buffer->strided->gap = layout.b;
        MUST(ucp_dt_create_generic(&strided_ops, buffer->strided, &buffer->datatype));
    } else {
        buffer->span = length;
        buffer->count = length / layout.a;
        buffer->datatype = ucp_dt_make_contig(layout.a);
    }
    /* Any alignment, but the same on both libraries. */
    buffer->memory = (unsigned char *)arena_alloc(buffer->span + 2 * EDGE + 128);
    buffer->memory += 64 - (uintptr_t)buffer->memory % 64 + (mix(key) % 4 ? 0 : mix(key) / 4 % 64);
    memset(buffer->memory, MARK, EDGE + buffer->span + EDGE);
    buffer->memory += EDGE;
    if (layout.kind == VECTOR) {
        for (i = 0; i < layout.a; ++i) {
            buffer->parts[i].buffer = buffer->memory + (uintptr_t)buffer->parts[i].buffer;
        }
    } else {
        buffer->pointer = buffer->memory;
    }
}

void buffer_close(buffer_t *buffer)
{
    if (buffer->layout.kind == STRIDED) {
        ucp_dt_destroy(buffer->datatype);
        free(buffer->strided);
    }
    free(buffer->parts);
}

/* Copies all bytes between the layout and `packed`. */
static void move(buffer_t *buffer, unsigned char *packed, int gather)
{
    state_t state = {buffer->strided, buffer->memory, buffer->length};
    size_t i;

    if (buffer->layout.kind == STRIDED) {
        stride(&state, 0, packed, buffer->length, gather);
        return;
    }
    if (buffer->layout.kind == CONTIG) {
        memcpy(gather ? packed : buffer->memory, gather ? buffer->memory : packed, buffer->length);
        return;
    }
    for (i = 0; i < buffer->count; ++i) {
        memcpy(gather ? packed : buffer->parts[i].buffer, gather ? buffer->parts[i].buffer : packed,
               buffer->parts[i].length);
        packed += buffer->parts[i].length;
    }
}

void buffer_fill(buffer_t *buffer, uint64_t key)
{
    unsigned char *packed = malloc(buffer->length + 1);

    bytes_fill(packed, buffer->length, key);
    move(buffer, packed, 0);
    free(packed);
}

uint64_t buffer_packed_hash(buffer_t *buffer, int *whole)
{
    unsigned char *packed = malloc(buffer->length + 1);
    uint64_t hash;
    size_t i;

    move(buffer, packed, 1);
    buffer_break(packed, buffer->length);
    hash = bytes_hash(0, packed, buffer->length);
    memset(packed, MARK, buffer->length);
    move(buffer, packed, 0);
    free(packed);
    *whole = buffer_edges_whole(buffer);
    for (i = 0; i < buffer->span; ++i) {
        *whole &= buffer->memory[i] == MARK;
    }
    return hash;
}

uint64_t buffer_hash(const buffer_t *buffer)
{
    buffer_break(buffer->memory, buffer->span);
    return bytes_hash(0, buffer->memory - EDGE, EDGE + buffer->span + EDGE);
}

int buffer_edges_whole(const buffer_t *buffer)
{
    size_t i;

    for (i = 0; i < EDGE; ++i) {
        if (buffer->memory[buffer->span + i] != MARK || buffer->memory[-1 - (ptrdiff_t)i] != MARK) {
            return 0;
        }
    }
    return 1;
}

int buffer_callbacks_right(const buffer_t *buffer)
{
    return buffer_ranges_right(buffer) &&
           (!buffer->strided || buffer->strided->started == buffer->strided->finished);
}

int buffer_ranges_right(const buffer_t *buffer)
{
    return !buffer->strided || !buffer->strided->wrong;
}

void buffer_break(unsigned char *bytes, size_t length)
{
    if (world.break_byte && length > 0) {
        bytes[length / 2] ^= 1;
        world.break_byte = 0;
    }
}
