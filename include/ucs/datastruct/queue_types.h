/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_QUEUE_TYPES_H
#define FERRUCX_UCS_DATASTRUCT_QUEUE_TYPES_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

typedef struct ucs_queue_elem ucs_queue_elem_t;
typedef struct ucs_queue_head ucs_queue_head_t;

/** A link of a queue. */
struct ucs_queue_elem {
    /** The next link. */
    ucs_queue_elem_t *next;
};

/** A queue: elements are taken from the head and added behind the tail. */
struct ucs_queue_head {
    /** The first link; NULL when the queue is empty. */
    ucs_queue_elem_t *head;
    /** The pointer that leads to the next element to be added. */
    ucs_queue_elem_t **ptail;
};

/** A place in a queue: the pointer that leads to an element. */
typedef ucs_queue_elem_t **ucs_queue_iter_t;

END_C_DECLS

#endif
