/* Two RDMA devices: two contexts of one process, which the stand-in for libibverbs connects. Its counts of the bytes that each
 * device has moved tell which one is used; keys of one are none to the other. The arguments are the shares of 1000 that the second
 * device must have of a rendezvous, at least and at most, and of puts and gets. Run by tests/verbs with UCX_TLS=rc_verbs, speeds
 * of the second device and numbers of rails. */
#include "peers.h"
#include "stand_in.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 4 << 20 };

static const ucp_request_param_t plain;
static side_t origin, owner;
static ucp_ep_h ep, back;
static ucp_rkey_h rkey;
static unsigned char *from, *to;
static uint64_t seed;
static int least[2], most[2];

static void sent_and_received(void)
{
    ucs_status_ptr_t sent = ucp_tag_send_nbx(ep, from, LENGTH, 1, &plain);
    ucs_status_ptr_t received = ucp_tag_recv_nbx(owner.worker, to, LENGTH, 1, -1, &plain);

    CHECK_OK(side_wait(&origin, &owner, sent));
    CHECK_OK(side_wait(&origin, &owner, received));
}

static void put(void)
{
    CHECK_OK(side_wait(&origin, &owner, ucp_put_nbx(ep, from, LENGTH, (uintptr_t)to, rkey, &plain)));
    CHECK_OK(side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &plain)));
}

/* What is written is the origin's memory here. */
static void got(void)
{
    CHECK_OK(side_wait(&origin, &owner, ucp_get_nbx(ep, from, LENGTH, (uintptr_t)to, rkey, &plain)));
}

/* Time for connections that a transfer has asked for. */
static void rest(void)
{
    double until = now() + 0.05;

    while (now() < until) {
        ucp_worker_progress(origin.worker);
        ucp_worker_progress(owner.worker);
    }
}

/* Moves data several times; from the second time on each device has its share, as connections stand then. */
static void shared(const char *what, int kind, void (*move)(void), unsigned char *source, unsigned char *target)
{
    int i;

    for (i = 0; i < 3; ++i) {
        long before[] = {*setting("data0"), *setting("data1")}, bytes[2];

        fill(source, LENGTH, ++seed);
        memset(target, 0, LENGTH);
        move();
        CHECK_EQ(wrong_at(target, LENGTH, seed), LENGTH);
        bytes[0] = *setting("data0") - before[0];
        bytes[1] = *setting("data1") - before[1];
        CHECK(bytes[0] + bytes[1] >= LENGTH);
        if (i == 0) {
            rest();
        } else {
            long share = bytes[1] * 1000 / (bytes[0] + bytes[1]);

            if ((share < least[kind]) || (share > most[kind])) {
                FAIL("%s: fake1 has moved %ld of %ld bytes", what, bytes[1], bytes[0] + bytes[1]);
            }
        }
    }
}

int main(int argc, char **argv)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH};
    ucp_mem_h mapped;
    size_t size;
    void *blob;
    int i;

    CHECK_EQ(argc, 5);
    for (i = 0; i < 2; ++i) {
        least[i] = atoi(argv[1 + 2 * i]);
        most[i] = atoi(argv[2 + 2 * i]);
    }
    from = malloc(LENGTH);
    to = malloc(LENGTH);
    CHECK(from && to);
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&origin, owner.address);
    back = side_connect(&owner, origin.address);
    params.address = to;
    params.length = LENGTH;
    CHECK_OK(ucp_mem_map(owner.context, &params, &mapped));
    CHECK_OK(ucp_rkey_pack(owner.context, mapped, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    ucp_rkey_buffer_release(blob);
    shared("rendezvous", 0, sent_and_received, from, to);
    shared("put", 1, put, from, to);
    shared("get", 1, got, to, from);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    CHECK_OK(side_disconnect(&owner, &origin, back, 0));
    side_close(&origin);
    side_close(&owner);
    free(from);
    free(to);
    OK("%d to %d and %d to %d of 1000", least[0], most[0], least[1], most[1]);
    return 0;
}
