/* A call of UCX and its end, however it comes: at once, by a callback, or seen by polling; its request is the
 * library's or ours. Callbacks are counted: one that comes twice, or after an immediate end, shows. */
#ifndef FERRUCX_DIFFERENTIAL_REQUEST_H
#define FERRUCX_DIFFERENTIAL_REQUEST_H

#include "buffer.h"

typedef enum { ENDS_SEND, ENDS_TAG_RECV, ENDS_STREAM_RECV, ENDS_AM_RECV } ends_t;

typedef struct {
    ends_t ends;
    unsigned attributes;
    int old; /* a call of the old API: its callback writes into the request */
    int posted, done, immediate, callbacks;
    void *request;
    void *room; /* for a request of ours */
    ucs_status_t status;
    ucp_tag_recv_info_t info; /* receives; also `length` of streams and active messages */
} call_t;

/* What old-API callbacks leave in the request; `world_open` asks for 64 bytes and has them zeroed. */
typedef struct {
    unsigned callbacks;
    ucs_status_t status;
    ucp_tag_recv_info_t info;
} old_request_t;

/* Prepares the call and the parameters of a ..._nbx. `buffer` may be NULL. */
void call_open(call_t *call, ends_t ends, unsigned attributes, ucp_request_param_t *param, const buffer_t *buffer);
void call_open_old(call_t *call, ends_t ends);
/* Memory before which the old ..._nbr calls keep a request. */
void *call_open_nbr(call_t *call, ends_t ends);
/* Notes what the call returned. */
void call_posted(call_t *call, ucs_status_ptr_t returned);
/* Looks whether it ended. */
int call_done(call_t *call);
void call_wait(call_t *call);
void call_close(call_t *call);
/* "ok" when there were as many callbacks as should be. */
const char *call_callbacks(const call_t *call);

void old_send_callback(void *request, ucs_status_t status);
void old_tag_callback(void *request, ucs_status_t status, ucp_tag_recv_info_t *info);
void old_stream_callback(void *request, ucs_status_t status, size_t length);

#endif
