/* What the examples share: errors, one side of a connection, waiting, and the channel over which two processes exchange
 * addresses. UCP needs such a channel, because the address of a worker has to reach the peer before UCP can. Here it is
 * a socket pair between a process and its child; files, pipes, MPI or a key-value store serve as well. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <ucp/api/ucp.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One process: a context, its worker, and the endpoint that leads to the peer. */
typedef struct {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucs_status_t ep_status; /* UCS_OK until the peer is lost */
    int channel;            /* to the other process; -1: none */
    pid_t child;            /* 0 in the child */
} side_t;

/* Rounds of progress after which a wait looks whether the other process is still there. */
enum { LOOK_AT_CHANNEL = 100000 };

/* ---- Errors: an example says what failed and why, and ends ---- */

static inline void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static inline void check(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fail(what, ucs_status_string(status));
    }
}

/* Answers --help; refuses other arguments. */
static inline void read_options(int argc, char **argv, const char *help)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf("usage: %s\n%s\n", argv[0], help);
        exit(EXIT_SUCCESS);
    }
    if (argc > 1) {
        fprintf(stderr, "%s: wrong arguments; see --help\n", argv[0]);
        exit(2);
    }
}

/* ---- The channel: bytes with their length before them ---- */

/* Splits the program into two processes; before any UCX object exists, since those do not survive a fork. */
static inline void fork_peer(side_t *side)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || (side->child = fork()) < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    side->channel = ends[side->child == 0];
    close(ends[side->child != 0]);
}

static inline void channel_send(const side_t *side, const void *bytes, size_t length)
{
    if (send(side->channel, &length, sizeof(length), MSG_NOSIGNAL) != (ssize_t)sizeof(length) ||
        send(side->channel, bytes, length, MSG_NOSIGNAL) != (ssize_t)length) {
        fail("channel", "the other process has ended");
    }
}

/* The caller frees the bytes. */
static inline void *channel_receive(const side_t *side, size_t *length)
{
    void *bytes = NULL;

    if (recv(side->channel, length, sizeof(*length), MSG_WAITALL) != (ssize_t)sizeof(*length) ||
        (bytes = malloc(*length)) == NULL ||
        recv(side->channel, bytes, *length, MSG_WAITALL) != (ssize_t)*length) {
        fail("channel", "the other process has ended");
    }
    return bytes;
}

/* Whether the other process has closed its end; false where there is no channel. */
static inline int has_left(const side_t *side)
{
    char token;

    return recv(side->channel, &token, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Returns when both processes are here. Until then it makes progress: the peer may need this worker's answers. */
static inline void barrier(const side_t *side)
{
    char token = 0;
    ssize_t got;

    if (send(side->channel, &token, 1, MSG_NOSIGNAL) != 1) {
        fail("barrier", "the other process has ended");
    }
    while ((got = recv(side->channel, &token, 1, MSG_DONTWAIT)) != 1) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            fail("barrier", "the other process has ended");
        }
        ucp_worker_progress(side->worker);
    }
}

/* ---- UCP ---- */

static inline void open_side(side_t *side, uint64_t features)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                         .thread_mode = UCS_THREAD_MODE_SINGLE};

    side->ep_status = UCS_OK;
    check(ucp_init(&params, NULL, &side->context), "ucp_init");
    check(ucp_worker_create(side->context, &worker_params, &side->worker), "ucp_worker_create");
}

/* Called by ucp_worker_progress when the peer has died, cannot be reached or has closed its endpoint. */
static inline void on_peer_lost(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    side_t *side = arg;

    (void)ep;
    side->ep_status = status;
}

/* Creates the endpoint. `params` says whom to connect. In mode PEER a lost peer ends the operations with an error, in mode
 * NONE they may never end; UCX may use other transports for one than for the other. */
static inline void connect_side(side_t *side, ucp_ep_params_t *params, ucp_err_handling_mode_t mode)
{
    params->field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params->err_mode = mode;
    params->err_handler.cb = on_peer_lost;
    params->err_handler.arg = side;
    check(ucp_ep_create(side->worker, params, &side->ep), "ucp_ep_create");
}

/* The usual start of two processes: each sends its worker's address, and connects to the one it gets. */
static inline void connect_by_channel(side_t *side, ucp_err_handling_mode_t mode)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t *address;
    size_t length;

    check(ucp_worker_get_address(side->worker, &address, &length), "ucp_worker_get_address");
    channel_send(side, address, length);
    ucp_worker_release_address(side->worker, address);
    address = channel_receive(side, &length);
    params.address = address;
    connect_side(side, &params, mode);
    free(address);
}

/* Waits for what a call with the ending _nbx returned: NULL (it is done), an error, or a request to wait for and free. */
static inline void finish(side_t *side, ucs_status_ptr_t request, const char *what)
{
    ucs_status_t status = UCS_PTR_RAW_STATUS(request);
    unsigned rounds = 0;

    if (UCS_PTR_IS_PTR(request)) {
        while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
            check(side->ep_status, what);
            ucp_worker_progress(side->worker);
            if (++rounds % LOOK_AT_CHANNEL == 0 && has_left(side)) {
                fail(what, "the other process has ended");
            }
        }
        ucp_request_free(request);
    }
    check(status, what);
}

/* Makes progress until a callback has set `done` or the peer is lost; sleeps where there is nothing to do. */
static inline void progress_until(side_t *side, const int *done)
{
    while (!*done && side->ep_status == UCS_OK) {
        if (ucp_worker_progress(side->worker) == 0 && !*done && side->ep_status == UCS_OK) {
            check(ucp_worker_wait(side->worker), "ucp_worker_wait");
        }
    }
}

/* Whoever sends an active message with this id has `handler` called with `arg` here. */
static inline void set_am_handler(side_t *side, unsigned id, ucp_am_recv_callback_t handler, void *arg)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                  UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                    .id = id,
                                    .cb = handler,
                                    .arg = arg};

    check(ucp_worker_set_am_recv_handler(side->worker, &param), "ucp_worker_set_am_recv_handler");
}

static inline void close_ep(side_t *side)
{
    ucp_request_param_t param = {0};
    ucs_status_ptr_t request = ucp_ep_close_nbx(side->ep, &param);

    if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(side->worker);
        }
        ucp_request_free(request);
    } else if (request != NULL && side->ep_status == UCS_OK) {
        check(UCS_PTR_STATUS(request), "ucp_ep_close_nbx");
    }
}

static inline void close_side(side_t *side)
{
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
}

/* The usual end of two processes; returns the exit status. Whoever leaves first is lost to the other, so both wait until
 * all operations have ended, and again until both endpoints are closed. */
static inline int part(side_t *side)
{
    int status = EXIT_SUCCESS;

    barrier(side);
    close_ep(side);
    barrier(side);
    close_side(side);
    close(side->channel);
    if (side->child != 0 && (waitpid(side->child, &status, 0) < 0 || status != 0)) {
        fail("child", "has failed");
    }
    return status;
}

#endif
