/* A server listens at a socket address, a client connects to it and sends two arrays by active message; the handler at
 * the server adds up the numbers and replies. Neither polls while there is nothing to do. No other channel is needed:
 * the address to connect to is the one that the server prints. */
#include "example.h"

#include <arpa/inet.h>
#include <stdint.h>

static const char HELP[] = "       client_server server ADDRESS [PORT]   serves one client; without PORT any free one\n"
                           "       client_server client ADDRESS PORT\n"
                           "The client sends numbers to the server, which adds them up. ADDRESS is IPv4.";

enum { AM_NUMBERS, AM_SUM, FEW = 10, MANY = 1000000 };

/* What the handlers of a process use. */
typedef struct {
    side_t side;
    int done;                  /* the server has a client, the client its answer */
    ucp_listener_h listener;   /* server */
    ucp_conn_request_h client; /* server: who wants to connect */
    uint32_t *numbers;         /* server: of a long message, until all have come */
    uint64_t sum;              /* lives until its send has ended: the client asks once at a time */
} role_t;

/* Makes progress until a callback has set `done` or the peer is lost; sleeps where there is nothing to do. */
static void progress_until_done(role_t *role)
{
    side_t *side = &role->side;

    while (!role->done && side->ep_status == UCS_OK) {
        if (ucp_worker_progress(side->worker) == 0 && !role->done && side->ep_status == UCS_OK) {
            check(ucp_worker_wait(side->worker), "ucp_worker_wait");
        }
    }
}

static void set_handler(role_t *role, unsigned id, ucp_am_recv_callback_t handler)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                  UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                    .id = id,
                                    .cb = handler,
                                    .arg = role};

    check(ucp_worker_set_am_recv_handler(role->side.worker, &param), "ucp_worker_set_am_recv_handler");
}

/* ---- Server ---- */

/* A request that ends later is freed by the callback that tells its end. */
static void on_sent(void *request, ucs_status_t status, void *user_data)
{
    (void)user_data;
    check(status, "ucp_am_send_nbx");
    ucp_request_free(request);
}

/* A handler must not wait, so the answer is sent with a callback. */
static void answer(role_t *role, const uint32_t *numbers, size_t length)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = on_sent};
    ucs_status_ptr_t request;

    role->sum = 0;
    for (size_t i = 0; i < length / sizeof(*numbers); ++i) {
        role->sum += numbers[i];
    }
    request = ucp_am_send_nbx(role->side.ep, AM_SUM, NULL, 0, &role->sum, sizeof(role->sum), &param);
    if (UCS_PTR_IS_ERR(request)) {
        check(UCS_PTR_STATUS(request), "ucp_am_send_nbx");
    }
}

static void on_fetched(void *request, ucs_status_t status, size_t length, void *user_data)
{
    role_t *role = user_data;

    check(status, "ucp_am_recv_data_nbx");
    answer(role, role->numbers, length);
    free(role->numbers);
    role->numbers = NULL;
    ucp_request_free(request);
}

static ucs_status_t on_numbers(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *am)
{
    role_t *role = arg;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                 .cb.recv_am = on_fetched,
                                 .user_data = role};
    ucs_status_ptr_t request;

    (void)header;
    (void)header_length;
    if (!(am->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)) {
        answer(role, data, length); /* the data is here for the length of this call */
        return UCS_OK;
    }
    /* The data is still at the client: fetch it. A real server bounds the length that it accepts. */
    if (role->numbers != NULL || length > MANY * sizeof(uint32_t) || (role->numbers = malloc(length)) == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    request = ucp_am_recv_data_nbx(role->side.worker, data, role->numbers, length, &param);
    check(UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK, "ucp_am_recv_data_nbx");
    return UCS_INPROGRESS;
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

static void serve(role_t *role, struct sockaddr_in address)
{
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                                                  UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(struct sockaddr *)&address, sizeof(address)},
                                    .conn_handler = {on_client, role}};
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST};

    set_handler(role, AM_NUMBERS, on_numbers);
    check(ucp_listener_create(role->side.worker, &params, &role->listener), "ucp_listener_create");
    check(ucp_listener_query(role->listener, &attr), "ucp_listener_query");
    printf("listening on port %d\n", ntohs(((struct sockaddr_in *)&attr.sockaddr)->sin_port));
    fflush(stdout);

    progress_until_done(role);
    ep_params.conn_request = role->client;
    connect_side(&role->side, &ep_params, UCP_ERR_HANDLING_MODE_PEER);
    role->done = 0;
    progress_until_done(role); /* until the client closes its endpoint, which is how a client leaves */
    printf("the client has left\n");
    close_ep(&role->side);
    ucp_listener_destroy(role->listener);
}

/* ---- Client ---- */

static ucs_status_t on_sum(void *arg, const void *header, size_t header_length, void *data, size_t length,
                           const ucp_am_recv_param_t *am)
{
    role_t *role = arg;

    (void)header;
    (void)header_length;
    if ((am->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) || length != sizeof(role->sum)) {
        fail("answer", "is no sum");
    }
    memcpy(&role->sum, data, sizeof(role->sum));
    role->done = 1;
    return UCS_OK;
}

static void ask(role_t *role, const uint32_t *numbers, size_t count)
{
    ucp_request_param_t param = {0};

    role->done = 0;
    finish(&role->side, ucp_am_send_nbx(role->side.ep, AM_NUMBERS, NULL, 0, numbers, count * sizeof(*numbers), &param),
           "ucp_am_send_nbx");
    progress_until_done(role);
    check(role->side.ep_status, "server");
    printf("sum of %zu numbers: %llu\n", count, (unsigned long long)role->sum);
}

static void use_server(role_t *role, struct sockaddr_in address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
                              .sockaddr = {(struct sockaddr *)&address, sizeof(address)}};
    uint32_t *numbers = malloc(MANY * sizeof(*numbers));

    if (numbers == NULL) {
        fail("malloc", "no memory");
    }
    for (uint32_t i = 0; i < MANY; ++i) {
        numbers[i] = i;
    }
    set_handler(role, AM_SUM, on_sum);
    connect_side(&role->side, &params, UCP_ERR_HANDLING_MODE_PEER);
    ask(role, numbers, FEW);
    ask(role, numbers, MANY); /* too long for one message: the server fetches it */
    close_ep(&role->side);
    free(numbers);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *name = argc > 1 ? argv[1] : "--help";
    int server = strcmp(name, "server") == 0, port = argc == 4 ? atoi(argv[3]) : 0;
    role_t role = {0};

    if (argc < 3 || argc > 4 || (!server && (strcmp(name, "client") != 0 || port == 0)) || port < 0 || port > 65535) {
        read_options(2, (char *[]){argv[0], (char *)name}, HELP);
    }
    if (inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
        fail(argv[2], "is no IPv4 address");
    }
    address.sin_port = htons(port);
    role.side.channel = -1;
    open_side(&role.side, UCP_FEATURE_AM | UCP_FEATURE_WAKEUP);
    if (server) {
        serve(&role, address);
    } else {
        use_server(&role, address);
    }
    close_side(&role.side);
    return EXIT_SUCCESS;
}
