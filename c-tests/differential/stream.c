/* Streams: sends of any layout; receives of everything at once, or of what there is, in turn by call and by
 * `ucp_stream_recv_data_nb`. */
#include "family.h"

void stream_send_post(const op_t *op, run_t *run)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    buffer_t *buffer = &run->buffer;
    ucp_request_param_t param;

    buffer_open(buffer, op->layout, op->length, op->key);
    buffer_fill(buffer, op->key);
    if (op->form == FORM_NBX) {
        call_open(&run->call, ENDS_SEND, op->attributes, &param, buffer);
        call_posted(&run->call, ucp_stream_send_nbx(ep, buffer->pointer, buffer->count, &param));
    } else {
        call_open_old(&run->call, ENDS_SEND);
        call_posted(&run->call, ucp_stream_send_nb(ep, buffer->pointer, buffer->count, buffer->datatype,
                                                   old_send_callback, 0));
    }
}

/* Upstream does not set the status of a stream receive: it tells that of the request's last use. */
static ucs_status_t status_of(const call_t *call)
{
    return plan_avoids() ? UCS_OK : call->status;
}

static void receive(const op_t *op, call_t *call, buffer_t *buffer, void *pointer, size_t count, unsigned flags)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    ucp_request_param_t param;
    size_t length;

    if (op->form == FORM_NBX) {
        call_open(call, ENDS_STREAM_RECV, op->attributes, &param, buffer);
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = flags;
        call_posted(call, ucp_stream_recv_nbx(ep, pointer, count, &length, &param));
        call->info.length = call->immediate ? length : call->info.length;
    } else {
        call_open_old(call, ENDS_STREAM_RECV);
        call_posted(call, ucp_stream_recv_nb(ep, pointer, count, buffer->datatype, old_stream_callback, &length,
                                             flags));
        call->info.length = call->immediate ? length : call->info.length;
    }
}

static void post_pieces(const op_t *op, run_t *run)
{
    numbers_t numbers = {mix(op->key)};
    size_t left = op->length, length;
    layout_t layout;
    unsigned i;

    for (i = 0; i < op->stream.pieces; ++i) {
        length = op->stream.pieces - i - 1; /* bytes for the rest, if none may be empty */
        length = plan_avoids() ? 1 + draw(&numbers) % (left - length) : draw(&numbers) % (left + 1);
        length = i + 1 == op->stream.pieces ? left : length;
        left -= length;
        layout.kind = percent(&numbers, 50) ? CONTIG : percent(&numbers, 50) ? VECTOR : STRIDED;
        layout.a = layout.kind == CONTIG ? 1 : layout.kind == VECTOR ? 1 + below(&numbers, 5) : 100;
        layout.b = 3;
        buffer_open(&run->piece_buffers[i], layout, length, draw(&numbers));
        receive(op, &run->pieces[i], &run->piece_buffers[i], run->piece_buffers[i].pointer,
                run->piece_buffers[i].count, UCP_STREAM_RECV_FLAG_WAITALL);
    }
}

void stream_recv_post(const op_t *op, run_t *run)
{
    if (op->stream.wait_all) {
        post_pieces(op, run);
    } else {
        buffer_open(&run->buffer, (layout_t){CONTIG, 1, 0}, op->length, op->key);
    }
}

static void take_data(const op_t *op, run_t *run)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    size_t length;
    void *data = ucp_stream_recv_data_nb(ep, &length);

    if (UCS_PTR_IS_ERR(data)) {
        note(run, " recv_data %d", UCS_PTR_STATUS(data));
        run->got = op->length;
    } else if (data) {
        if (length > op->length - run->got) {
            STOP("the stream has %zu bytes, expected %zu", length, op->length - run->got);
        }
        memcpy(run->buffer.memory + run->got, data, length);
        run->got += length;
        ucp_stream_data_release(ep, data);
    }
}

static void take_some(const op_t *op, run_t *run)
{
    numbers_t numbers = {mix(op->key) + run->turns};
    unsigned size = 1u << below(&numbers, 4);
    size_t left = op->length - run->got;
    size_t length = percent(&numbers, 50) ? left : 1 + draw(&numbers) % left;
    buffer_t some = {.layout = {CONTIG, 1, 0}};

    some.layout.a = length % size ? 1 : size;
    some.datatype = ucp_dt_make_contig(some.layout.a);
    receive(op, &run->call, &some, run->buffer.memory + run->got, length / some.layout.a, 0);
}

static void end_some(const op_t *op, run_t *run)
{
    if (status_of(&run->call) != UCS_OK || run->call.info.length > op->length - run->got) {
        note(run, " recv %d", status_of(&run->call));
        run->got = op->length;
    } else {
        run->got += run->call.info.length;
    }
    if (strcmp(call_callbacks(&run->call), "ok")) {
        note(run, " callbacks %s", call_callbacks(&run->call));
    }
    call_close(&run->call);
    run->turns++;
}

int stream_recv_done(const op_t *op, run_t *run)
{
    ucp_stream_poll_ep_t ready[MAX_NODES];
    ssize_t count;
    unsigned i;

    if (!op->stream.wait_all && !run->buffer.memory) {
        return 0; /* asked by the watchdog before it was posted */
    }
    if (op->stream.wait_all) {
        for (i = 0; i < op->stream.pieces; ++i) {
            if (!call_done(&run->pieces[i])) {
                return 0;
            }
        }
        return 1;
    }
    if (run->call.posted && call_done(&run->call)) {
        end_some(op, run);
    }
    if (!run->call.posted && run->got < op->length) {
        if (mix(op->key + run->turns * 3) % 2) {
            if (op->key & 1) {
                count = ucp_stream_worker_poll(world.nodes[op->node].worker, ready, MAX_NODES, 0);
                for (i = 0; (ssize_t)i < count; ++i) {
                    if ((uintptr_t)ready[i].user_data >= world.config.nodes ||
                        world.nodes[op->node].eps[(uintptr_t)ready[i].user_data] != ready[i].ep) {
                        note(run, " poll gives a strange endpoint");
                    }
                }
            }
            take_data(op, run);
            run->turns++;
        } else {
            take_some(op, run);
        }
    }
    return run->got >= op->length && !run->call.posted;
}

void stream_recv_note(const op_t *op, run_t *run)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    void *more;
    size_t length;
    unsigned i;

    if (op->stream.wait_all) {
        /* Upstream never finishes the datatype of a stream receive. */
        for (i = 0; i < op->stream.pieces; ++i) {
            note(run, " %d/%zu %s dt %d %016lx", status_of(&run->pieces[i]), run->pieces[i].info.length,
                 call_callbacks(&run->pieces[i]), buffer_ranges_right(&run->piece_buffers[i]),
                 (unsigned long)buffer_hash(&run->piece_buffers[i]));
        }
    } else {
        note(run, " length %zu bytes %016lx", run->got, (unsigned long)buffer_hash(&run->buffer));
    }
    more = ucp_stream_recv_data_nb(ep, &length);
    note(run, " more %d", UCS_PTR_IS_ERR(more) || (more && length > 0)); /* empty messages may be seen or not */
    if (UCS_PTR_IS_PTR(more)) {
        ucp_stream_data_release(ep, more);
    }
}

void stream_recv_close(const op_t *op, run_t *run)
{
    unsigned i;

    for (i = 0; op->stream.wait_all && i < op->stream.pieces; ++i) {
        call_close(&run->pieces[i]);
        buffer_close(&run->piece_buffers[i]);
    }
    if (!op->stream.wait_all) {
        buffer_close(&run->buffer);
    }
}
