/* Puts over tcp reach memory that the peer registered and exported, and nothing else: a put beyond the range, with
 * a wrong key, or after the registration ended is refused with an error and never written. */
/* headers: ours 1.13.1 1.22.0 */
/* timeout: 60 */
#include <uct/api/uct.h>

#include "transport.h"

enum { LENGTH = 1 << 20, GUARD = 4096 };

typedef struct {
    uint64_t address;
    char device[64], iface[64], rkey[64];
} offer_t;

static volatile unsigned completed;
static ucs_status_t completed_with;

static void on_done(uct_completion_t *self)
{
    completed++;
    completed_with = self->status;
}

/* One put of `length` bytes of `value` at `address`; its final status. */
static ucs_status_t put(transport_t *t, uct_ep_h ep, uint64_t address, size_t length, int value, uct_rkey_t rkey)
{
    uct_completion_t comp;
    ucs_status_t status;
    uct_iov_t iov[2];
    char *buffer = malloc(length + 1);

    memset(buffer, value, length);
    memset(iov, 0, sizeof(iov));
    iov[0].buffer = buffer;
    iov[0].length = length / 3;
    iov[0].count = 1;
    iov[1].buffer = buffer + iov[0].length;
    iov[1].length = length - iov[0].length;
    iov[1].count = 1;
    memset(&comp, 0, sizeof(comp));
    comp.func = on_done;
    comp.count = 1;
    comp.status = UCS_OK;
    completed = 0;
    while ((status = uct_ep_put_zcopy(ep, iov, 2, address, rkey, &comp)) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(t->worker); /* the connection is not there yet */
    }
    if (status == UCS_INPROGRESS) {
        PROGRESS_UNTIL(t, completed);
        CHECK_EQ(completed, 1);
        status = completed_with;
    }
    free(buffer);
    return status;
}

static void serve(transport_t *t, const pair_t *pair)
{
    unsigned char *memory = malloc(LENGTH + 2 * GUARD), *range = memory + GUARD;
    uct_mem_h memh;
    offer_t offer;
    int round;
    size_t at;

    memset(memory, 0, LENGTH + 2 * GUARD);
    for (round = 0; round < 6; ++round) {
        memset(&offer, 0, sizeof(offer));
        CHECK_OK(uct_md_mem_reg(t->md, range, LENGTH, UCT_MD_MEM_ACCESS_RMA, &memh));
        CHECK(t->md_attr.rkey_packed_size <= sizeof(offer.rkey));
        CHECK_OK(uct_md_mkey_pack(t->md, memh, offer.rkey));
        CHECK_OK(uct_iface_get_device_address(t->iface, (uct_device_addr_t *)offer.device));
        CHECK_OK(uct_iface_get_address(t->iface, (uct_iface_addr_t *)offer.iface));
        offer.address = (uintptr_t)range;
        if (round == 4) {
            CHECK_OK(uct_md_mem_dereg(t->md, memh));
        }
        pair_send(pair, &offer, sizeof(offer));
        transport_meet(t, pair);
        if (round == 0) {
            for (at = 0; at < LENGTH; ++at) {
                CHECK_EQ(range[at], at < 7 ? 1 : at < 5007 ? 2 : 3);
            }
        }
        for (at = 0; at < GUARD; ++at) {
            CHECK(memory[at] == 0 && range[LENGTH + at] == 0);
        }
        if (round == 0) {
            memset(memory, 0, LENGTH + 2 * GUARD);
        } else {
            for (at = 0; at < LENGTH; ++at) {
                CHECK_EQ(range[at], 0);
            }
        }
        if (round != 4) {
            CHECK_OK(uct_md_mem_dereg(t->md, memh));
        }
        transport_meet(t, pair);
    }
    free(memory);
}

static ucs_status_t failed_with;
static unsigned failures;

static ucs_status_t on_failure(void *arg, uct_ep_h ep, ucs_status_t status)
{
    failures++;
    failed_with = status;
    return UCS_OK;
}

static void use(transport_t *t, const pair_t *pair)
{
    uct_rkey_bundle_t key;
    uct_ep_params_t params;
    offer_t offer;
    uct_ep_h ep;
    int round;

    for (round = 0; round < 6; ++round) {
        pair_recv(pair, &offer, sizeof(offer));
        CHECK_OK(uct_rkey_unpack(t->component, offer.rkey, &key));
        memset(&params, 0, sizeof(params));
        params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
        params.iface = t->iface;
        params.dev_addr = (uct_device_addr_t *)offer.device;
        params.iface_addr = (uct_iface_addr_t *)offer.iface;
        CHECK_OK(uct_ep_create(&params, &ep));
        failures = 0;
        if (round == 0) {
            CHECK_OK(put(t, ep, offer.address, LENGTH, 3, key.rkey));
            CHECK_OK(put(t, ep, offer.address, 5007, 2, key.rkey));
            CHECK_OK(put(t, ep, offer.address, 7, 1, key.rkey));
            CHECK_OK(put(t, ep, offer.address + LENGTH, 0, 1, key.rkey));
            CHECK_EQ(failures, 0);
        } else {
            ucs_status_t status = UCS_OK;
            switch (round) {
            case 1: /* one byte too far, long */
                status = put(t, ep, offer.address + 1, LENGTH, 9, key.rkey);
                break;
            case 2: /* one byte before, short */
                status = put(t, ep, offer.address - 1, 10, 9, key.rkey);
                break;
            case 3: /* another key */
                status = put(t, ep, offer.address, 100, 9, key.rkey ^ ((uct_rkey_t)1 << 40));
                break;
            case 4: /* no longer registered */
                status = put(t, ep, offer.address, 70000, 9, key.rkey);
                break;
            case 5: /* beyond the last address, in more than one part */
                status = put(t, ep, UINT64_MAX - 9, LENGTH, 9, key.rkey);
                break;
            }
            CHECK_EQ(status, UCS_ERR_REJECTED);
            PROGRESS_UNTIL(t, failures);
            CHECK_EQ(failures, 1);
            CHECK_EQ(failed_with, UCS_ERR_REJECTED);
            CHECK_EQ(put(t, ep, offer.address, 10, 9, key.rkey), UCS_ERR_REJECTED);
            CHECK_STATUS(uct_ep_am_short(ep, 1, 0, NULL, 0), UCS_ERR_REJECTED);
        }
        uct_rkey_release(t->component, &key);
        uct_ep_destroy(ep);
        transport_meet(t, pair);
        transport_meet(t, pair);
    }
}

int main(void)
{
    pair_t pair = pair_start();
    transport_t t;

    transport_open_handled(&t, "tcp", "lo", on_failure, NULL);
    if (pair_is_child(&pair)) {
        serve(&t, &pair);
    } else {
        use(&t, &pair);
    }
    transport_meet(&t, &pair);
    transport_close(&t);
    pair_finish(&pair);
    OK("puts reach what was exported and nothing else");
    return 0;
}
