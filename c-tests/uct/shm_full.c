/* Shared memory that runs out is a status, not a signal: 36 MiB of System V segments in a namespace of our own, filled
 * step by step; what was allocated before stays usable. */
/* valgrind: no, unshare and mount in a process under valgrind need more rights than some hosts give */
#define _GNU_SOURCE
#include <uct/api/uct.h>

#include "transport.h"

#include <sched.h>

enum { ID = 3, MOST = 64, CHUNK = 64 * 1024 };

static unsigned received;

static ucs_status_t on_message(void *arg, void *data, size_t length, unsigned flags)
{
    received++;
    return UCS_OK;
}

/* In pages, of all segments together. */
static int limit_segments(const char *pages)
{
    FILE *file = fopen("/proc/sys/kernel/shmall", "w");

    return file != NULL && fputs(pages, file) >= 0 && fclose(file) == 0;
}

int main(void)
{
    uct_alloc_method_t method = UCT_ALLOC_METHOD_MD;
    uct_allocated_memory_t memory[MOST];
    uct_mem_alloc_params_t params;
    uct_iface_params_t iface_params;
    uct_iface_config_t *config;
    uct_iface_h second;
    transport_t t;
    unsigned count = 0, i;
    ucs_status_t status = UCS_OK;
    uct_ep_h ep;

    if (unshare(CLONE_NEWIPC) || !limit_segments("9216")) {
        SKIP("no right to limit the segments of a namespace");
    }
    transport_open(&t, "sysv", NULL, 0);
    CHECK_OK(uct_iface_set_am_handler(t.iface, ID, on_message, NULL, 0));
    ep = transport_connect(&t, NULL);
    OK("an interface and an endpoint fit into 36 MiB");

    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_MDS;
    params.flags = UCT_MD_MEM_ACCESS_ALL;
    params.mds.mds = &t.md;
    params.mds.count = 1;
    while ((count < MOST) && (status == UCS_OK)) {
        status = uct_mem_alloc(CHUNK, &method, 1, &params, &memory[count]);
        if (status == UCS_OK) {
            memset(memory[count].address, 1, memory[count].length);
            count++;
        }
    }
    CHECK_STATUS(status, UCS_ERR_NO_MEMORY);
    CHECK(count > 0);
    OK("no room for a segment is UCS_ERR_NO_MEMORY");

    CHECK_OK(uct_ep_am_short(ep, ID, 0, NULL, 0));
    PROGRESS_UNTIL(&t, received == 1);
    OK("what was there before works on");

    memset(&iface_params, 0, sizeof(iface_params));
    iface_params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
    iface_params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
    iface_params.mode.device.tl_name = "sysv";
    iface_params.mode.device.dev_name = t.device;
    CHECK_OK(uct_md_iface_config_read(t.md, "sysv", NULL, NULL, &config));
    /* The last pages go to small pieces, so that not even an interface's head fits. */
    while ((count < MOST) && (uct_mem_alloc(1, &method, 1, &params, &memory[count]) == UCS_OK)) {
        count++;
    }
    if (count < MOST) {
        CHECK_STATUS(uct_iface_open(t.md, t.worker, &iface_params, config, &second), UCS_ERR_NO_MEMORY);
    }
    uct_config_release(config);
    OK("an interface that does not fit is UCS_ERR_NO_MEMORY");

    for (i = 0; i < count; ++i) {
        CHECK_OK(uct_mem_free(&memory[i]));
    }
    uct_ep_destroy(ep);
    transport_close(&t);
    return 0;
}
