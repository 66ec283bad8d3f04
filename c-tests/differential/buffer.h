/* Memory of one operation in a layout: what UCX gets (pointer, count, datatype), filled with the bytes of a key
 * or with a mark, hashed with its gaps and edges. The generic datatype counts what UCX calls. */
#ifndef FERRUCX_DIFFERENTIAL_BUFFER_H
#define FERRUCX_DIFFERENTIAL_BUFFER_H

#include "world.h"

enum { EDGE = 16, MARK = 0xee };

/* The context of a generic datatype. */
typedef struct {
    unsigned block, gap;
    size_t length;
    int started, finished, wrong;
} strided_t;

typedef struct {
    layout_t layout;
    unsigned char *memory; /* with an edge on both sides */
    size_t span, length;
    void *pointer;
    size_t count;
    ucp_datatype_t datatype;
    ucp_dt_iov_t *parts;
    strided_t *strided;
} buffer_t;

void buffer_open(buffer_t *buffer, layout_t layout, size_t length, uint64_t key);
void buffer_close(buffer_t *buffer);
void buffer_fill(buffer_t *buffer, uint64_t key);
uint64_t buffer_hash(const buffer_t *buffer);
/* Of the bytes alone, whatever the layout; `whole` says whether gaps and edges are as they were. */
uint64_t buffer_packed_hash(buffer_t *buffer, int *whole);
/* Only what is around the buffer: for contents that nobody promised. */
int buffer_edges_whole(const buffer_t *buffer);
/* Whether the generic datatype was called with ranges it has, and every state finished. */
int buffer_callbacks_right(const buffer_t *buffer);
int buffer_ranges_right(const buffer_t *buffer);
/* The test of the test: changes one byte once, if asked to. */
void buffer_break(unsigned char *bytes, size_t length);

#endif
