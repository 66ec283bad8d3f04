/* No descriptors left: creating an endpoint returns a status, a listener that cannot accept waits without spinning and
 * continues when descriptors are available; existing connections are not disturbed. Also: capabilities that no
 * interface has return a status. */
/* timeout: 60 */
/* valgrind: no, it holds descriptors of its own, so that the limit is not ours */
#include <uct/api/uct.h>

#include <fcntl.h>
#include <sys/resource.h>

#include "transport.h"

enum { ID = 2 };

static unsigned received;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    received++;
    return UCS_OK;
}

static void unpack(void *arg, const void *data, size_t length)
{
}

static int fill_descriptors(int *fds, int max)
{
    int count = 0;

    while (count < max && (fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
        ++count;
    }
    CHECK(count < max);
    return count;
}

static void bad_arguments(transport_t *t)
{
    char device[64], iface[64], bad[64];
    uct_ep_params_t params;
    static char big[70000];
    uct_iov_t iov[7];
    uct_ep_h ep;
    int i;

    memset(iov, 0, sizeof(iov));
    for (i = 0; i < 7; ++i) {
        iov[i].buffer = big;
        iov[i].length = 10;
        iov[i].count = 1;
    }
    CHECK_OK(uct_iface_get_device_address(t->iface, (uct_device_addr_t *)device));
    CHECK_OK(uct_iface_get_address(t->iface, (uct_iface_addr_t *)iface));
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface = t->iface;
    memset(bad, 0xee, sizeof(bad));
    params.dev_addr = (uct_device_addr_t *)bad;
    params.iface_addr = (uct_iface_addr_t *)iface;
    CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_INVALID_ADDR);
    CHECK(!uct_iface_is_reachable(t->iface, params.dev_addr, params.iface_addr));
    params.dev_addr = (uct_device_addr_t *)device;
    params.iface_addr = (uct_iface_addr_t *)bad;
    CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_INVALID_ADDR);
    CHECK(!uct_iface_is_reachable(t->iface, params.dev_addr, params.iface_addr));
    params.iface_addr = (uct_iface_addr_t *)iface;
    device[6] ^= 1; /* the loopback of another host */
    CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_UNREACHABLE);
    CHECK(!uct_iface_is_reachable(t->iface, params.dev_addr, params.iface_addr));
    device[6] ^= 1;
    CHECK_OK(uct_ep_create(&params, &ep));
    CHECK_STATUS(uct_ep_am_short(ep, 32, 0, NULL, 0), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_am_short(ep, ID, 0, big, t->attr.cap.am.max_short), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_am_short_iov(ep, ID, iov, 7), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_am_zcopy(ep, ID, NULL, 0, iov, 7, 0, NULL), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_am_zcopy(ep, ID, big, t->attr.cap.am.max_hdr + 1, iov, 1, 0, NULL), UCS_ERR_INVALID_PARAM);
    iov[0].length = t->attr.cap.am.max_zcopy + 1;
    CHECK_STATUS(uct_ep_am_zcopy(ep, ID, NULL, 0, iov, 1, 0, NULL), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_put_zcopy(ep, iov, 7, 0, 0, NULL), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(uct_ep_get_bcopy(ep, unpack, big, 8, 0, 0, NULL), UCS_ERR_UNSUPPORTED);
    uct_ep_destroy(ep);
}

int main(void)
{
    struct rlimit limit = {100, 100};
    static int fds[200];
    pair_t pair = pair_start();
    struct {
        char device[64], iface[64];
    } mine, theirs;
    uct_ep_params_t params;
    uct_ep_h ep, self;
    transport_t t;
    int count;

    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    transport_open(&t, "tcp", "lo", 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    bad_arguments(&t);
    self = transport_connect(&t, NULL);
    CHECK_OK(transport_send(&t, self, ID, 0));
    PROGRESS_UNTIL(&t, received == 1);

    /* The child has no descriptor to accept with, the parent has. */
    memset(&mine, 0, sizeof(mine));
    CHECK_OK(uct_iface_get_device_address(t.iface, (uct_device_addr_t *)mine.device));
    CHECK_OK(uct_iface_get_address(t.iface, (uct_iface_addr_t *)mine.iface));
    pair_exchange(&pair, &mine, &theirs, sizeof(mine));
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
    params.iface = t.iface;
    params.dev_addr = (uct_device_addr_t *)theirs.device;
    params.iface_addr = (uct_iface_addr_t *)theirs.iface;
    if (pair_is_child(&pair)) {
        count = fill_descriptors(fds, 200);
        CHECK_STATUS(uct_ep_create(&params, &ep), UCS_ERR_EXCEEDS_LIMIT);
        transport_meet(&t, &pair);
        CHECK_OK(uct_ep_am_short(self, ID, 0, NULL, 0));
        PROGRESS_UNTIL(&t, received == 2);
        transport_meet(&t, &pair);
        while (count > 0) {
            close(fds[--count]);
        }
        PROGRESS_UNTIL(&t, received == 3);
        transport_meet(&t, &pair);
    } else {
        transport_meet(&t, &pair);
        CHECK_OK(uct_ep_create(&params, &ep));
        CHECK_STATUS(uct_ep_am_short(ep, ID, 0, NULL, 0), UCS_ERR_NO_RESOURCE);
        transport_meet(&t, &pair);
        CHECK_OK(transport_send(&t, ep, ID, 0));
        transport_meet(&t, &pair);
        CHECK_OK(uct_ep_flush(ep, 0, NULL));
        uct_ep_destroy(ep);
    }
    transport_meet(&t, &pair);
    uct_ep_destroy(self);
    transport_close(&t);
    pair_finish(&pair);
    OK("limits: statuses, and everything goes on");
    return 0;
}
