/* Copies of devices that are under way while something else happens: other messages are sent, receives are cancelled, endpoints
 * are closed by force, workers are destroyed, the driver fails. Messages keep their order, each operation ends, and when it has ended
 * the device does not use its memory any more, so that it may be freed. Transports are those of the environment.
 *
 *   under_way PART [stream]      bytes of a stream, not messages with tags
 *
 * Run by tests/cuda. */
#include "../failure.h"
#include "device_bytes.h"

enum { COUNT = 8, STEPS = 12, SENDER = 0, RECEIVER = 1 };

static side_t one, two;
static ucp_ep_h ep, back;
static failure_t lost, lost_back;
static char *from[COUNT], *to[COUNT];
static ucs_status_ptr_t sends[COUNT], receives[COUNT];
static int seen[COUNT]; /* what a receive has got */
static int by_stream;

/* Of both sides of thresholds, and what one area of shared memory has no room for together. */
static const size_t lengths[COUNT] = {LONGEST, 8, 64 << 10, LONGEST, 300 << 10, 1000, 16 << 10, LONGEST};

static void open_sides(void)
{
    int i;

    side_open(&one, UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    side_open(&two, UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    ep = connect_watched(&one, two.address, &lost);
    back = connect_watched(&two, one.address, &lost_back);
    for (i = 0; i < COUNT; ++i) {
        from[i] = at(device_memory(LONGEST));
        to[i] = at(device_memory(LONGEST));
        write_memory(from[i], i, LONGEST);
        write_memory(to[i], 100, LONGEST);
        seen[i] = 0;
    }
}

static void free_memory(void)
{
    int i;

    for (i = 0; i < COUNT; ++i) {
        CHECK_EQ(cuMemFree_v2((uintptr_t)from[i]), 0);
        CHECK_EQ(cuMemFree_v2((uintptr_t)to[i]), 0);
    }
}

static void progress(int times)
{
    while (times-- > 0) {
        ucp_worker_progress(one.worker);
        ucp_worker_progress(two.worker);
    }
}

static void post(int i, int tag)
{
    static const ucp_request_param_t none;
    static const ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                            .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    size_t length;

    if (by_stream) {
        receives[i] = ucp_stream_recv_nbx(back, to[i], lengths[i], &length, &all);
        sends[i] = ucp_stream_send_nbx(ep, from[i], lengths[i], &none);
        return;
    }
    receives[i] = ucp_tag_recv_nbx(two.worker, to[i], LONGEST, tag, -1, &none);
    sends[i] = ucp_tag_send_nbx(ep, from[i], lengths[i], tag, &none);
}

/* What has ended is left alone from now on: the memory of a send gets other bytes and is freed, that of a receive does not
 * change any more. */
static void after_send(int i)
{
    if (from[i] && has_ended(sends[i])) {
        write_memory(from[i], 200, LONGEST);
        CHECK_EQ(cuMemFree_v2((uintptr_t)from[i]), 0);
        from[i] = NULL;
    }
}

static void check_receive(int i)
{
    if (seen[i]) {
        return;
    }
    seen[i] = 1;
    if (!UCS_PTR_IS_PTR(receives[i]) || ucp_request_check_status(receives[i]) == UCS_OK) {
        CHECK(holds(to[i], i, lengths[i]));
    }
    write_memory(to[i], 250, LONGEST);
}

static void end_requests(void)
{
    int i;

    for (i = 0; i < COUNT; ++i) {
        drop(sends[i]);
        drop(receives[i]);
    }
}

/* ---- the order of messages ---- */

static void order(void)
{
    int i, round;

    for (round = 0; round < 10; ++round) {
        for (i = 0; i < COUNT; ++i) {
            post(i, 1);
        }
        for (i = 0; i < COUNT; ++i) {
            CHECK_OK(side_wait(&one, &two, sends[i]));
            CHECK_OK(side_wait(&one, &two, receives[i]));
            CHECK(holds(to[i], i, lengths[i]));
            write_memory(to[i], 100, LONGEST);
        }
    }
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    CHECK_OK(side_disconnect(&two, &one, back, 0));
    side_close(&one);
    side_close(&two);
}

/* Messages that nobody has asked for fill the shared memory: a longer one, which goes there part by part, comes all the same. */
static void full(void)
{
    enum { FILLERS = 40 };
    static const ucp_request_param_t none;
    static ucs_status_ptr_t fillers[FILLERS];
    int i, round;

    for (round = 0; round < 3; ++round) {
        for (i = 0; i < FILLERS; ++i) {
            fillers[i] = ucp_tag_send_nbx(ep, from[1], 1 << 20, 100 + i, &none);
        }
        post(0, 1);
        CHECK_OK(side_wait(&one, &two, receives[0]));
        CHECK_OK(side_wait(&one, &two, sends[0]));
        CHECK(holds(to[0], 0, lengths[0]));
        write_memory(to[0], 100, LONGEST);
        for (i = 0; i < FILLERS; ++i) {
            CHECK_OK(side_wait(&one, &two, ucp_tag_recv_nbx(two.worker, to[1], LONGEST, 100 + i, -1, &none)));
            CHECK_OK(side_wait(&one, &two, fillers[i]));
            CHECK(holds(to[1], 1, 1 << 20));
            write_memory(to[1], 100, LONGEST);
        }
    }
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    CHECK_OK(side_disconnect(&two, &one, back, 0));
    side_close(&one);
    side_close(&two);
}

/* A close waits for what is under way. */
static void closed_in_peace(void)
{
    static const ucp_request_param_t none;
    ucs_status_ptr_t close;
    int i;

    for (i = 0; i < COUNT; ++i) {
        post(i, i);
    }
    close = ucp_ep_close_nbx(ep, &none);
    for (i = 0; i < COUNT; ++i) {
        CHECK_OK(side_wait(&one, &two, sends[i]));
        CHECK_OK(side_wait(&one, &two, receives[i]));
        CHECK(holds(to[i], i, lengths[i]));
    }
    CHECK_OK(side_wait(&one, &two, close));
    CHECK_OK(side_disconnect(&two, &one, back, 0));
    side_close(&one);
    side_close(&two);
}

/* ---- the end of one side ---- */

/* After so many steps a side ends: by the close of its endpoint, or of its worker. */
static void ended_after(int steps, int who, int with_worker)
{
    ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    side_t *side = who == SENDER ? &one : &two, *other = who == SENDER ? &two : &one;
    ucp_ep_h *its = who == SENDER ? &ep : &back, *others = who == SENDER ? &back : &ep;
    ucs_status_ptr_t close;
    int i;

    for (i = 0; i < COUNT; ++i) {
        post(i, i);
    }
    progress(steps);
    if (with_worker) {
        /* The requests of that side end in it, without a flush. */
        side_close(side);
        for (i = 0; i < COUNT; ++i) {
            if (who == SENDER) {
                write_memory(from[i], 200, LONGEST);
                CHECK_EQ(cuMemFree_v2((uintptr_t)from[i]), 0);
                from[i] = NULL;
            } else {
                write_memory(to[i], 250, LONGEST);
            }
        }
    } else {
        close = ucp_ep_close_nbx(*its, &by_force);
        for (i = 0; i < COUNT; ++i) {
            after_send(i);
        }
        CHECK_OK(side_wait(&one, &two, close));
        for (i = 0; i < COUNT; ++i) {
            if (who == RECEIVER && has_ended(receives[i])) {
                check_receive(i);
            }
        }
    }
    /* What waits at the other side ends by itself, or is taken back. */
    for (i = 0; i < 3000; ++i) {
        if (!with_worker) {
            progress(1);
        } else {
            ucp_worker_progress(other->worker);
        }
    }
    for (i = 0; i < COUNT; ++i) {
        if (!with_worker || who == SENDER) {
            if (!has_ended(receives[i])) {
                ucp_request_cancel(two.worker, receives[i]);
                DRIVE_UNTIL(with_worker ? other : side, other, has_ended(receives[i]));
            }
        }
    }
    close = ucp_ep_close_nbx(*others, &by_force);
    CHECK_OK(request_wait(other->worker, with_worker ? other->worker : side->worker, close));
    for (i = 0; i < COUNT; ++i) {
        if (!with_worker || who == SENDER) {
            CHECK(has_ended(receives[i]));
            check_receive(i);
        }
        if (!with_worker || who == RECEIVER) {
            CHECK(has_ended(sends[i]));
            after_send(i);
        }
    }
    for (i = 0; i < 100; ++i) {
        if (!with_worker) {
            progress(1);
        } else {
            ucp_worker_progress(other->worker);
        }
    }
    for (i = 0; i < COUNT; ++i) {
        CHECK(holds(to[i], 250, LONGEST));
    }
    if (!with_worker) {
        end_requests();
        side_close(side);
    } else {
        for (i = 0; i < COUNT; ++i) {
            drop(who == SENDER ? receives[i] : sends[i]);
        }
    }
    side_close(other);
    for (i = 0; i < COUNT; ++i) {
        if (from[i]) {
            CHECK_EQ(cuMemFree_v2((uintptr_t)from[i]), 0);
        }
        CHECK(holds(to[i], 250, LONGEST));
        CHECK_EQ(cuMemFree_v2((uintptr_t)to[i]), 0);
    }
}

static void ends(int who, int with_worker)
{
    int steps;

    for (steps = 0; steps < STEPS; ++steps) {
        /* Where it fails, or hangs. */
        printf("# %d steps\n", steps);
        fflush(stdout);
        open_sides();
        ended_after(steps, who, with_worker);
    }
}

/* ---- receives that are taken back ---- */

static void cancelled(void)
{
    ucs_status_t status;
    int i, steps;

    for (steps = 0; steps < STEPS; ++steps) {
        for (i = 0; i < COUNT; ++i) {
            post(i, i);
        }
        progress(steps);
        for (i = 0; i < COUNT; ++i) {
            if (UCS_PTR_IS_PTR(receives[i])) {
                ucp_request_cancel(two.worker, receives[i]);
            }
        }
        for (i = 0; i < COUNT; ++i) {
            status = side_wait(&one, &two, receives[i]);
            CHECK(status == UCS_OK || status == UCS_ERR_CANCELED);
            if (status == UCS_OK) {
                CHECK(holds(to[i], i, lengths[i]));
            } else {
                /* Nothing has matched it: the message is taken by another. */
                CHECK(holds(to[i], 100, LONGEST));
                static const ucp_request_param_t none;
                CHECK_OK(side_wait(&one, &two, ucp_tag_recv_nbx(two.worker, to[i], LONGEST, i, -1, &none)));
                CHECK(holds(to[i], i, lengths[i]));
            }
            CHECK_OK(side_wait(&one, &two, sends[i]));
            write_memory(to[i], 100, LONGEST);
        }
    }
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    CHECK_OK(side_disconnect(&two, &one, back, 0));
    side_close(&one);
    side_close(&two);
}

/* The bytes of a receive on a stream that is taken back may be lost: nothing comes after it here. */
static void cancelled_stream(void)
{
    ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    int steps, came = 0, cancelled = 0;
    ucs_status_t status;

    for (steps = 0; steps < 6 * STEPS; ++steps) {
        open_sides();
        post(3, 0);
        progress(steps * 40);
        if (UCS_PTR_IS_PTR(receives[3])) {
            ucp_request_cancel(two.worker, receives[3]);
        }
        status = side_wait(&one, &two, receives[3]);
        CHECK(status == UCS_OK || status == UCS_ERR_CANCELED);
        came += status == UCS_OK;
        cancelled += status == UCS_ERR_CANCELED;
        CHECK(status != UCS_OK || holds(to[3], 3, lengths[3]));
        write_memory(to[3], 250, LONGEST);
        CHECK_OK(side_wait(&one, &two, ucp_ep_close_nbx(ep, &by_force)));
        CHECK_OK(side_wait(&one, &two, ucp_ep_close_nbx(back, &by_force)));
        progress(30);
        CHECK(has_ended(sends[3]));
        drop(sends[3]);
        CHECK(holds(to[3], 250, LONGEST));
        side_close(&one);
        side_close(&two);
        free_memory();
    }
    printf("# %d came, %d were cancelled\n", came, cancelled);
    CHECK(cancelled > 0 && came > 0);
}

/* ---- active messages that a handler keeps ---- */

static struct {
    void *data;
    size_t length;
} kept[COUNT];

static ucs_status_t keep(void *arg, const void *header, size_t header_length, void *data, size_t length,
                         const ucp_am_recv_param_t *param)
{
    int i;

    CHECK_EQ(header_length, sizeof(i));
    memcpy(&i, header, sizeof(i));
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA);
    kept[i].data = data;
    kept[i].length = length;
    return UCS_INPROGRESS;
}

static void kept_messages(void)
{
    static const ucp_request_param_t none;
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                      .id = 7,
                                      .cb = keep,
                                      .flags = UCP_AM_FLAG_PERSISTENT_DATA};
    ucp_request_param_t eager = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_EAGER};
    int i, late = 0;

    CHECK_OK(ucp_worker_set_am_recv_handler(two.worker, &handler));
    for (i = 0; i < COUNT; ++i) {
        sends[i] = ucp_am_send_nbx(ep, 7, &i, sizeof(i), from[i], lengths[i], &eager);
        CHECK_OK(side_wait(&one, &two, sends[i]));
    }
    for (i = 0; i < COUNT; ++i) {
        DRIVE_UNTIL(&one, &two, kept[i].data);
        CHECK_EQ(kept[i].length, lengths[i]);
        receives[i] = ucp_am_recv_data_nbx(two.worker, kept[i].data, to[i], lengths[i], &none);
        late += UCS_PTR_IS_PTR(receives[i]) && !has_ended(receives[i]);
    }
    CHECK(late > 0);
    for (i = 0; i < COUNT; ++i) {
        CHECK_OK(side_wait(&one, &two, receives[i]));
        CHECK(holds(to[i], i, lengths[i]));
    }
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    CHECK_OK(side_disconnect(&two, &one, back, 0));
    side_close(&one);
    side_close(&two);
}

/* ---- errors of the driver, which FAKE_CUDA names ---- */

/* Some operations fail, those of others come through: nothing hangs, and no bytes are wrong. */
static void errors(void)
{
    ucs_status_t sent, got;
    int i, round, failed = 0;

    for (round = 0; round < 3; ++round) {
        for (i = 0; i < COUNT; ++i) {
            post(i, 1 + i + round * COUNT);
        }
        for (i = 0; i < COUNT; ++i) {
            sent = side_wait(&one, &two, sends[i]);
            if (sent != UCS_OK && !has_ended(receives[i])) {
                ucp_request_cancel(two.worker, receives[i]);
            }
            got = side_wait(&one, &two, receives[i]);
            failed += sent != UCS_OK || got != UCS_OK;
            CHECK(got != UCS_OK || holds(to[i], i, lengths[i]));
            write_memory(to[i], 100, LONGEST);
        }
    }
    printf("# %d of %d messages failed\n", failed, 3 * COUNT);
    CHECK(failed <= 2);
    CHECK_EQ(lost.calls + lost_back.calls, 0);
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    CHECK_OK(side_disconnect(&two, &one, back, 0));
    side_close(&one);
    side_close(&two);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";

    alarm(100);
    use_device(0);
    by_stream = argc > 2 && !strcmp(argv[2], "stream");
    if (!strcmp(part, "order")) {
        open_sides();
        order();
    } else if (!strcmp(part, "full")) {
        open_sides();
        full();
    } else if (!strcmp(part, "close")) {
        open_sides();
        closed_in_peace();
    } else if (!strcmp(part, "cancel")) {
        if (by_stream) {
            cancelled_stream();
        } else {
            open_sides();
            cancelled();
        }
    } else if (!strcmp(part, "kept")) {
        open_sides();
        kept_messages();
    } else if (!strcmp(part, "errors")) {
        open_sides();
        errors();
    } else if (!strcmp(part, "sender-closed")) {
        ends(SENDER, 0);
    } else if (!strcmp(part, "receiver-closed")) {
        ends(RECEIVER, 0);
    } else if (!strcmp(part, "sender-destroyed")) {
        ends(SENDER, 1);
    } else if (!strcmp(part, "receiver-destroyed")) {
        ends(RECEIVER, 1);
    } else {
        FAIL("no part of this name: %s", part);
    }
    printf("ok under_way %s\n", part);
    return 0;
}
