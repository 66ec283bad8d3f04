/* Shared by the tests of tag matching: an interface whose callbacks for unexpected messages record their arguments,
 * receives that record their callbacks, and payload that follows from a seed. */
#ifndef FERRUCX_TAG_H
#define FERRUCX_TAG_H

#include "bytes.h"
#include "transport.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int kernel_denied;

/* From here on the kernel lets this process at nobody's memory: other ways are taken. */
static inline void deny_kernel(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    kernel_denied = 1;
}

enum { HEADROOM = 40, MAX_KEPT = 4096 };

/* A message that no receive matched, put together from its fragments. */
typedef struct {
    uct_tag_t tag;
    uint64_t imm;
    unsigned char *data;
    size_t length;
    unsigned fragments;
    int whole;
} message_t;

typedef struct {
    transport_t t;
    const pair_t *pair;
    uct_ep_h ep;
    int sends, receives; /* which side this process is; both in loopback */
    int handles_failures; /* opened with an error handler, which counts */
    unsigned failures;
    int keep;            /* keep every descriptor until `release_kept` */
    void *kept[MAX_KEPT];
    unsigned num_kept;
    message_t messages[256];
    unsigned num_messages;
    /* The rendezvous that came last, and how many. */
    unsigned num_rndv;
    uct_tag_t rndv_tag;
    char rndv_header[2048];
    unsigned rndv_header_length;
    uint64_t rndv_addr;
    size_t rndv_length;
    int rndv_has_key;
} tag_side_t;

typedef struct receive receive_t;
struct receive {
    uct_tag_context_t ctx;
    tag_side_t *side;
    int consumed, completed, requested, at; /* `at`: the how many-th completion it was */
    uct_tag_t stag;
    uint64_t imm;
    size_t length;
    ucs_status_t status;
    void (*on_consumed)(receive_t *receive);
    char header[2048];
    unsigned header_length;
};

static int num_completed;

static inline void check_untouched(const void *buffer, size_t length)
{
    const unsigned char *bytes = buffer;
    size_t i;
    for (i = 0; i < length; ++i) {
        CHECK_EQ(bytes[i], 0xee);
    }
}

static inline void *room(size_t length)
{
    void *buffer = malloc(length + 1);
    CHECK(buffer != NULL);
    memset(buffer, 0xee, length + 1);
    return buffer;
}

static ucs_status_t on_eager(void *arg, void *data, size_t length, unsigned flags, uct_tag_t stag, uint64_t imm,
                             void **context)
{
    tag_side_t *side = arg;
    message_t *message;

    if (flags & UCT_CB_PARAM_FLAG_FIRST) {
        CHECK(side->num_messages < 256);
        CHECK(*context == NULL);
        message = &side->messages[side->num_messages++];
        memset(message, 0, sizeof(*message));
        message->tag = stag;
        message->imm = imm;
        if (flags & UCT_CB_PARAM_FLAG_MORE) {
            *context = message;
        }
    } else {
        message = *context;
        CHECK(message != NULL);
    }
    CHECK_EQ(message->tag, stag);
    CHECK_EQ(message->imm, imm);
    CHECK(!message->whole);
    message->data = realloc(message->data, message->length + length + 1);
    memcpy(message->data + message->length, data, length);
    message->length += length;
    message->fragments++;
    message->whole = !(flags & UCT_CB_PARAM_FLAG_MORE);
    if (side->keep && (flags & UCT_CB_PARAM_FLAG_DESC)) {
        CHECK(side->num_kept < MAX_KEPT);
        memset((char *)data - HEADROOM, 0x55, HEADROOM); /* ours to write */
        side->kept[side->num_kept++] = (char *)data - HEADROOM;
        return UCS_INPROGRESS;
    }
    return UCS_OK;
}

static ucs_status_t on_rndv(void *arg, unsigned flags, uint64_t stag, const void *header, unsigned header_length,
                            uint64_t remote_addr, size_t length, const void *rkey_buf)
{
    tag_side_t *side = arg;

    CHECK(header_length <= sizeof(side->rndv_header));
    memcpy(side->rndv_header, header, header_length);
    side->num_rndv++;
    side->rndv_tag = stag;
    side->rndv_header_length = header_length;
    side->rndv_addr = remote_addr;
    side->rndv_length = length;
    side->rndv_has_key = rkey_buf != NULL;
    if (side->keep && (flags & UCT_CB_PARAM_FLAG_DESC)) {
        CHECK(side->num_kept < MAX_KEPT);
        side->kept[side->num_kept++] = (char *)header - HEADROOM;
        return UCS_INPROGRESS;
    }
    return UCS_OK;
}

static inline void release_kept(tag_side_t *side)
{
    while (side->num_kept > 0) {
        uct_iface_release_desc(side->kept[--side->num_kept]);
    }
}

static inline void forget_messages(tag_side_t *side)
{
    while (side->num_messages > 0) {
        free(side->messages[--side->num_messages].data);
    }
}

static void on_consumed(uct_tag_context_t *self)
{
    receive_t *receive = (receive_t *)self;
    CHECK(!receive->completed);
    receive->consumed++;
    if (receive->on_consumed) {
        receive->on_consumed(receive);
    }
}

static void on_completed(uct_tag_context_t *self, uct_tag_t stag, uint64_t imm, size_t length, void *inline_data,
                         ucs_status_t status)
{
    receive_t *receive = (receive_t *)self;
    CHECK(!receive->completed);
    CHECK(inline_data == NULL);
    receive->completed++;
    receive->at = ++num_completed;
    receive->stag = stag;
    receive->imm = imm;
    receive->length = length;
    receive->status = status;
    memset(self->priv, 0x77, sizeof(self->priv)); /* nobody may need it any more */
}

static void on_requested(uct_tag_context_t *self, uct_tag_t stag, const void *header, unsigned header_length,
                         ucs_status_t status, unsigned flags)
{
    receive_t *receive = (receive_t *)self;
    CHECK_EQ(status, UCS_OK);
    CHECK(flags & UCT_TAG_RECV_CB_INLINE_DATA);
    CHECK(header_length <= sizeof(receive->header));
    receive->requested++;
    receive->stag = stag;
    receive->header_length = header_length;
    memcpy(receive->header, header, header_length);
}

static inline ucs_status_t post_iov(tag_side_t *side, receive_t *receive, uct_tag_t tag, uct_tag_t mask,
                                    const uct_iov_t *iov, size_t count)
{
    memset(receive, 0, sizeof(*receive));
    receive->side = side;
    receive->ctx.tag_consumed_cb = on_consumed;
    receive->ctx.completed_cb = on_completed;
    receive->ctx.rndv_cb = on_requested;
    memset(receive->ctx.priv, 0xcd, sizeof(receive->ctx.priv));
    return uct_iface_tag_recv_zcopy(side->t.iface, tag, mask, iov, count, &receive->ctx);
}

static inline uct_iov_t iov_of(void *buffer, size_t length)
{
    uct_iov_t iov;
    memset(&iov, 0, sizeof(iov));
    iov.buffer = buffer;
    iov.length = length;
    iov.count = 1;
    return iov;
}

static inline void post(tag_side_t *side, receive_t *receive, uct_tag_t tag, uct_tag_t mask, void *buffer, size_t length)
{
    uct_iov_t iov = iov_of(buffer, length);
    CHECK_OK(post_iov(side, receive, tag, mask, &iov, 1));
}

/* Waits for the other process, progressing. */
static inline void meet(tag_side_t *side)
{
    if (side->pair) {
        transport_meet(&side->t, side->pair);
    }
}

#define UNTIL(side, condition) PROGRESS_UNTIL(&(side)->t, condition)

typedef struct {
    uct_completion_t comp;
    int done;
} done_t;

static void on_done(uct_completion_t *self)
{
    ((done_t *)self)->done++;
}

static inline void done_init(done_t *done)
{
    memset(done, 0, sizeof(*done));
    done->comp.func = on_done;
    done->comp.count = 1;
    done->comp.status = UCS_OK;
}

typedef struct {
    const void *data;
    size_t length;
} packed_t;

static size_t pack(void *dest, void *arg)
{
    packed_t *packed = arg;
    memcpy(dest, packed->data, packed->length);
    return packed->length;
}

static inline void send_short(tag_side_t *side, uct_tag_t tag, const void *data, size_t length)
{
    ucs_status_t status;
    while ((status = uct_ep_tag_eager_short(side->ep, tag, data, length)) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(side->t.worker);
    }
    CHECK_EQ(status, UCS_OK);
}

static inline void send_bcopy(tag_side_t *side, uct_tag_t tag, uint64_t imm, const void *data, size_t length)
{
    packed_t packed = {data, length};
    ssize_t result;
    while ((result = uct_ep_tag_eager_bcopy(side->ep, tag, imm, pack, &packed, 0)) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(side->t.worker);
    }
    CHECK_EQ(result, length);
}

/* Starts; whether it goes on is in `done`. */
static inline void start_zcopy(tag_side_t *side, uct_tag_t tag, uint64_t imm, const uct_iov_t *iov, size_t count,
                               done_t *done)
{
    ucs_status_t status;
    done_init(done);
    while ((status = uct_ep_tag_eager_zcopy(side->ep, tag, imm, iov, count, 0, &done->comp)) ==
           UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(side->t.worker);
    }
    CHECK((status == UCS_OK) || (status == UCS_INPROGRESS));
    if (status == UCS_OK) {
        CHECK(!done->done);
        done->done = 1;
    }
}

static inline void send_zcopy(tag_side_t *side, uct_tag_t tag, uint64_t imm, void *data, size_t length)
{
    uct_iov_t iov = iov_of(data, length);
    done_t done;
    start_zcopy(side, tag, imm, &iov, 1, &done);
    UNTIL(side, done.done);
    CHECK_EQ(done.comp.status, UCS_OK);
}

static inline void *start_rndv(tag_side_t *side, uct_tag_t tag, const void *header, unsigned header_length,
                               const uct_iov_t *iov, done_t *done)
{
    ucs_status_ptr_t op;
    done_init(done);
    for (;;) {
        op = uct_ep_tag_rndv_zcopy(side->ep, tag, header, header_length, iov, 1, 0, &done->comp);
        if (UCS_PTR_STATUS(op) != UCS_ERR_NO_RESOURCE) {
            break;
        }
        uct_worker_progress(side->t.worker);
    }
    CHECK(UCS_PTR_IS_PTR(op));
    CHECK(!done->done);
    return op;
}

static ucs_status_t on_ep_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    ((tag_side_t *)arg)->failures++;
    return UCS_OK;
}

static void tag_prepare(uct_iface_params_t *params, void *arg)
{
    tag_side_t *side = arg;

    if (side->handles_failures) {
        params->field_mask |= UCT_IFACE_PARAM_FIELD_ERR_HANDLER | UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG;
        params->err_handler = on_ep_failure;
        params->err_handler_arg = arg;
    }
    params->field_mask |= UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB | UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG |
                          UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB | UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG;
    params->eager_cb = on_eager;
    params->eager_arg = arg;
    params->rndv_cb = on_rndv;
    params->rndv_arg = arg;
}

static inline void side_open_as(tag_side_t *side, const char *name, const char *device, const pair_t *pair,
                                int handles_failures)
{
    memset(side, 0, sizeof(*side));
    side->handles_failures = handles_failures;
    side->pair = pair;
    side->sends = !pair || !pair_is_child(pair);
    side->receives = !pair || pair_is_child(pair);
    transport_open_prepared(&side->t, name, device, HEADROOM, tag_prepare, side);
    CHECK(side->t.attr.cap.flags & UCT_IFACE_FLAG_TAG_EAGER_SHORT);
    CHECK(side->t.attr.cap.flags & UCT_IFACE_FLAG_TAG_EAGER_BCOPY);
    CHECK(side->t.attr.cap.flags & UCT_IFACE_FLAG_TAG_EAGER_ZCOPY);
    CHECK(side->t.attr.cap.flags & UCT_IFACE_FLAG_TAG_RNDV_ZCOPY);
    side->ep = transport_connect(&side->t, pair);
    meet(side);
}

static inline void tag_side_open(tag_side_t *side, const char *name, const char *device, const pair_t *pair)
{
    side_open_as(side, name, device, pair, 0);
}

/* All that was sent has left. */
static inline void side_flush(tag_side_t *side)
{
    while (uct_iface_flush(side->t.iface, 0, NULL) != UCS_OK) {
        uct_worker_progress(side->t.worker);
    }
}

static inline void tag_side_close(tag_side_t *side)
{
    side_flush(side);
    meet(side);
    release_kept(side);
    forget_messages(side);
    uct_ep_destroy(side->ep);
    transport_close(&side->t);
}

/* Runs `test` within one interface and between two processes. */
static inline void tag_run(const char *name, const char *device, void (*test)(tag_side_t *side), int alone)
{
    static tag_side_t side;
    pair_t pair;

    if (alone) {
        tag_side_open(&side, name, device, NULL);
        test(&side);
        tag_side_close(&side);
        OK("%s: one interface", name);
    }
    if (strcmp(name, "self")) {
        pair = pair_start();
        tag_side_open(&side, name, device, &pair);
        test(&side);
        tag_side_close(&side);
        pair_finish(&pair);
        OK("%s: two processes", name);
    }
}

static inline void tag_run_all(void (*test)(tag_side_t *side))
{
    tag_run("self", NULL, test, 1);
    tag_run("posix", NULL, test, 1);
    tag_run("sysv", NULL, test, 1);
    tag_run("tcp", "lo", test, 1);
}

#endif
