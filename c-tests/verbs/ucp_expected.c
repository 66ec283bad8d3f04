/* Which transport carries messages where so many endpoints are expected: rc_verbs up to its MAX_NUM_EPS, beyond that
 * ud_verbs, which has no connection of the device's for each. Two contexts of one process, which the stand-in for libibverbs
 * connects. The arguments are the number and the transport. Run by tests/verbs with UCX_TLS=ib. */
#include "peers.h"

#include <stdlib.h>

enum { LONGEST = 300000 };

static const ucp_request_param_t plain;
static unsigned char from[LONGEST], to[LONGEST];

static void open_expecting(side_t *side, size_t count)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                           .features = UCP_FEATURE_TAG, .estimated_num_eps = count};
    ucp_worker_params_t single = {.field_mask = 0};

    CHECK_OK(ucp_init(&params, NULL, &side->context));
    CHECK_OK(ucp_worker_create(side->context, &single, &side->worker));
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
}

int main(int argc, char **argv)
{
    ucp_transport_entry_t entries[4];
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS, .transports = {entries, 4, sizeof(entries[0])}};
    static const size_t lengths[] = {8, LONGEST};
    side_t sides[2];
    ucp_ep_h ep;
    int i;

    CHECK_EQ(argc, 3);
    for (i = 0; i < 2; ++i) {
        open_expecting(&sides[i], atoi(argv[1]));
    }
    ep = side_connect(&sides[0], sides[1].address);
    for (i = 0; i < 2; ++i) {
        ucs_status_ptr_t sent, received;

        fill(from, lengths[i], i);
        sent = ucp_tag_send_nbx(ep, from, lengths[i], 1, &plain);
        received = ucp_tag_recv_nbx(sides[1].worker, to, LONGEST, 1, -1, &plain);
        CHECK_OK(side_wait(&sides[0], &sides[1], sent));
        CHECK_OK(side_wait(&sides[0], &sides[1], received));
        CHECK_EQ(wrong_at(to, lengths[i], i), lengths[i]);
    }
    CHECK_OK(ucp_ep_query(ep, &attr));
    for (i = 0; i < (int)attr.transports.num_entries; ++i) {
        CHECK_STR(entries[i].transport_name, argv[2]);
    }
    CHECK(attr.transports.num_entries > 0);
    CHECK_OK(side_disconnect(&sides[0], &sides[1], ep, 0));
    side_close(&sides[0]);
    side_close(&sides[1]);
    OK("%s endpoints are expected: %s", argv[1], argv[2]);
    return 0;
}
