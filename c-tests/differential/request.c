#include "request.h"

#include <stdlib.h>

static void ended(call_t *call, void *request, ucs_status_t status, ucp_tag_recv_info_t info)
{
    call->callbacks++;
    call->done = 1;
    call->status = status;
    call->info = info;
    if (call->attributes & FREE_IN_CALLBACK) {
        ucp_request_free(request);
        call->request = NULL;
    }
}

static void on_send(void *request, ucs_status_t status, void *user_data)
{
    ended(user_data, request, status, (ucp_tag_recv_info_t){0, 0});
}

static void on_tag(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *user_data)
{
    ended(user_data, request, status, *info);
}

static void on_length(void *request, ucs_status_t status, size_t length, void *user_data)
{
    ended(user_data, request, status, (ucp_tag_recv_info_t){0, length});
}

void old_send_callback(void *request, ucs_status_t status)
{
    old_request_t *old = request;

    old->callbacks++;
    old->status = status;
}

void old_tag_callback(void *request, ucs_status_t status, ucp_tag_recv_info_t *info)
{
    old_send_callback(request, status);
    ((old_request_t *)request)->info = *info;
}

void old_stream_callback(void *request, ucs_status_t status, size_t length)
{
    old_send_callback(request, status);
    ((old_request_t *)request)->info.length = length;
}

static void *make_room(call_t *call)
{
    call->room = malloc(world.request_size + 64 + 64);
    memset(call->room, 0x5a, world.request_size + 64 + 64);
    return (char *)call->room + (world.request_size + 63) / 64 * 64;
}

void call_open(call_t *call, ends_t ends, unsigned attributes, ucp_request_param_t *param, const buffer_t *buffer)
{
    memset(call, 0, sizeof(*call));
    memset(param, 0xa5, sizeof(*param)); /* what the mask does not name is not read */
    call->ends = ends;
    call->attributes = attributes;
    param->op_attr_mask = 0;
    if (buffer && (buffer->layout.kind != CONTIG || buffer->layout.a != 1)) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        param->datatype = buffer->datatype;
    }
    if (attributes & BY_CALLBACK) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
        param->user_data = call;
        if (ends == ENDS_SEND) {
            param->cb.send = on_send;
        } else if (ends == ENDS_TAG_RECV) {
            param->cb.recv = on_tag;
        } else if (ends == ENDS_STREAM_RECV) {
            param->cb.recv_stream = on_length;
        } else {
            param->cb.recv_am = on_length;
        }
    }
    if (attributes & USER_REQUEST) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        param->request = make_room(call);
    }
    if (attributes & WITH_MEMH) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
        param->memh = world.arena_memh;
    }
    if (attributes & WITH_MEMORY_TYPE) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        param->memory_type = UCS_MEMORY_TYPE_HOST;
    }
    if (ends != ENDS_SEND) {
        param->op_attr_mask |= UCP_OP_ATTR_FIELD_RECV_INFO;
        if (ends == ENDS_TAG_RECV) {
            param->recv_info.tag_info = &call->info;
        } else {
            param->recv_info.length = &call->info.length;
        }
    }
    param->op_attr_mask |= (attributes & NO_IMMEDIATE) ? UCP_OP_ATTR_FLAG_NO_IMM_CMPL : 0;
    param->op_attr_mask |= (attributes & FORCE_IMMEDIATE) ? UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL : 0;
    param->op_attr_mask |= (attributes & FAST) ? UCP_OP_ATTR_FLAG_FAST_CMPL : 0;
    param->op_attr_mask |= (attributes & MULTI_SEND) ? UCP_OP_ATTR_FLAG_MULTI_SEND : 0;
}

void call_open_old(call_t *call, ends_t ends)
{
    memset(call, 0, sizeof(*call));
    call->ends = ends;
    call->old = 1;
}

void *call_open_nbr(call_t *call, ends_t ends)
{
    memset(call, 0, sizeof(*call));
    call->ends = ends;
    call->attributes = USER_REQUEST;
    return make_room(call);
}

void call_posted(call_t *call, ucs_status_ptr_t returned)
{
    call->posted = 1;
    if (UCS_PTR_IS_PTR(returned)) {
        if (!(call->done && (call->attributes & FREE_IN_CALLBACK))) {
            call->request = returned;
        }
        return;
    }
    call->done = 1;
    call->immediate = 1;
    call->status = UCS_PTR_RAW_STATUS(returned);
}

int call_done(call_t *call)
{
    old_request_t *old = call->request;
    ucs_status_t status;

    if (!call->posted || call->done) {
        return call->done;
    }
    if (call->old) {
        if (old->callbacks) {
            call->callbacks = old->callbacks;
            call->status = old->status;
            call->info = old->info;
            call->done = 1;
        }
        return call->done;
    }
    if (call->attributes & BY_CALLBACK) {
        return call->done;
    }
    if (call->ends == ENDS_TAG_RECV) {
        status = ucp_tag_recv_request_test(call->request, &call->info);
    } else if (call->ends == ENDS_STREAM_RECV) {
        status = ucp_stream_recv_request_test(call->request, &call->info.length);
    } else {
        status = ucp_request_check_status(call->request);
    }
    call->done = status != UCS_INPROGRESS;
    call->status = status;
    return call->done;
}

void call_wait(call_t *call)
{
    while (!call_done(call)) {
        world_progress();
    }
}

void call_close(call_t *call)
{
    if (call->request && !(call->attributes & USER_REQUEST)) {
        if (call->old) {
            memset(call->request, 0, sizeof(old_request_t)); /* made once, used again */
        }
        ucp_request_free(call->request);
    }
    free(call->room);
    memset(call, 0, sizeof(*call));
}

const char *call_callbacks(const call_t *call)
{
    int expected = !call->immediate && (call->old || (call->attributes & BY_CALLBACK));

    if ((call->attributes & NO_IMMEDIATE) && call->immediate && call->status == UCS_OK) {
        return "at once";
    }
    return call->callbacks == expected ? "ok" : "wrong";
}
