/* A server listens at a socket address, a client connects to it and sends two arrays by active message; the server adds up
 * the numbers and replies. Neither polls while there is nothing to do. No other channel is needed: the address to connect
 * to is the one that the server prints. */
#include "example.h"

#include <arpa/inet.h>
#include <stdint.h>

static const char HELP[] = "       client_server ADDRESS        a server for one client, at a free port of this IPv4 address\n"
                           "       client_server ADDRESS PORT   a client, which sends numbers that the server adds up";

enum { AM_NUMBERS, AM_SUM, FEW = 10, MANY = 1000000 };

static uint32_t numbers[MANY];

/* What the handlers of a process use. */
typedef struct {
    side_t side;
    int done;                  /* the server has a client or a message, the client its answer */
    ucp_listener_h listener;   /* server */
    ucp_conn_request_h client; /* server: who wants to connect */
    void *announced;           /* server: a long message, which is still at the client */
    size_t length;             /* server: of the message */
    uint64_t sum;              /* client */
} role_t;

/* ---- Server ---- */

/* A handler must not wait: it takes what is here, and notes what has to be fetched. A client sends one message at a time. */
static ucs_status_t on_numbers(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *am)
{
    role_t *role = arg;

    (void)header;
    if (role->done || header_length != 0 || length > sizeof(numbers)) {
        return UCS_ERR_NO_RESOURCE;
    }
    role->done = 1;
    role->length = length;
    role->announced = (am->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) ? data : NULL;
    if (role->announced != NULL) {
        return UCS_INPROGRESS;
    }
    memcpy(numbers, data, length); /* it is here for the length of this call */
    return UCS_OK;
}

static void answer(role_t *role)
{
    ucp_request_param_t param = {0};
    uint64_t sum = 0;

    if (role->announced != NULL) {
        finish(&role->side, ucp_am_recv_data_nbx(role->side.worker, role->announced, numbers, role->length, &param),
               "ucp_am_recv_data_nbx");
    }
    for (size_t i = 0; i < role->length / sizeof(*numbers); ++i) {
        sum += numbers[i];
    }
    role->done = 0;
    finish(&role->side, ucp_am_send_nbx(role->side.ep, AM_SUM, NULL, 0, &sum, sizeof(sum), &param), "ucp_am_send_nbx");
}

/* Notes the first client, whose endpoint is made outside of progress, and refuses others. */
static void on_client(ucp_conn_request_h client, void *arg)
{
    role_t *role = arg;

    if (role->client != NULL) {
        check(ucp_listener_reject(role->listener, client), "ucp_listener_reject");
        return;
    }
    role->client = client;
    role->done = 1;
}

static void serve(role_t *role, const struct sockaddr_in *address)
{
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                                                  UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(const struct sockaddr *)address, sizeof(*address)},
                                    .conn_handler = {on_client, role}};
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST};

    set_am_handler(&role->side, AM_NUMBERS, on_numbers, role);
    check(ucp_listener_create(role->side.worker, &params, &role->listener), "ucp_listener_create");
    check(ucp_listener_query(role->listener, &attr), "ucp_listener_query");
    printf("listening on port %d\n", ntohs(((struct sockaddr_in *)&attr.sockaddr)->sin_port));
    fflush(stdout);
    progress_until(&role->side, &role->done);
    role->done = 0;
    ep_params.conn_request = role->client;
    connect_side(&role->side, &ep_params, UCP_ERR_HANDLING_MODE_PEER);
    while (progress_until(&role->side, &role->done), role->side.ep_status == UCS_OK) {
        answer(role);
    }
    printf("the client has left\n"); /* it has closed its endpoint */
    close_ep(&role->side);
    ucp_listener_destroy(role->listener);
}

/* ---- Client ---- */

static ucs_status_t on_sum(void *arg, const void *header, size_t header_length, void *data, size_t length,
                           const ucp_am_recv_param_t *am)
{
    role_t *role = arg;

    (void)header;
    if ((am->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) || header_length != 0 || length != sizeof(role->sum)) {
        fail("answer", "is no sum");
    }
    memcpy(&role->sum, data, sizeof(role->sum));
    role->done = 1;
    return UCS_OK;
}

static void ask(role_t *role, size_t count)
{
    ucp_request_param_t param = {0};

    role->done = 0;
    finish(&role->side, ucp_am_send_nbx(role->side.ep, AM_NUMBERS, NULL, 0, numbers, count * sizeof(*numbers), &param),
           "ucp_am_send_nbx");
    progress_until(&role->side, &role->done);
    check(role->side.ep_status, "server");
    printf("sum of %zu numbers: %llu\n", count, (unsigned long long)role->sum);
}

static void use_server(role_t *role, const struct sockaddr_in *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
                              .sockaddr = {(const struct sockaddr *)address, sizeof(*address)}};

    for (uint32_t i = 0; i < MANY; ++i) {
        numbers[i] = i;
    }
    set_am_handler(&role->side, AM_SUM, on_sum, role);
    connect_side(&role->side, &params, UCP_ERR_HANDLING_MODE_PEER);
    ask(role, FEW);
    ask(role, MANY); /* too long for one message: the server fetches it */
    close_ep(&role->side);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    role_t role = {.side.channel = -1};

    if (argc < 2 || argc > 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
        read_options(argc == 2 ? 2 : 3, argv, HELP);
    }
    open_side(&role.side, UCP_FEATURE_AM | UCP_FEATURE_WAKEUP);
    address.sin_port = htons(argc == 3 ? atoi(argv[2]) : 0);
    (argc == 3 ? use_server : serve)(&role, &address);
    close_side(&role.side);
    return EXIT_SUCCESS;
}
