/* Eager tagged messages: matched by tag and mask in the order of posting, of every kind and length, with immediate
 * data; those that are too long write nothing; unexpected ones arrive in fragments and descriptors. */
/* timeout: 60 */
#include "tag.h"

static void order(tag_side_t *side)
{
    receive_t exact[2], wild, high;
    uint64_t seeds[4] = {1, 2, 3, 4};
    char buffers[4][64];
    int i;

    if (side->receives) {
        /* The wildcard stands between two receives of the same tag. */
        post(side, &exact[0], 0x100000007, UINT64_MAX, buffers[0], 64);
        post(side, &wild, 0, 0, buffers[1], 64);
        post(side, &exact[1], 0x100000007, UINT64_MAX, buffers[2], 64);
        post(side, &high, 0x200000000, 0xffffffff00000000, buffers[3], 64);
    }
    meet(side);
    if (side->sends) {
        char data[64];
        const uct_tag_t tags[4] = {0x100000007, 0x2000000ff, 0x100000007, 0x2000000ff};
        for (i = 0; i < 4; ++i) {
            fill(data, sizeof(data), seeds[i]);
            send_short(side, tags[i], data, sizeof(data));
        }
    }
    if (side->receives) {
        receive_t *all[4] = {&exact[0], &wild, &exact[1], &high};
        for (i = 0; i < 4; ++i) {
            UNTIL(side, all[i]->completed);
            CHECK_EQ(all[i]->consumed, 1);
            CHECK_EQ(all[i]->status, UCS_OK);
            CHECK_EQ(all[i]->length, 64);
            CHECK_EQ(all[i]->imm, 0);
            CHECK_PATTERN(buffers[i], 64, seeds[i]);
        }
        CHECK(exact[0].at < wild.at && wild.at < exact[1].at && exact[1].at < high.at);
        CHECK_EQ(wild.stag, 0x2000000ff);
        CHECK_EQ(exact[1].stag, 0x100000007);
        CHECK_EQ(high.stag, 0x2000000ff);
        CHECK_EQ(side->num_messages, 0);
    }
    meet(side);
}

typedef enum { SHORT, BCOPY, ZCOPY, KINDS } kind_t;

static size_t limit_of(tag_side_t *side, kind_t kind)
{
    size_t limits[KINDS] = {side->t.attr.cap.tag.eager.max_short, side->t.attr.cap.tag.eager.max_bcopy,
                            side->t.attr.cap.tag.eager.max_zcopy};
    return limits[kind];
}

static void send_kind(tag_side_t *side, kind_t kind, uct_tag_t tag, uint64_t imm, void *data, size_t length)
{
    if (kind == SHORT) {
        send_short(side, tag, data, length);
    } else if (kind == BCOPY) {
        send_bcopy(side, tag, imm, data, length);
    } else {
        send_zcopy(side, tag, imm, data, length);
    }
}

/* Lengths around the kind's limit and around the transport's own messages. */
static unsigned lengths_of(tag_side_t *side, kind_t kind, size_t *lengths)
{
    size_t limit = limit_of(side, kind);
    size_t wanted[] = {0, 1, 8, 63, 100, limit / 2, limit - 1, limit, side->t.attr.cap.am.max_bcopy,
                       side->t.attr.cap.am.max_bcopy - 32, side->t.attr.cap.am.max_bcopy - 31,
                       3 * side->t.attr.cap.am.max_bcopy, side->t.attr.cap.am.max_zcopy};
    unsigned i, n = 0;
    for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); ++i) {
        if (wanted[i] <= limit) {
            lengths[n++] = wanted[i];
        }
    }
    return n;
}

static void lengths(tag_side_t *side)
{
    size_t list[16];
    unsigned n, i;
    int kind;

    CHECK_EQ(side->t.attr.cap.tag.recv.min_recv, 0);
    for (kind = 0; kind < KINDS; ++kind) {
        n = lengths_of(side, kind, list);
        CHECK(n > 3);
        for (i = 0; i < n; ++i) {
            size_t length = list[i];
            uint64_t seed = kind * 100 + i, imm = kind == SHORT ? 0 : 0xabcdef0123456789 + i;
            unsigned char *buffer = room(length), *data = room(length);
            receive_t receive;
            uct_iov_t iov[3];

            if (side->receives) {
                /* Three parts, one of them of every second byte place. */
                size_t third = length / 3;
                iov[0] = iov_of(buffer, third);
                iov[1] = iov_of(buffer + third, third);
                iov[2] = iov_of(buffer + 2 * third, length - 2 * third);
                CHECK_OK(post_iov(side, &receive, 77, UINT64_MAX, iov, 3));
                memset(iov, 0, sizeof(iov));
            }
            meet(side);
            if (side->sends) {
                fill(data, length, seed);
                send_kind(side, kind, 77, imm, data, length);
            }
            if (side->receives) {
                UNTIL(side, receive.completed);
                CHECK_EQ(receive.status, UCS_OK);
                CHECK_EQ(receive.consumed, 1);
                CHECK_EQ(receive.length, length);
                CHECK_EQ(receive.imm, imm);
                CHECK_EQ(receive.stag, 77);
                CHECK_PATTERN(buffer, length, seed);
                CHECK_EQ(buffer[length], 0xee);
                CHECK_EQ(side->num_messages, 0);
            }
            meet(side);
            free(data);
            free(buffer);
        }
    }
}

static void truncated(tag_side_t *side)
{
    int kind;

    for (kind = 0; kind < KINDS; ++kind) {
        size_t length = limit_of(side, kind);
        unsigned char *data = room(length), *buffer = room(length);
        receive_t small, next;

        if (side->receives) {
            post(side, &small, 5, UINT64_MAX, buffer, length - 1);
            post(side, &next, 6, UINT64_MAX, buffer, length);
        }
        meet(side);
        if (side->sends) {
            fill(data, length, 9);
            send_kind(side, kind, 5, 1, data, length);
        }
        if (side->receives) {
            UNTIL(side, small.completed);
            CHECK_EQ(small.status, UCS_ERR_MESSAGE_TRUNCATED);
            CHECK_EQ(small.consumed, 1);
            check_untouched(buffer, length);
        }
        meet(side);
        if (side->sends) {
            send_kind(side, kind, 6, 1, data, length);
        }
        if (side->receives) {
            /* What came behind the too long message is whole. */
            UNTIL(side, next.completed);
            CHECK_EQ(next.status, UCS_OK);
            CHECK_PATTERN(buffer, length, 9);
            CHECK_EQ(side->num_messages, 0);
        }
        meet(side);
        free(data);
        free(buffer);
    }
}

static void unexpected(tag_side_t *side)
{
    size_t list[16];
    unsigned n, i;
    int kind, keep;

    for (keep = 0; keep < 2; ++keep) {
        side->keep = keep;
        meet(side);
        for (kind = 0; kind < KINDS; ++kind) {
            n = lengths_of(side, kind, list);
            for (i = 0; i < n; ++i) {
                size_t length = list[i];
                uint64_t imm = kind == SHORT ? 0 : 99 + i;
                unsigned char *data = room(length);

                if (side->sends) {
                    fill(data, length, i);
                    send_kind(side, kind, 1000 + i, imm, data, length);
                }
                if (side->receives) {
                    message_t *message = &side->messages[0];
                    UNTIL(side, side->num_messages && message->whole);
                    CHECK_EQ(message->tag, 1000 + i);
                    CHECK_EQ(message->imm, imm);
                    CHECK_EQ(message->length, length);
                    CHECK_PATTERN(message->data, length, i);
                    if (length > side->t.attr.cap.am.max_bcopy) {
                        CHECK(message->fragments > 1);
                    }
                    CHECK_EQ(side->num_messages, 1);
                    if (keep) {
                        CHECK_EQ(side->num_kept, message->fragments);
                        /* A kept descriptor still has its data when others have come since. */
                        CHECK_PATTERN((char *)side->kept[0] + HEADROOM, length / message->fragments ? 1 : 0, i);
                    }
                    release_kept(side);
                    forget_messages(side);
                }
                meet(side);
                free(data);
            }
        }
    }
    side->keep = 0;
}

static void many_kept(tag_side_t *side)
{
    enum { COUNT = 200 };
    unsigned i;
    char data[48];

    side->keep = 1;
    meet(side);
    if (side->sends) {
        for (i = 0; i < COUNT; ++i) {
            fill(data, sizeof(data), i);
            send_bcopy(side, i, i, data, sizeof(data));
        }
    }
    if (side->receives) {
        UNTIL(side, side->num_messages == COUNT);
        CHECK_EQ(side->num_kept, COUNT);
        for (i = 0; i < COUNT; ++i) {
            CHECK_PATTERN((char *)side->kept[i] + HEADROOM, sizeof(data), i);
        }
        release_kept(side);
        forget_messages(side);
    }
    side->keep = 0;
    meet(side);
}

static void refused(tag_side_t *side)
{
    uct_iov_t iov[64];
    receive_t receive, *many;
    char byte[64] = {0};
    size_t i, max;
    done_t done;

    done_init(&done);
    for (i = 0; i < 64; ++i) {
        iov[i] = iov_of(byte + i, 1);
    }
    max = side->t.attr.cap.tag.recv.max_iov;
    CHECK(max < 64);
    CHECK_STATUS(post_iov(side, &receive, 1, 1, iov, max + 1), UCS_ERR_INVALID_PARAM);
    max = side->t.attr.cap.tag.eager.max_iov;
    CHECK_STATUS(uct_ep_tag_eager_zcopy(side->ep, 1, 0, iov, max + 1, 0, &done.comp), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_tag_eager_short(side->ep, 1, byte, side->t.attr.cap.tag.eager.max_short + 1),
                 UCS_ERR_INVALID_PARAM);
    iov[0] = iov_of(byte, side->t.attr.cap.tag.eager.max_zcopy + 1);
    CHECK_STATUS(uct_ep_tag_eager_zcopy(side->ep, 1, 0, iov, 1, 0, &done.comp), UCS_ERR_INVALID_PARAM);
    /* Ids of the library's own are none of the user's. */
    CHECK_STATUS(uct_ep_am_short(side->ep, UCT_AM_ID_MAX, 0, byte, 1), UCS_ERR_INVALID_PARAM);
    memset(&receive, 0, sizeof(receive));
    CHECK_STATUS(uct_iface_tag_recv_cancel(side->t.iface, &receive.ctx, 1), UCS_ERR_INVALID_PARAM);

    max = side->t.attr.cap.tag.recv.max_outstanding;
    many = calloc(max + 1, sizeof(*many));
    for (i = 0; i < max; ++i) {
        post(side, &many[i], i % 5 ? i : 0, i % 5 ? UINT64_MAX : i, byte, 1);
    }
    iov[0] = iov_of(byte, 1);
    CHECK_STATUS(post_iov(side, &many[max], 1, 1, iov, 1), UCS_ERR_EXCEEDS_LIMIT);
    for (i = 0; i < max; ++i) {
        CHECK_OK(uct_iface_tag_recv_cancel(side->t.iface, &many[i].ctx, i % 2));
    }
    UNTIL(side, many[max - 2].completed);
    for (i = 0; i < max; ++i) {
        CHECK_EQ(many[i].completed, !(i % 2));
        CHECK_EQ(many[i].status, many[i].completed ? UCS_ERR_CANCELED : UCS_OK);
        CHECK_EQ(many[i].consumed, 0);
    }
    post(side, &many[max], 1, 1, byte, 1);
    CHECK_OK(uct_iface_tag_recv_cancel(side->t.iface, &many[max].ctx, 1));
    free(many);
    meet(side);
}

static void test(tag_side_t *side)
{
    order(side);
    lengths(side);
    truncated(side);
    unexpected(side);
    many_kept(side);
    refused(side);
}

int main(void)
{
    tag_run_all(test);
    return 0;
}
