/* The modes of opening that connection managers replaced answer as upstream's do. (Upstream's uct_iface_accept and
 * _reject call through null; bad_input.c has ours.) */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
#include "transport.h"

static ucs_status_t open_sockaddr(transport_t *t, const char *name, uint64_t mode)
{
    struct sockaddr_storage address;
    uct_iface_params_t params;
    uct_iface_config_t *config;
    uct_iface_h iface;
    ucs_status_t status;

    memset(&address, 0, sizeof(address));
    address.ss_family = AF_INET;
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE;
    params.open_mode = mode;
    if (mode & UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER) {
        params.field_mask |= UCT_IFACE_PARAM_FIELD_SOCKADDR;
        params.mode.sockaddr.listen_sockaddr.addr = (struct sockaddr *)&address;
        params.mode.sockaddr.listen_sockaddr.addrlen = 16;
        params.mode.sockaddr.cb_flags = UCT_CB_FLAG_ASYNC;
    }
    CHECK_OK(uct_md_iface_config_read(t->md, name, NULL, NULL, &config));
    status = uct_iface_open(t->md, t->worker, &params, config, &iface);
    uct_config_release(config);
    return status;
}

static void run(const char *name, const char *device)
{
    transport_t t;

    transport_open(&t, name, device, 0);
    printf("%s: open as server %s\n", name,
           ucs_status_string(open_sockaddr(&t, name, UCT_IFACE_OPEN_MODE_SOCKADDR_SERVER)));
    printf("%s: open as client %s\n", name,
           ucs_status_string(open_sockaddr(&t, name, UCT_IFACE_OPEN_MODE_SOCKADDR_CLIENT)));
    printf("%s: open in no mode %s\n", name, ucs_status_string(open_sockaddr(&t, name, 0)));
    transport_close(&t);
}

int main(void)
{
    run("self", NULL);
    run("posix", NULL);
    run("sysv", NULL);
    run("tcp", "lo");
    return 0;
}
