/* Who connects by an address of networks alone is answered by a network, though both are on one host. So the end of the
 * connection ends what waits at either side. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "failure.h"

#include <netinet/in.h>

static ucp_ep_h reply_ep;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP);
    reply_ep = param->reply_ep;
    return UCS_OK;
}

static int uses(ucp_ep_h ep, const char *transport)
{
    ucp_transport_entry_t entries[8];
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS,
                          .transports = {.entries = entries, .num_entries = 8, .entry_size = sizeof(entries[0])}};
    unsigned i;

    CHECK_OK(ucp_ep_query(ep, &attr));
    for (i = 0; i < attr.transports.num_entries; ++i) {
        if (strcmp(entries[i].transport_name, transport) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Cuts all TCP connections of this process. */
static void cut_connections(void)
{
    struct sockaddr_storage peer;
    socklen_t length;
    int fd;

    for (fd = 3; fd < 1024; ++fd) {
        length = sizeof(peer);
        if ((getpeername(fd, (struct sockaddr *)&peer, &length) == 0) && (peer.ss_family != AF_UNIX)) {
            CHECK_EQ(shutdown(fd, SHUT_RDWR), 0);
        }
    }
}

int main(void)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = 1, .cb = on_message};
    ucp_request_param_t plain = {0};
    ucp_request_param_t am = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_REPLY};
    ucp_worker_attr_t net = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
                             .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY};
    ucs_status_ptr_t unmatched;
    failure_t failure;
    side_t a, b;
    ucp_ep_h ep;

    setenv("UCX_TLS", "tcp,posix", 1);
    setenv("UCX_NET_DEVICES", "lo", 1);
    side_open(&a, UCP_FEATURE_TAG | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    side_open(&b, UCP_FEATURE_TAG | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_set_am_recv_handler(b.worker, &handler));
    CHECK_OK(ucp_worker_query(b.worker, &net));
    ep = connect_watched(&a, net.address, &failure);
    ucp_worker_release_address(b.worker, net.address);
    CHECK_OK(side_wait(&a, &b, ucp_am_send_nbx(ep, 1, NULL, 0, "x", 1, &am)));
    DRIVE_UNTIL(&a, &b, reply_ep != NULL);
    CHECK(uses(ep, "tcp") && !uses(ep, "posix"));

    unmatched = ucp_tag_send_sync_nbx(reply_ep, "x", 1, 1, &plain);
    DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(a.worker, 1, UINT64_MAX, 0, &(ucp_tag_recv_info_t){0}) != NULL);
    CHECK(uses(reply_ep, "tcp") && !uses(reply_ep, "posix"));
    cut_connections();
    DRIVE_UNTIL(&a, &b, failure.calls > 0);
    DRIVE_UNTIL(&a, &b, has_ended(unmatched));
    CHECK_STATUS(ucp_request_check_status(unmatched), UCS_ERR_CONNECTION_RESET);
    ucp_request_free(unmatched);
    CHECK_OK(side_disconnect(&a, &b, ep, UCP_EP_CLOSE_FLAG_FORCE));
    side_close(&a);
    side_close(&b);
    OK("net_only");
    return 0;
}
