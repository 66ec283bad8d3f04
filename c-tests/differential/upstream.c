/* What release 1.22.0 of upstream itself gets wrong: plans are drawn around it, so that the comparison has
 * something to compare with. With DIFFERENTIAL_ALL=1 nothing is avoided, for runs of our library alone; with
 * DIFFERENTIAL_RELEASE=MINOR also what release 1.MINOR gets wrong. */
#include "plan.h"

#include <ucp/api/ucp.h>

#include <stdlib.h>

/* Longer messages may take several fragments on some transport. */
enum { ONE_FRAGMENT = 2000 };

int plan_avoids(void)
{
    return !getenv("DIFFERENTIAL_ALL");
}

static int release(void)
{
    const char *minor = getenv("DIFFERENTIAL_RELEASE");

    return minor ? atoi(minor) : 22;
}

static int avoids_old(void)
{
    return release() < 16;
}

/* A stream send of several fragments that has to wait for room takes a lane that was never set, and writes to
 * whatever memory it finds there (`multi_lane_idx` under valgrind). */
size_t plan_stream_limit(void)
{
    return plan_avoids() ? ONE_FRAGMENT : MAX_LENGTH;
}

/* A message of a stream without bytes ends the old releases by a failed assertion. */
size_t plan_stream_length(size_t drawn)
{
    return avoids_old() && drawn == 0 ? 1 : drawn;
}

/* An empty receive of a stream, all of which is waited for, may never end, or end as truncated. */
unsigned plan_stream_pieces(unsigned drawn, size_t total)
{
    return plan_avoids() && drawn > total ? (unsigned)total : drawn;
}

static void avoid_tag_send(op_t *op, const config_t *config)
{
    int rndv = config->rndv_thresh && strtoul(config->rndv_thresh, NULL, 10) <= 512 && config->rndv_thresh[0] != 'i';

    /* A synchronous eager send of several fragments has the same mistake as that of a stream. */
    if (op->length > ONE_FRAGMENT && !rndv) {
        op->form = op->form == FORM_SYNC_NBX ? FORM_NBX : op->form == FORM_SYNC_NB ? FORM_NB : op->form;
    }
}

static void avoid_stream_receive(op_t *op)
{
    /* Without immediate completion, or into a request of the user's, it never ends when its bytes are there
     * already. (That its status is not set is seen to where it is noted.) */
    op->attributes &= ~(NO_IMMEDIATE | USER_REQUEST);
}

static void avoid_am(op_t *op)
{
    /* Without immediate completion, the count is taken for the length. */
    if (op->layout.kind != CONTIG || op->layout.a != 1) {
        op->attributes &= ~NO_IMMEDIATE;
    }
    /* The old releases send other bytes for a header that is to be copied, and end by a failed assertion when there
     * is less room than the message needs. */
    if (avoids_old()) {
        op->am.send_flags &= ~UCP_AM_SEND_FLAG_COPY_HEADER;
        op->am.truncate = 0;
    }
    /* From 1.14 to 1.21 a message of several fragments that is kept and received later ends the process by a signal. */
    if (release() >= 14 && release() < 22 && op->am.then == AM_LATER && op->length > ONE_FRAGMENT) {
        op->am.then = AM_TAKE;
    }
}

static void avoid_transfer(op_t *op, const config_t *config)
{
    /* The old releases count elements as bytes. */
    if (avoids_old()) {
        op->layout = (layout_t){CONTIG, 1, 0};
    }
    /* An empty put or get ends at once, asked not to or not; with a memory handle and a list it fails. */
    if (op->length == 0) {
        op->attributes &= ~(NO_IMMEDIATE | WITH_MEMH);
    }
    /* A put of an empty list over tcp writes eight bytes of an earlier one. */
    if (op->length == 0 && op->kind != GET && strstr(config->tls, "tcp")) {
        op->layout = (layout_t){CONTIG, 1, 0};
    }
    /* By the kernel's single copy, a list is copied with lengths that were never set. */
    if (op->layout.kind == VECTOR && (strstr(config->tls, "cma") || strstr(config->tls, "sm"))) {
        op->layout = (layout_t){CONTIG, 1, 0};
    }
}

void plan_avoid(op_t *op, const config_t *config)
{
    if (!plan_avoids()) {
        return;
    }
    switch (op->kind) {
    case TAG_SEND:
        avoid_tag_send(op, config);
        break;
    case STREAM_SEND:
        /* Short, contiguous and without immediate completion, it sends no bytes. */
        op->attributes &= ~NO_IMMEDIATE;
        break;
    case STREAM_RECV:
        avoid_stream_receive(op);
        break;
    case AM_SEND:
        avoid_am(op);
        break;
    case AMO:
    case AMO_SEQUENCE:
        /* One that ends at once gives the user's own request back to the library's pool. */
        op->attributes &= ~USER_REQUEST;
        break;
    case FENCE:
    case EP_FLUSH:
    case TAG_RECV:
        break;
    default:
        avoid_transfer(op, config);
    }
}
