/* A process polls a word of its own memory with atomics to itself and never calls progress. It still serves its peers:
 * the peer that will change the word does so by a message, which needs a reply. Locks of OpenSHMEM wait like that. On
 * upstream this never ends. */
#include <ucp/api/ucp.h>

#include "peers.h"

typedef struct {
    uint64_t word;
    unsigned char key[256];
    size_t key_length;
} offer_t;

static const ucp_request_param_t plain;

/* Looks at the word by adding nothing to it. */
static void spin(ucp_ep_h self, ucp_rkey_h key, const uint64_t *word)
{
    uint64_t nothing = 0, seen = 0;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8),
                                 .reply_buffer = &seen};

    while (seen != 1) {
        CHECK(ucp_atomic_op_nbx(self, UCP_ATOMIC_OP_ADD, &nothing, 1, (uintptr_t)word, key, &param) == NULL);
    }
}

static void owner(const pair_t *pair, side_t *side)
{
    static uint64_t word;
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = &word,
                                   .length = sizeof(word)};
    offer_t offer = {.word = (uintptr_t)&word};
    ucp_ep_h self = side_connect(side, side->address);
    ucp_mem_h memory;
    ucp_rkey_h key;
    void *packed;

    CHECK_OK(ucp_mem_map(side->context, &params, &memory));
    CHECK_OK(ucp_rkey_pack(side->context, memory, &packed, &offer.key_length));
    CHECK(offer.key_length <= sizeof(offer.key));
    memcpy(offer.key, packed, offer.key_length);
    ucp_rkey_buffer_release(packed);
    CHECK_OK(ucp_ep_rkey_unpack(self, offer.key, &key));
    pair_send(pair, &offer, sizeof(offer));
    spin(self, key, &word);
    ucp_rkey_destroy(key);
    side_meet(side, pair);
    CHECK_OK(side_disconnect(side, side, self, 0));
    CHECK_OK(ucp_mem_unmap(side->context, memory));
}

static void guest(const pair_t *pair, side_t *side, const char *theirs)
{
    ucp_ep_h ep = side_connect(side, (const ucp_address_t *)theirs);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    uint64_t one = 1;
    offer_t offer;
    ucp_rkey_h key;

    pair_recv(pair, &offer, sizeof(offer));
    CHECK_OK(ucp_ep_rkey_unpack(ep, offer.key, &key));
    CHECK_OK(side_wait(side, side, ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, offer.word, key, &param)));
    CHECK_OK(side_wait(side, side, ucp_ep_flush_nbx(ep, &plain)));
    ucp_rkey_destroy(key);
    side_meet(side, pair);
    CHECK_OK(side_disconnect(side, side, ep, 0));
}

int main(void)
{
    char theirs[ADDRESS_ROOM];
    pair_t pair;
    side_t side;

    CHECK_EQ(setenv("UCX_TLS", "tcp,self", 1), 0);
    CHECK_EQ(setenv("UCX_NET_DEVICES", "lo", 1), 0);
    pair = pair_start();
    side_open(&side, UCP_FEATURE_RMA | UCP_FEATURE_AMO64, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    if (pair_is_child(&pair)) {
        guest(&pair, &side, theirs);
    } else {
        owner(&pair, &side);
    }
    side_close(&side);
    pair_finish(&pair);
    printf("ok\n");
    return 0;
}
