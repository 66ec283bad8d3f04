/* Tagged messages: every form of send and receive, probes, cancels. */
#include "family.h"

void tag_send_post(const op_t *op, run_t *run)
{
    ucp_ep_h ep = world.nodes[op->node].eps[op->peer];
    buffer_t *buffer = &run->buffer;
    ucp_request_param_t param;
    ucs_status_t status;
    void *room;

    buffer_open(buffer, op->layout, op->length, op->key);
    buffer_fill(buffer, op->key);
    switch (op->form) {
    case FORM_NBX:
    case FORM_SYNC_NBX:
        call_open(&run->call, ENDS_SEND, op->attributes, &param, buffer);
        call_posted(&run->call, (op->form == FORM_NBX ? ucp_tag_send_nbx : ucp_tag_send_sync_nbx)(
                                    ep, buffer->pointer, buffer->count, op->tag, &param));
        break;
    case FORM_NBR:
        room = call_open_nbr(&run->call, ENDS_SEND);
        status = ucp_tag_send_nbr(ep, buffer->pointer, buffer->count, buffer->datatype, op->tag, room);
        call_posted(&run->call, status == UCS_INPROGRESS ? room : UCS_STATUS_PTR(status));
        break;
    default:
        call_open_old(&run->call, ENDS_SEND);
        call_posted(&run->call, (op->form == FORM_NB ? ucp_tag_send_nb : ucp_tag_send_sync_nb)(
                                    ep, buffer->pointer, buffer->count, buffer->datatype, op->tag,
                                    old_send_callback));
    }
}

/* The message of a receive by probe, or NULL when the plan says that there is none. */
static ucp_tag_message_h probe(const op_t *op, run_t *run)
{
    ucp_worker_h worker = world.nodes[op->node].worker;
    ucp_tag_recv_info_t info;
    ucp_tag_message_h message;
    int remove;

    for (remove = !op->probe_first; remove < 2; ++remove) {
        while (!(message = ucp_tag_probe_nb(worker, op->tag, op->mask, remove, &info))) {
            if (op->match < 0) {
                note(run, " no message");
                return NULL;
            }
            world_progress();
        }
        note(run, " probed %lx/%zu", (unsigned long)info.sender_tag, info.length);
    }
    return message;
}

void tag_recv_post(const op_t *op, run_t *run)
{
    ucp_worker_h worker = world.nodes[op->node].worker;
    buffer_t *buffer = &run->buffer;
    ucp_request_param_t param;
    ucp_tag_message_h message = NULL;
    ucs_status_t status;
    void *room;

    buffer_open(buffer, op->layout, op->length, op->key);
    if (op->form >= FORM_PROBE_NBX && !(message = probe(op, run))) {
        return;
    }
    if (op->form == FORM_NBX || op->form == FORM_PROBE_NBX) {
        call_open(&run->call, ENDS_TAG_RECV, op->attributes, &param, buffer);
        call_posted(&run->call,
                    message ? ucp_tag_msg_recv_nbx(worker, buffer->pointer, buffer->count, message, &param)
                            : ucp_tag_recv_nbx(worker, buffer->pointer, buffer->count, op->tag, op->mask, &param));
    } else if (op->form == FORM_NBR) {
        room = call_open_nbr(&run->call, ENDS_TAG_RECV);
        status = ucp_tag_recv_nbr(worker, buffer->pointer, buffer->count, buffer->datatype, op->tag, op->mask, room);
        call_posted(&run->call, UCS_STATUS_IS_ERR(status) ? UCS_STATUS_PTR(status) : room);
    } else {
        call_open_old(&run->call, ENDS_TAG_RECV);
        call_posted(&run->call, message ? ucp_tag_msg_recv_nb(worker, buffer->pointer, buffer->count, buffer->datatype,
                                                              message, old_tag_callback)
                                        : ucp_tag_recv_nb(worker, buffer->pointer, buffer->count, buffer->datatype,
                                                          op->tag, op->mask, old_tag_callback));
    }
}

void tag_recv_cancel(const op_t *op, run_t *run)
{
    if (op->match < 0 && run->call.posted) {
        note(run, " ended before cancel: %d", call_done(&run->call));
        if (run->call.request) {
            ucp_request_cancel(world.nodes[op->node].worker, run->call.request);
        }
    }
}

void tag_send_note(const op_t *op, run_t *run)
{
    note(run, " %d callbacks %s early %d bytes %016lx dt %d", run->call.status, call_callbacks(&run->call), run->early,
         (unsigned long)buffer_hash(&run->buffer), buffer_callbacks_right(&run->buffer));
}

void tag_recv_note(const op_t *op, run_t *run)
{
    call_t *call = &run->call;

    if (!call->posted) {
        return;
    }
    note(run, " %d callbacks %s", call->status, call_callbacks(call));
    /* Upstream forgets to finish the datatype of a cancelled receive. */
    note(run, " dt %d",
         call->status == UCS_ERR_CANCELED ? buffer_ranges_right(&run->buffer) : buffer_callbacks_right(&run->buffer));
    if (call->status == UCS_OK && call->immediate && call->info.sender_tag == 0) { /* no message has tag 0 */
        note(run, " within the call, tells no message");
    } else if (call->status == UCS_OK) {
        note(run, " tag %lx length %zu", (unsigned long)call->info.sender_tag, call->info.length);
    }
    if (call->status == UCS_ERR_MESSAGE_TRUNCATED) {
        note(run, " edges %d", buffer_edges_whole(&run->buffer));
    } else {
        note(run, " bytes %016lx", (unsigned long)buffer_hash(&run->buffer));
    }
}
