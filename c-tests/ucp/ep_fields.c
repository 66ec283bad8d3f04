/* Endpoints: every parameter but sockets and connection requests, every attribute, estimates of time, the printed
 * description, and invalid arguments. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "peers.h"

static two_t two;
static int word;

static void failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    FAIL("the peer is alive");
}

static ucs_status_t create(ucp_ep_params_t *params, uint64_t fields, ucp_ep_h *ep)
{
    ucp_address_t *address;
    size_t length;
    ucs_status_t status;

    CHECK_OK(ucp_worker_get_address(two.worker[1], &address, &length));
    params->field_mask = fields | UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params->address = address;
    status = ucp_ep_create(two.worker[0], params, ep);
    ucp_worker_release_address(two.worker[1], address);
    return status;
}

static void every_parameter(void)
{
    ucp_ep_params_t params = {.err_mode = UCP_ERR_HANDLING_MODE_NONE,
                              .err_handler = {.cb = failed, .arg = &two},
                              .user_data = &word,
                              .flags = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK,
                              .name = "a name that is longer than the field that tells it"};
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_NAME};
    ucp_ep_h ep;

    CHECK_OK(create(&params, UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                             UCP_EP_PARAM_FIELD_USER_DATA | UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_NAME, &ep));
    CHECK_OK(ucp_ep_query(ep, &attr));
    CHECK((strlen(attr.name) > 0) && (strlen(attr.name) < UCP_ENTITY_NAME_MAX));
    attr.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR;
    CHECK_STATUS(ucp_ep_query(ep, &attr), UCS_ERR_NOT_CONNECTED);
    attr.field_mask = UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR;
    CHECK_STATUS(ucp_ep_query(ep, &attr), UCS_ERR_NOT_CONNECTED);
    attr.field_mask = 0;
    CHECK_OK(ucp_ep_query(ep, &attr));
#if UCP_API_MINOR >= 16
    {
        ucp_transport_entry_t entries[16];

        attr.field_mask = UCP_EP_ATTR_FIELD_USER_DATA | UCP_EP_ATTR_FIELD_TRANSPORTS;
        attr.transports.entries = entries;
        attr.transports.num_entries = 16;
        attr.transports.entry_size = sizeof(entries[0]);
        CHECK_OK(ucp_ep_query(ep, &attr));
        CHECK(attr.user_data == &word);
        CHECK(attr.transports.num_entries > 0);
        CHECK_STR(entries[0].transport_name, "posix");
        CHECK_STR(entries[0].device_name, "memory");
    }
#endif
    two_close_ep(&two, ep);
    /* an unnamed one has a name too */
    CHECK_OK(create(&params, 0, &ep));
    attr.field_mask = UCP_EP_ATTR_FIELD_NAME;
    attr.name[0] = 0;
    CHECK_OK(ucp_ep_query(ep, &attr));
    CHECK(attr.name[0] != 0);
    two_close_ep(&two, ep);
    OK("every parameter");
}

static void estimates(void)
{
    ucp_ep_evaluate_perf_param_t param = {.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE};
    ucp_ep_evaluate_perf_attr_t attr = {.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME};
    double last = 0;
    size_t size;

    for (size = 1 << 10; size <= (1 << 30); size <<= 5) {
        param.message_size = size;
        CHECK_OK(ucp_ep_evaluate_perf(two.ep[0], &param, &attr));
        CHECK(attr.estimated_time > last);
        last = attr.estimated_time;
    }
    CHECK(last < 10);
    attr.field_mask = 0;
    CHECK_STATUS(ucp_ep_evaluate_perf(two.ep[0], &param, &attr), UCS_ERR_INVALID_PARAM);
    OK("estimates");
}

static void description(void)
{
    size_t length;
    char *text;
    FILE *stream = open_memstream(&text, &length);

    ucp_ep_print_info(two.ep[0], stream);
    fclose(stream);
    CHECK(!strncmp(text, "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n"
                         "#                 lane[0]: ", 80));
    CHECK(strstr(text, "posix/memory.0 md[") != NULL);
    CHECK(strstr(text, "| tagged message by ucp_tag_send* from host memory ") != NULL);
    free(text);
    OK("description");
}

static void wrong(void)
{
    ucp_ep_params_t params = {.field_mask = 0};
    ucp_ep_h ep;

    CHECK_STATUS(ucp_ep_create(two.worker[0], &params, &ep), UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_EP_PARAM_FIELD_FLAGS; /* a client without a server's address */
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    CHECK_STATUS(ucp_ep_create(two.worker[0], &params, &ep), UCS_ERR_INVALID_PARAM);
    params.flags = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK;
    CHECK_STATUS(ucp_ep_create(two.worker[0], &params, &ep), UCS_ERR_INVALID_PARAM);
    OK("wrong parameters");
}

int main(void)
{
    two_open(&two, UCP_FEATURE_TAG, 1);
    every_parameter();
    estimates();
    description();
    wrong();
    two_close(&two);
    return 0;
}
