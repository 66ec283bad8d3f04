/* Rendezvous: data of every length reach the matching receive and complete both sides, by copies within the interface,
 * by the kernel, out of mapped memory and in fragments; also unexpected messages, requests, and cancellation, early
 * and late. */
/* timeout: 90 */
#include "tag.h"

static const char HEADER[] = "what the user says about it";

static void matched(tag_side_t *side)
{
    static const size_t list[] = {0, 1, 100, 8192, 100000, 3000001};
    unsigned i;

    CHECK(side->t.attr.cap.tag.rndv.max_hdr >= sizeof(HEADER));
    CHECK_EQ(side->t.attr.cap.tag.rndv.max_iov, 1);
    for (i = 0; i < sizeof(list) / sizeof(list[0]); ++i) {
        size_t length = list[i], half = length / 2;
        char *data = room(length), *buffer = room(length);
        receive_t receive;
        uct_iov_t iov[2];
        done_t done;

        if (side->receives) {
            iov[0] = iov_of(buffer, half);
            iov[1] = iov_of(buffer + half, length - half);
            CHECK_OK(post_iov(side, &receive, 0xff00, 0xff00, iov, 2));
        }
        meet(side);
        if (side->sends) {
            fill(data, length, i);
            iov[0] = iov_of(data, length);
            start_rndv(side, 0xff42, HEADER, sizeof(HEADER), iov, &done);
        }
        if (side->receives) {
            UNTIL(side, receive.completed);
            CHECK_EQ(receive.status, UCS_OK);
            CHECK_EQ(receive.consumed, 1);
            CHECK_EQ(receive.length, length);
            CHECK_EQ(receive.stag, 0xff42);
            CHECK_EQ(receive.imm, 0);
            CHECK_PATTERN(buffer, length, i);
            CHECK_EQ((unsigned char)buffer[length], 0xee);
        }
        if (side->sends) {
            UNTIL(side, done.done);
            CHECK_EQ(done.comp.status, UCS_OK);
            CHECK_EQ(done.comp.count, 0);
        }
        meet(side);
        CHECK_EQ(side->num_rndv, 0);
        free(data);
        free(buffer);
    }
}

/* Memory of the domain's own, whose key may map it at the other side. */
static void allocated(tag_side_t *side)
{
    enum { LENGTH = 300000 };
    uct_alloc_method_t method = UCT_ALLOC_METHOD_MD;
    uct_mem_alloc_params_t params;
    uct_allocated_memory_t memory;
    receive_t receive;
    uct_iov_t iov;
    done_t done;
    char *buffer = room(LENGTH);

    if (!(side->t.md_attr.cap.flags & UCT_MD_FLAG_ALLOC)) {
        free(buffer);
        return;
    }
    if (side->receives) {
        post(side, &receive, 3, UINT64_MAX, buffer, LENGTH);
    }
    meet(side);
    if (side->sends) {
        memset(&params, 0, sizeof(params));
        params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_MDS;
        params.flags = UCT_MD_MEM_ACCESS_ALL;
        params.mds.mds = &side->t.md;
        params.mds.count = 1;
        CHECK_OK(uct_mem_alloc(LENGTH, &method, 1, &params, &memory));
        fill(memory.address, LENGTH, 8);
        iov = iov_of((char *)memory.address, LENGTH);
        iov.memh = memory.memh;
        start_rndv(side, 3, NULL, 0, &iov, &done);
    }
    if (side->receives) {
        UNTIL(side, receive.completed);
        CHECK_EQ(receive.status, UCS_OK);
        CHECK_EQ(receive.consumed, 1);
        CHECK_PATTERN(buffer, LENGTH, 8);
    }
    if (side->sends) {
        UNTIL(side, done.done);
        CHECK_EQ(done.comp.status, UCS_OK);
    }
    meet(side);
    if (side->sends) {
        /* Nobody waits: the key goes to the user. */
        void *op = start_rndv(side, 4, "h", 1, &iov, &done);
        if (side->receives) {
            UNTIL(side, side->num_rndv == 1);
            CHECK(side->rndv_has_key);
        }
        meet(side);
        CHECK_OK(uct_ep_tag_rndv_cancel(side->ep, op));
        CHECK(!done.done);
        uct_mem_free(&memory);
    } else {
        UNTIL(side, side->num_rndv == 1);
        CHECK(side->rndv_has_key);
        CHECK_EQ(side->rndv_length, LENGTH);
        meet(side);
    }
    side->num_rndv = 0;
    meet(side);
    free(buffer);
}

static void unexpected(tag_side_t *side)
{
    enum { LENGTH = 50000 };
    char *data = room(LENGTH);
    uct_iov_t iov = iov_of(data, LENGTH);
    receive_t receive;
    uint64_t address = 0;
    char byte[4];
    done_t done;
    void *op = NULL;

    side->keep = 1;
    meet(side);
    if (side->sends) {
        op = start_rndv(side, 11, HEADER, sizeof(HEADER), &iov, &done);
        address = (uintptr_t)data;
    }
    if (side->receives) {
        UNTIL(side, side->num_rndv == 1);
        CHECK_EQ(side->rndv_tag, 11);
        CHECK_EQ(side->rndv_length, LENGTH);
        CHECK_EQ(side->rndv_header_length, sizeof(HEADER));
        CHECK_STR(side->rndv_header, HEADER);
        CHECK(side->rndv_addr != 0);
        if (side->sends) {
            CHECK_EQ(side->rndv_addr, address);
        }
        CHECK_EQ(side->num_kept, 1);
        CHECK_STR((char *)side->kept[0] + HEADROOM, HEADER);
        /* The offer is the user's now: a receive posted later gets the next message. */
        post(side, &receive, 11, UINT64_MAX, byte, sizeof(byte));
    }
    meet(side);
    if (side->sends) {
        CHECK_OK(uct_ep_tag_rndv_cancel(side->ep, op));
        CHECK_STATUS(uct_ep_tag_rndv_cancel(side->ep, op), UCS_ERR_INVALID_PARAM);
        send_short(side, 11, "abc", 4);
        CHECK(!done.done);
    }
    if (side->receives) {
        UNTIL(side, receive.completed);
        CHECK_EQ(receive.status, UCS_OK);
        CHECK_STR(byte, "abc");
        release_kept(side);
    }
    side->keep = 0;
    side->num_rndv = 0;
    meet(side);
    free(data);
}

static void truncated(tag_side_t *side)
{
    enum { LENGTH = 20000 };
    char *data = room(LENGTH), *buffer = room(LENGTH);
    uct_iov_t iov = iov_of(data, LENGTH);
    receive_t receive;
    done_t done;

    if (side->receives) {
        post(side, &receive, 12, UINT64_MAX, buffer, LENGTH - 1);
    }
    meet(side);
    if (side->sends) {
        memset(data, 1, LENGTH);
        start_rndv(side, 12, NULL, 0, &iov, &done);
    }
    if (side->receives) {
        UNTIL(side, receive.completed);
        CHECK_EQ(receive.status, UCS_ERR_MESSAGE_TRUNCATED);
        check_untouched(buffer, LENGTH);
    }
    if (side->sends) {
        UNTIL(side, done.done);
        CHECK_EQ(done.comp.status, UCS_OK);
    }
    meet(side);
    free(data);
    free(buffer);
}

static ucs_status_t request(tag_side_t *side, uct_tag_t tag, const void *header, unsigned length)
{
    ucs_status_t status;
    while ((status = uct_ep_tag_rndv_request(side->ep, tag, header, length, 0)) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(side->t.worker);
    }
    return status;
}

static void requests(tag_side_t *side)
{
    unsigned max = side->t.attr.cap.tag.rndv.max_hdr;
    char *header = room(max), buffer[8];
    receive_t receive;

    if (side->receives) {
        post(side, &receive, 20, UINT64_MAX, buffer, sizeof(buffer));
    }
    meet(side);
    if (side->sends) {
        fill(header, max, 5);
        CHECK_STATUS(request(side, 20, header, max + 1), UCS_ERR_INVALID_PARAM);
        CHECK_OK(request(side, 20, header, max));
        CHECK_OK(request(side, 21, header, max));
        CHECK_OK(request(side, 22, NULL, 0));
    }
    if (side->receives) {
        UNTIL(side, side->num_rndv == 2);
        CHECK_EQ(receive.requested, 1);
        CHECK_EQ(receive.consumed, 1);
        CHECK_EQ(receive.completed, 0);
        CHECK_EQ(receive.stag, 20);
        CHECK_EQ(receive.header_length, max);
        CHECK_PATTERN(receive.header, max, 5);
        CHECK_PATTERN(side->rndv_header, max, 5);
        CHECK_EQ(side->rndv_tag, 22);
        CHECK_EQ(side->rndv_header_length, 0);
        CHECK_EQ(side->rndv_addr, 0);
        CHECK_EQ(side->rndv_length, 0);
        CHECK(!side->rndv_has_key);
    }
    side->num_rndv = 0;
    meet(side);
    free(header);
}

/* The sender takes its offer back while it is on the way; the receive waits for the next message. */
static void withdrawn(tag_side_t *side)
{
    enum { LENGTH = 400000, ROUNDS = 20 };
    char *data = room(LENGTH), *buffer = room(LENGTH);
    uct_iov_t iov = iov_of(data, LENGTH);
    receive_t receive;
    done_t done;
    int i;

    if (side->pair == NULL) {
        free(data);
        free(buffer);
        return;
    }
    for (i = 0; i < ROUNDS; ++i) {
        if (side->receives) {
            post(side, &receive, 13, UINT64_MAX, buffer, LENGTH);
        }
        meet(side);
        if (side->sends) {
            void *op = NULL;
            int j;
            fill(data, LENGTH, 1);
            op = start_rndv(side, 13, NULL, 0, &iov, &done);
            for (j = 0; j < i * 3; ++j) {
                uct_worker_progress(side->t.worker);
            }
            if (!done.done) {
                CHECK_OK(uct_ep_tag_rndv_cancel(side->ep, op));
                memset(data, 0, LENGTH);
            }
            /* Whoever is still waiting gets this one. */
            send_short(side, 13, "next", 5);
            meet(side);
        } else {
            /* The next message may have come while the receive waited for data that do not come. */
            UNTIL(side, receive.completed || (side->num_messages == 1));
            if (receive.consumed) {
                UNTIL(side, receive.completed);
            }
            if (!receive.completed) {
                CHECK_OK(uct_iface_tag_recv_cancel(side->t.iface, &receive.ctx, 0));
                CHECK_EQ(side->messages[0].length, 5);
                UNTIL(side, receive.completed);
                CHECK_EQ(receive.status, UCS_ERR_CANCELED);
            }
            /* Whole, or nothing of it, or cut off by the sender: never another's data. */
            if (receive.status == UCS_ERR_CANCELED) {
                CHECK(receive.length < LENGTH);
            } else {
                CHECK_EQ(receive.status, UCS_OK);
                if (receive.length == 5) {
                    CHECK_STR(buffer, "next");
                } else {
                    CHECK_EQ(receive.length, LENGTH);
                    CHECK_PATTERN(buffer, LENGTH, 1);
                }
            }
            /* What is still on its way would be taken for the next round's. */
            if ((receive.status != UCS_OK) || (receive.length != 5)) {
                UNTIL(side, side->num_messages == 1);
            }
            meet(side);
        }
        forget_messages(side);
        meet(side);
    }
    side->num_rndv = 0;
    free(data);
    free(buffer);
}

static void cancel_self(receive_t *receive)
{
    CHECK_OK(uct_iface_tag_recv_cancel(receive->side->t.iface, &receive->ctx, 1));
}

/* The receiver takes its receive back while data come: the next receive gets them all, or the user hears of
 * the offer. */
static void cancelled(tag_side_t *side)
{
    enum { LENGTH = 5000000 };
    char *data = room(LENGTH), *first = room(LENGTH), *second = room(LENGTH);
    uct_iov_t iov = iov_of(data, LENGTH);
    receive_t one, two;
    done_t done;
    void *op = NULL;

    if ((side->pair == NULL) || !kernel_denied) {
        free(data);
        free(first);
        free(second);
        return;
    }
    if (side->receives) {
        post(side, &one, 14, UINT64_MAX, first, LENGTH);
        post(side, &two, 14, UINT64_MAX, second, LENGTH);
    }
    meet(side);
    if (side->sends) {
        fill(data, LENGTH, 2);
        start_rndv(side, 14, NULL, 0, &iov, &done);
        UNTIL(side, done.done);
        CHECK_EQ(done.comp.status, UCS_OK);
    } else {
        UNTIL(side, one.consumed);
        CHECK(!one.completed);
        CHECK_OK(uct_iface_tag_recv_cancel(side->t.iface, &one.ctx, 0));
        UNTIL(side, one.completed);
        CHECK_EQ(one.status, UCS_ERR_CANCELED);
        UNTIL(side, two.completed);
        CHECK_EQ(two.status, UCS_OK);
        CHECK_PATTERN(second, LENGTH, 2);
    }
    meet(side);
    if (side->receives) {
        post(side, &one, 15, UINT64_MAX, first, LENGTH);
        one.on_consumed = cancel_self;
    }
    meet(side);
    if (side->sends) {
        op = start_rndv(side, 15, HEADER, sizeof(HEADER), &iov, &done);
        meet(side);
        CHECK(!done.done);
        CHECK_OK(uct_ep_tag_rndv_cancel(side->ep, op));
    } else {
        UNTIL(side, side->num_rndv == 1);
        CHECK_EQ(one.consumed, 1);
        CHECK_EQ(one.completed, 0);
        CHECK_EQ(side->rndv_length, LENGTH);
        CHECK_STR(side->rndv_header, HEADER);
        meet(side);
        side->num_rndv = 0;
    }
    meet(side);
    free(data);
    free(first);
    free(second);
}

/* An endpoint that goes ends what was offered through it. */
static void destroyed(tag_side_t *side)
{
    char data[100];
    uct_iov_t iov = iov_of(data, sizeof(data));
    uct_ep_h ep = side->ep, second;
    done_t done;

    second = transport_connect(&side->t, side->pair);
    meet(side);
    if (side->sends) {
        side->ep = second;
        start_rndv(side, 16, NULL, 0, &iov, &done);
        side->ep = ep;
        CHECK(!done.done);
        uct_ep_destroy(second);
        CHECK_EQ(done.done, 1);
        CHECK_EQ(done.comp.status, UCS_ERR_CANCELED);
    } else {
        uct_ep_destroy(second);
    }
    if (!side->sends) {
        UNTIL(side, side->num_rndv == 1);
    }
    side->num_rndv = 0; /* within one interface it may have come before the endpoint went, or not at all */
    meet(side);
}

static void test(tag_side_t *side)
{
    matched(side);
    allocated(side);
    unexpected(side);
    truncated(side);
    requests(side);
    withdrawn(side);
    cancelled(side);
    destroyed(side);
}

int main(void)
{
    tag_run_all(test);
    deny_kernel();
    tag_run_all(test);
    return 0;
}
