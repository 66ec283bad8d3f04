/* The families of operations. Each has a verb for every step of a round, called in the order of the plan:
 * `..._post` issues, `..._note` writes what came out into the operation's line. What must be waited for is
 * asked by `..._done`. The acting side (who sends, receives by tag, puts) and the side that only reacts
 * (handlers of active messages) may be the same process. */
#ifndef FERRUCX_DIFFERENTIAL_FAMILY_H
#define FERRUCX_DIFFERENTIAL_FAMILY_H

#include "request.h"

enum { MAX_PIECES = 8, TEXT = 640 };

typedef struct {
    call_t call;
    buffer_t buffer;
    char text[TEXT]; /* what is compared */
    int early; /* sync send: whether it ended before its receive was there */
    /* Receiver of an active message, or of a reply. */
    int arrived;
    uint64_t hash;
    ucp_ep_h reply_ep;
    void *kept; /* descriptor */
    int fetching; /* by ucp_am_recv_data_nbx */
    call_t reply;
    uint64_t reply_word;
    unsigned char *header; /* of the sender, until the message is gone */
    /* Receiver of a stream. */
    call_t pieces[MAX_PIECES];
    buffer_t piece_buffers[MAX_PIECES];
    size_t got;
    unsigned turns;
    /* Remote memory. */
    uint64_t operand, result, second;
} run_t;

extern round_t current;
extern run_t acting[MAX_OPS], reacting[MAX_OPS];

/* Appends to a line. */
void note(run_t *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

void tag_send_post(const op_t *op, run_t *run);
void tag_recv_post(const op_t *op, run_t *run);
void tag_recv_cancel(const op_t *op, run_t *run);
void tag_send_note(const op_t *op, run_t *run);
void tag_recv_note(const op_t *op, run_t *run);

/* Handlers for the messages that come in this round. */
void am_expect(void);
void am_post(const op_t *op, run_t *run);
/* What handlers left to do: fetch, release, answer. Called while others are waited for. */
void am_react(const op_t *op, run_t *run);
int am_sender_done(const op_t *op, run_t *run);
int am_receiver_done(const op_t *op, run_t *run);
void am_sender_note(const op_t *op, run_t *run);
void am_receiver_note(const op_t *op, run_t *run);
void am_close(const op_t *op, run_t *sender, run_t *receiver);

void stream_send_post(const op_t *op, run_t *run);
void stream_recv_post(const op_t *op, run_t *run);
/* Goes on with receives that take what there is. */
int stream_recv_done(const op_t *op, run_t *run);
void stream_recv_note(const op_t *op, run_t *run);
void stream_recv_close(const op_t *op, run_t *run);

void transfer_post(const op_t *op, run_t *run);
void transfer_note(const op_t *op, run_t *run);
void atomic_post(const op_t *op, run_t *run);
void atomic_note(const op_t *op, run_t *run);
/* Ends a round's remote memory operations of this process. */
void remote_flush(unsigned form);
/* Memory of the peer that can be looked at directly is what a get brought; whether it can is up to the library.
 * After the flush, and before the owner goes on. */
void remote_note_pointer(const op_t *op, run_t *run);
/* What the owner sees afterwards. */
void remote_note_owner(const op_t *op, run_t *run);

#endif
