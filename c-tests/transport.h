/* One UCT transport, opened: context, worker, memory domain, interface. Written against the API that
 * all releases since 1.11 share, so that it compiles with any of their headers. */
#ifndef FERRUCX_TRANSPORT_H
#define FERRUCX_TRANSPORT_H

#include <uct/api/uct.h>

#include "check.h"
#include "peers.h"

typedef struct {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_component_attr_t component_attr;
    uct_md_h md;
    uct_md_attr_t md_attr;
    uct_iface_h iface;
    uct_iface_attr_t attr;
    char device[UCT_DEVICE_NAME_MAX];
} transport_t;

/* Adds to the parameters that an interface is opened with. */
typedef void (*transport_prepare_t)(uct_iface_params_t *params, void *arg);

/* Opens the memory domain and device of `component` that offers transport `name`; 0 if it has none. */
static inline int transport_find(transport_t *t, uct_component_h component, const char *name,
                                 const char *device, size_t headroom, transport_prepare_t prepare, void *arg)
{
    uct_md_resource_desc_t mds[16];
    uct_tl_resource_desc_t *tls;
    uct_iface_params_t params;
    uct_md_config_t *md_config;
    uct_iface_config_t *config;
    unsigned i, j, count;

    t->component = component;
    t->component_attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME | UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT |
                                   UCT_COMPONENT_ATTR_FIELD_FLAGS;
    CHECK_OK(uct_component_query(component, &t->component_attr));
    CHECK(t->component_attr.md_resource_count <= 16);
    t->component_attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
    t->component_attr.md_resources = mds;
    CHECK_OK(uct_component_query(component, &t->component_attr));

    for (i = 0; i < t->component_attr.md_resource_count; ++i) {
        CHECK_OK(uct_md_config_read(component, NULL, NULL, &md_config));
        CHECK_OK(uct_md_open(component, mds[i].md_name, md_config, &t->md));
        uct_config_release(md_config);
        CHECK_OK(uct_md_query_tl_resources(t->md, &tls, &count));
        for (j = 0; j < count; ++j) {
            if (strcmp(tls[j].tl_name, name) || (device && strcmp(tls[j].dev_name, device))) {
                continue;
            }
            strcpy(t->device, tls[j].dev_name);
            memset(&params, 0, sizeof(params));
            params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE |
                                UCT_IFACE_PARAM_FIELD_RX_HEADROOM;
            params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
            params.mode.device.tl_name = name;
            params.mode.device.dev_name = t->device;
            params.rx_headroom = headroom;
            if (prepare) {
                prepare(&params, arg);
            }
            CHECK_OK(uct_md_iface_config_read(t->md, name, NULL, NULL, &config));
            CHECK_OK(uct_iface_open(t->md, t->worker, &params, config, &t->iface));
            uct_config_release(config);
            uct_release_tl_resource_list(tls);
            CHECK_OK(uct_md_query(t->md, &t->md_attr));
            CHECK_OK(uct_iface_query(t->iface, &t->attr));
            uct_iface_progress_enable(t->iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
            return 1;
        }
        uct_release_tl_resource_list(tls);
        uct_md_close(t->md);
    }
    return 0;
}

static inline void transport_open_prepared(transport_t *t, const char *name, const char *device,
                                           size_t headroom, transport_prepare_t prepare, void *arg)
{
    uct_component_h *components;
    unsigned i, count;
    int found = 0;

    memset(t, 0, sizeof(*t));
    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &t->async));
    CHECK_OK(uct_worker_create(t->async, UCS_THREAD_MODE_SINGLE, &t->worker));
    CHECK_OK(uct_query_components(&components, &count));
    for (i = 0; !found && (i < count); ++i) {
        found = transport_find(t, components[i], name, device, headroom, prepare, arg);
    }
    uct_release_component_list(components);
    if (!found) {
        FAIL("no transport %s/%s", name, device ? device : "*");
    }
}

static inline void transport_open(transport_t *t, const char *name, const char *device, size_t headroom)
{
    transport_open_prepared(t, name, device, headroom, NULL, NULL);
}

typedef struct {
    uct_error_handler_t on_failure;
    void *arg;
} transport_handler_t;

static inline void transport_prepare_handler(uct_iface_params_t *params, void *arg)
{
    const transport_handler_t *handler = (const transport_handler_t *)arg;

    params->field_mask |= UCT_IFACE_PARAM_FIELD_ERR_HANDLER | UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG |
                          UCT_IFACE_PARAM_FIELD_ERR_HANDLER_FLAGS;
    params->err_handler = handler->on_failure;
    params->err_handler_arg = handler->arg;
}

/* As transport_open, with an error handler. */
static inline void transport_open_handled(transport_t *t, const char *name, const char *device,
                                          uct_error_handler_t on_failure, void *arg)
{
    transport_handler_t handler = {on_failure, arg};
    transport_open_prepared(t, name, device, 0, transport_prepare_handler, &handler);
}

static inline void transport_close(transport_t *t)
{
    uct_iface_close(t->iface);
    uct_md_close(t->md);
    uct_worker_destroy(t->worker);
    ucs_async_context_destroy(t->async);
}

/* An endpoint to the peer: the other process of `pair`, or the same interface when `pair` is NULL. */
static inline uct_ep_h transport_connect(transport_t *t, const pair_t *pair)
{
    struct {
        char device[128], iface[128], ep[128];
    } mine, theirs;
    uct_ep_params_t params;
    uct_ep_h ep;

    memset(&mine, 0, sizeof(mine));
    memset(&params, 0, sizeof(params));
    CHECK(t->attr.device_addr_len <= sizeof(mine.device));
    CHECK(t->attr.iface_addr_len <= sizeof(mine.iface));
    CHECK(t->attr.ep_addr_len <= sizeof(mine.ep));
    CHECK_OK(uct_iface_get_device_address(t->iface, (uct_device_addr_t *)mine.device));
    params.field_mask = UCT_EP_PARAM_FIELD_IFACE;
    params.iface = t->iface;
    if (t->attr.cap.flags & UCT_IFACE_FLAG_CONNECT_TO_IFACE) {
        CHECK_OK(uct_iface_get_address(t->iface, (uct_iface_addr_t *)mine.iface));
        theirs = mine;
        if (pair) {
            pair_exchange(pair, &mine, &theirs, sizeof(mine));
        }
        CHECK(uct_iface_is_reachable(t->iface, (uct_device_addr_t *)theirs.device,
                                     (uct_iface_addr_t *)theirs.iface));
        params.field_mask |= UCT_EP_PARAM_FIELD_DEV_ADDR | UCT_EP_PARAM_FIELD_IFACE_ADDR;
        params.dev_addr = (uct_device_addr_t *)theirs.device;
        params.iface_addr = (uct_iface_addr_t *)theirs.iface;
        CHECK_OK(uct_ep_create(&params, &ep));
    } else {
        CHECK_OK(uct_ep_create(&params, &ep));
        CHECK_OK(uct_ep_get_address(ep, (uct_ep_addr_t *)mine.ep));
        theirs = mine;
        if (pair) {
            pair_exchange(pair, &mine, &theirs, sizeof(mine));
        }
        CHECK_OK(uct_ep_connect_to_ep(ep, (uct_device_addr_t *)theirs.device, (uct_ep_addr_t *)theirs.ep));
    }
    return ep;
}

/* Both sides meet and go on at once, progressing meanwhile. */
static inline void transport_meet(transport_t *t, const pair_t *pair)
{
    char byte = 0;

    pair_send(pair, &byte, 1);
    while (!pair_ready(pair)) {
        uct_worker_progress(t->worker);
    }
    pair_recv(pair, &byte, 1);
}

/* Sends eight bytes as soon as there is room; over tcp there is none until the connection is there. */
static inline ucs_status_t transport_send(transport_t *t, uct_ep_h ep, uint8_t id, uint64_t value)
{
    ucs_status_t status;

    while ((status = uct_ep_am_short(ep, id, value, NULL, 0)) == UCS_ERR_NO_RESOURCE) {
        uct_worker_progress(t->worker);
    }
    return status;
}

/* Progresses until `condition` holds; the runner's watchdog ends a test that waits for ever. */
#define PROGRESS_UNTIL(t, condition) \
    do { \
        while (!(condition)) { \
            uct_worker_progress((t)->worker); \
        } \
    } while (0)

#endif
