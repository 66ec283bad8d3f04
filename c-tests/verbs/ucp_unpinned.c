/* Memory that is registered without pinning, where a device of the stand-in for libibverbs fetches pages on demand (odp=1):
 * by UCP_MEM_MAP_NONBLOCK, or all by UCX_REG_NONBLOCK_MEM_TYPES=host. Where it does not, all such memory is pinned, or with
 * UCX_REG_NONBLOCK_FALLBACK=n none. The data of puts, gets and long messages are right. Run by tests/verbs with
 * UCX_TLS=rc_verbs. */
#include "peers.h"
#include "stand_in.h"

enum { LENGTH = 1 << 20 };

static const ucp_request_param_t plain;
static side_t sides[2];
static unsigned char *from, *to;

/* Bytes that the call pins. */
static long pinned_by(unsigned flags, ucp_mem_h *memh)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                              UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .address = to, .length = LENGTH, .flags = flags};
    long before = *setting("pinned");

    CHECK_OK(ucp_mem_map(sides[1].context, &map, memh));
    return *setting("pinned") - before;
}

static void transfers(ucp_ep_h ep, ucp_mem_h memh)
{
    void *key, *sent, *received;
    ucp_rkey_h rkey;
    size_t length;

    CHECK_OK(ucp_rkey_pack(sides[1].context, memh, &key, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, key, &rkey));
    ucp_rkey_buffer_release(key);
    fill(from, LENGTH, 1);
    CHECK_OK(side_wait(&sides[0], &sides[1], ucp_put_nbx(ep, from, LENGTH, (uint64_t)to, rkey, &plain)));
    CHECK_OK(side_wait(&sides[0], &sides[1], ucp_ep_flush_nbx(ep, &plain)));
    CHECK_EQ(wrong_at(to, LENGTH, 1), LENGTH);
    fill(to, LENGTH, 2);
    CHECK_OK(side_wait(&sides[0], &sides[1], ucp_get_nbx(ep, from, LENGTH, (uint64_t)to, rkey, &plain)));
    CHECK_EQ(wrong_at(from, LENGTH, 2), LENGTH);
    ucp_rkey_destroy(rkey);
    fill(from, LENGTH, 3);
    sent = ucp_tag_send_nbx(ep, from, LENGTH, 1, &plain);
    received = ucp_tag_recv_nbx(sides[1].worker, to, LENGTH, 1, -1, &plain);
    CHECK_OK(side_wait(&sides[0], &sides[1], sent));
    CHECK_OK(side_wait(&sides[0], &sides[1], received));
    CHECK_EQ(wrong_at(to, LENGTH, 3), LENGTH);
}

int main(void)
{
    int all = getenv("UCX_REG_NONBLOCK_MEM_TYPES") != NULL, forbidden = getenv("UCX_REG_NONBLOCK_FALLBACK") && *getenv("UCX_REG_NONBLOCK_FALLBACK") == 'n';
    int fetches, none, i;
    unsigned flags[] = {0, UCP_MEM_MAP_NONBLOCK};
    ucp_mem_h memh;
    ucp_ep_h ep;
    long before;

    CHECK(!posix_memalign((void **)&from, 4096, LENGTH) && !posix_memalign((void **)&to, 4096, LENGTH));
    for (i = 0; i < 2; ++i) {
        side_open(&sides[i], ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    }
    ep = side_connect(&sides[0], sides[1].address);
    fetches = *setting("odp") == 1;
    none = all && (fetches || forbidden);
    for (i = 0; i < 2; ++i) {
        CHECK_EQ(pinned_by(flags[i], &memh), none || (fetches && flags[i]) ? 0 : LENGTH);
        before = *setting("pinned");
        /* Enough for pieces of the library's own buffers: who asks for more is counted. */
        *setting("max_reg") = none && !fetches ? 300000 : 0;
        transfers(ep, memh);
        CHECK_EQ(*setting("refused"), 0);
        if ((i == 0) && (!none || fetches)) {
            /* The transfers register their buffers, and interfaces pin some of their own. */
            CHECK_EQ(*setting("pinned") - before >= LENGTH, !none);
        }
        CHECK_OK(ucp_mem_unmap(sides[1].context, memh));
    }
    CHECK_OK(side_disconnect(&sides[0], &sides[1], ep, 0));
    side_close(&sides[0]);
    side_close(&sides[1]);
    CHECK_EQ(*setting("reads") > 0, !(none && !fetches));
    OK("%s, %s", fetches ? "pages on demand" : "a device that pins", all ? "for all memory" : "for what is mapped so");
    return 0;
}
