/* UCX_CM_USE_ALL_DEVICES: endpoints between client and server go by the device of their connection alone with n, here the
 * loopback device, and by any otherwise. */
/* oracle: 1.22.0 */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "listener.h"

enum { MAX_LANES = 16 };

static side_t server, client;
static ucp_conn_request_h arrived;

static void on_request(ucp_conn_request_h request, void *arg)
{
    arrived = request;
}

/* Whether all transports of an endpoint are on the loopback device. */
static int is_by_loopback(ucp_ep_h ep)
{
    ucp_transport_entry_t entries[MAX_LANES];
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
                          .transports = {.entries = entries, .num_entries = MAX_LANES, .entry_size = sizeof(entries[0])}};
    int all = 1;
    unsigned i;

    CHECK_OK(ucp_ep_query(ep, &attr));
    CHECK(attr.transports.num_entries > 0);
    for (i = 0; i < attr.transports.num_entries; ++i) {
        /* Upstream's connection manager has an entry of its own, without a device. */
        all &= (strcmp(entries[i].device_name, "lo") == 0) || (entries[i].device_name[0] == 0);
    }
    return all;
}

static void message(side_t *to, ucp_ep_h ep)
{
    static const ucp_request_param_t plain;
    char in[8] = "", out[8] = "message";
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(to->worker, in, sizeof(in), 1, -1, &plain);

    CHECK_OK(side_wait(&server, &client, ucp_tag_send_nbx(ep, out, sizeof(out), 1, &plain)));
    CHECK_OK(side_wait(&server, &client, receive));
    CHECK(strcmp(in, "message") == 0);
}

static void run(const char *value, int only)
{
    struct sockaddr_storage at;
    failure_t failures[2];
    ucp_listener_h listener;
    ucp_ep_h eps[2];

    setenv("UCX_CM_USE_ALL_DEVICES", value, 1);
    arrived = NULL;
    side_open(&server, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_open(&client, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    listener = listen_at(&server, AF_INET, on_request, &at);
    eps[0] = connect_client(&client, &at, 0, &failures[0]);
    DRIVE_UNTIL(&server, &client, arrived != NULL);
    eps[1] = accept_client(&server, arrived, &failures[1]);
    message(&server, eps[0]);
    message(&client, eps[1]);
    CHECK(is_by_loopback(eps[0]) || !only);
    CHECK(is_by_loopback(eps[1]) || !only);
    CHECK_OK(side_disconnect(&server, &client, eps[0], UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_OK(side_disconnect(&server, &client, eps[1], UCP_EP_CLOSE_FLAG_FORCE));
    ucp_listener_destroy(listener);
    side_close(&client);
    side_close(&server);
    OK("UCX_CM_USE_ALL_DEVICES=%s", value);
}

int main(void)
{
    run("y", 0);
    run("n", 1);
    return 0;
}
