/* Active messages of the new and the old call; what a handler leaves is fetched, released and answered later. */
#include "family.h"

#include <stdlib.h>

/* Operation of this round by receiving node and id; -1: none. */
static int expected[MAX_NODES][AM_IDS];
static unsigned strays;

static void post_reply(const op_t *op, run_t *run)
{
    ucp_request_param_t param;

    run->reply_word = op->key;
    call_open(&run->reply, ENDS_SEND, BY_CALLBACK, &param, NULL);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER; /* the handler looks at the data where they are */
    call_posted(&run->reply, ucp_am_send_nbx(run->reply_ep, AM_REPLY + (op - current.ops), NULL, 0,
                                             &run->reply_word, op->key & 8 ? 8 : 0, &param));
    run->reply_ep = NULL;
}

static void fetch(const op_t *op, run_t *run, void *descriptor)
{
    size_t length = op->am.truncate ? op->length / 2 : op->length;
    layout_t layout = op->am.truncate ? (layout_t){CONTIG, 1, 0} : op->am.layout;
    ucp_request_param_t param;

    buffer_open(&run->buffer, layout, length, op->key);
    run->fetching = 1;
    call_open(&run->call, ENDS_AM_RECV, op->attributes | BY_CALLBACK, &param, &run->buffer);
    call_posted(&run->call, ucp_am_recv_data_nbx(world.nodes[op->peer].worker, descriptor, run->buffer.pointer,
                                                 run->buffer.count, &param));
}

static void look(run_t *run, unsigned char *data, size_t length)
{
    unsigned char *copy = malloc(length + 1);

    memcpy(copy, data, length);
    buffer_break(copy, length);
    run->hash = bytes_hash(0, copy, length);
    free(copy);
}

static run_t *arrival(unsigned node, unsigned id)
{
    int index = expected[node][id];

    if (index < 0) {
        strays++;
        return NULL;
    }
    reacting[index].arrived++;
    return &reacting[index];
}

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    unsigned node = (uintptr_t)arg >> 16, id = (uintptr_t)arg & 0xffff;
    run_t *run = arrival(node, id);
    uint64_t attr = param->recv_attr;
    const op_t *op;

    if (!run) {
        return UCS_OK;
    }
    op = &current.ops[expected[node][id]];
    note(run, " header %zu %016lx length %zu", header_length, (unsigned long)bytes_hash(0, header, header_length),
         length);
    if (op->am.send_flags & (UCP_AM_SEND_FLAG_RNDV | UCP_AM_SEND_FLAG_EAGER)) {
        note(run, " rndv %d", !!(attr & UCP_AM_RECV_ATTR_FLAG_RNDV));
    }
    if (op->am.reply) {
        note(run, " reply %d", !!(attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP));
        run->reply_ep = (attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) ? param->reply_ep : NULL;
    }
    if (attr & (UCP_AM_RECV_ATTR_FLAG_RNDV | UCP_AM_RECV_ATTR_FLAG_DATA)) {
        if (op->am.then == AM_LATER || (op->am.then == AM_DROP && (op->key & 2))) {
            run->kept = data;
            return UCS_INPROGRESS;
        }
    }
    if (op->am.then == AM_DROP) {
        return UCS_OK;
    }
    if (attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        fetch(op, run, data);
        return UCS_INPROGRESS;
    }
    look(run, data, length);
    if (run->reply_ep && (op->key & 1)) {
        post_reply(op, run);
    }
    return UCS_OK;
}

static ucs_status_t on_old_message(void *arg, void *data, size_t length, ucp_ep_h reply_ep, unsigned flags)
{
    run_t *run = arrival((uintptr_t)arg >> 16, (uintptr_t)arg & 0xffff);

    if (run) {
        note(run, " length %zu", length);
        look(run, data, length);
    }
    return UCS_OK;
}

/* Comes to the sender. */
static ucs_status_t on_reply(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    unsigned index = (uintptr_t)arg;

    if (index >= current.count || current.ops[index].kind != AM_SEND || !current.ops[index].am.reply) {
        strays++;
        return UCS_OK;
    }
    acting[index].arrived++;
    note(&acting[index], " reply %zu %016lx", length, (unsigned long)bytes_hash(0, data, length));
    return UCS_OK;
}

static void set_handler(unsigned node, unsigned id, unsigned flags, ucp_am_recv_callback_t cb, uintptr_t arg)
{
    ucp_am_handler_param_t param;

    param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    param.id = id;
    param.flags = flags;
    param.cb = cb;
    param.arg = (void *)arg;
    MUST(ucp_worker_set_am_recv_handler(world.nodes[node].worker, &param));
}

void am_expect(void)
{
    const op_t *op;
    unsigned i;

    memset(expected, -1, sizeof(expected));
    for (i = 0; i < current.count; ++i) {
        op = &current.ops[i];
        if (op->kind != AM_SEND) {
            continue;
        }
        if (world_is_mine(op->peer)) {
            expected[op->peer][op->am.id] = i;
            if (op->form == FORM_NB) {
                MUST(ucp_worker_set_am_handler(world.nodes[op->peer].worker, op->am.id, on_old_message,
                                               (void *)(uintptr_t)(op->peer << 16 | op->am.id),
                                               op->key & 16 ? UCP_AM_FLAG_WHOLE_MSG : 0));
            } else {
                set_handler(op->peer, op->am.id, op->am.handler_flags, on_message, op->peer << 16 | op->am.id);
            }
        }
        if (world_is_mine(op->node) && op->am.reply) {
            set_handler(op->node, AM_REPLY + i, 0, on_reply, i);
        }
    }
}

void am_post(const op_t *op, run_t *run)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    unsigned char header[4096];
    ucp_request_param_t param;

    buffer_open(&run->buffer, op->layout, op->length, op->key);
    buffer_fill(&run->buffer, op->key);
    if (op->form == FORM_NB) {
        call_open_old(&run->call, ENDS_SEND);
        call_posted(&run->call, ucp_am_send_nb(ep, op->am.id, run->buffer.pointer, run->buffer.count,
                                               run->buffer.datatype, old_send_callback, 0));
        return;
    }
    call_open(&run->call, ENDS_SEND, op->attributes, &param, &run->buffer);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = op->am.send_flags;
    run->header = malloc(op->am.header_length + 1);
    bytes_fill(run->header, op->am.header_length, ~op->key);
    memcpy(header, run->header, op->am.header_length);
    if (op->am.send_flags & UCP_AM_SEND_FLAG_COPY_HEADER) {
        call_posted(&run->call, ucp_am_send_nbx(ep, op->am.id, header, op->am.header_length, run->buffer.pointer,
                                                run->buffer.count, &param));
        memset(header, 0x33, sizeof(header));
    } else {
        call_posted(&run->call, ucp_am_send_nbx(ep, op->am.id, run->header, op->am.header_length,
                                                run->buffer.pointer, run->buffer.count, &param));
    }
}

void am_react(const op_t *op, run_t *run)
{
    ucp_worker_h worker = world.nodes[op->peer].worker;
    void *kept = run->kept;

    if (kept) {
        run->kept = NULL;
        if (op->am.then == AM_LATER) {
            fetch(op, run, kept);
        } else {
            ucp_am_data_release(worker, kept);
        }
    }
    if (run->reply_ep && run->arrived && (!run->fetching || call_done(&run->call))) {
        post_reply(op, run);
    }
}

int am_sender_done(const op_t *op, run_t *run)
{
    return call_done(&run->call) && (!op->am.reply || run->arrived);
}

int am_receiver_done(const op_t *op, run_t *run)
{
    am_react(op, run);
    return run->arrived && (!run->fetching || call_done(&run->call)) && (!run->reply.posted || call_done(&run->reply));
}

void am_sender_note(const op_t *op, run_t *run)
{
    note(run, " %d callbacks %s dt %d arrived %d strays %u", run->call.status, call_callbacks(&run->call),
         buffer_callbacks_right(&run->buffer), run->arrived, strays);
}

void am_receiver_note(const op_t *op, run_t *run)
{
    int whole = 1;

    note(run, " arrived %d", run->arrived);
    if (run->fetching) {
        if (op->am.truncate) {
            whole = buffer_edges_whole(&run->buffer);
        } else {
            run->hash = buffer_packed_hash(&run->buffer, &whole);
        }
    }
    note(run, " %d bytes %016lx whole %d", run->call.status, (unsigned long)run->hash, whole);
    if (run->fetching) {
        whole = buffer_callbacks_right(&run->buffer) && !strcmp(call_callbacks(&run->call), "ok") &&
                (run->call.status != UCS_OK || run->call.info.length == op->length);
    }
    note(run, " right %d", whole);
}

void am_close(const op_t *op, run_t *sender, run_t *receiver)
{
    if (world_is_mine(op->node)) {
        call_close(&sender->call);
        buffer_close(&sender->buffer);
        free(sender->header);
    }
    if (world_is_mine(op->peer)) {
        call_close(&receiver->reply);
        if (receiver->fetching) {
            call_close(&receiver->call);
            buffer_close(&receiver->buffer);
        }
    }
}
