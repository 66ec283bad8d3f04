/* Two processes of different libraries that meet by a socket: what they tell each other there, while the worker makes progress. */
#ifndef MEETING_H
#define MEETING_H

#include <ucp/api/ucp.h>

#include "check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static ucp_worker_h worker;
static int out_of_band;

/* Moves bytes between the processes, and makes progress meanwhile. */
static inline void move(void *data, size_t length, int sends)
{
    char *at = data;

    while (length > 0) {
        ssize_t n = sends ? send(out_of_band, at, length, MSG_NOSIGNAL) : recv(out_of_band, at, length, 0);

        if (n < 0 && errno == EAGAIN) {
            ucp_worker_progress(worker);
            continue;
        }
        CHECK(n > 0);
        at += n;
        length -= n;
    }
}

/* Both sides have come so far. */
static inline void meet(uint32_t where)
{
    uint32_t theirs;

    move(&where, sizeof(where), 1);
    move(&theirs, sizeof(theirs), 0);
    CHECK_EQ(theirs, where);
}

static inline void finish(ucs_status_ptr_t request, ucs_status_t wanted)
{
    ucs_status_t status;

    if (request == NULL) {
        CHECK_EQ(wanted, UCS_OK);
        return;
    }
    CHECK(!UCS_PTR_IS_ERR(request));
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    CHECK_EQ(status, wanted);
    ucp_request_free(request);
}

/* The other process's worker address. */
static inline void *exchange(void *own, size_t length)
{
    uint64_t count = length;
    void *theirs;

    move(&count, sizeof(count), 1);
    move(own, length, 1);
    move(&count, sizeof(count), 0);
    theirs = malloc(count);
    move(theirs, count, 0);
    return theirs;
}

static inline int connected(int is_server, const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, peer;

    CHECK_EQ(inet_pton(AF_INET, host, &address.sin_addr), 1);
    if (is_server) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
        CHECK_EQ(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        CHECK_EQ(listen(fd, 1), 0);
        peer = accept(fd, NULL, NULL);
        close(fd);
    } else {
        CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
        peer = fd;
    }
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    CHECK_EQ(fcntl(peer, F_SETFL, O_NONBLOCK), 0);
    return peer;
}

/* The endpoint's end, as its error handler sees it. */
static int errors;
static ucs_status_t last_error;

static inline void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    errors++;
    last_error = status;
}

static inline void on_request(ucp_conn_request_h request, void *arg)
{
    CHECK(*(ucp_conn_request_h *)arg == NULL);
    *(ucp_conn_request_h *)arg = request;
}

/* An endpoint by socket address. */
static inline ucp_ep_h by_sockets(int is_server, const char *host, int port)
{
    union {
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.v4 = {.sin_family = AF_INET, .sin_port = htons(port)}};
    int is_v4 = inet_pton(AF_INET, host, &address.v4.sin_addr) == 1;
    size_t length = is_v4 ? sizeof(address.v4) : sizeof(address.v6);
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = on_error};
    ucp_conn_request_h request = NULL;
    ucp_listener_h listener;
    ucp_ep_h ep;

    if (!is_v4) {
        address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
        CHECK_EQ(inet_pton(AF_INET6, host, &address.v6.sin6_addr), 1);
    }
    if (is_server) {
        ucp_listener_params_t at = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {(struct sockaddr *)&address, length},
                                    .conn_handler = {on_request, &request}};

        CHECK_EQ(ucp_listener_create(worker, &at, &listener), UCS_OK);
        meet(1);
        while (request == NULL)
            ucp_worker_progress(worker);
        params.field_mask |= UCP_EP_PARAM_FIELD_CONN_REQUEST;
        params.conn_request = request;
    } else {
        meet(1);
        params.field_mask |= UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
        params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
        params.sockaddr = (ucs_sock_addr_t){(struct sockaddr *)&address, length};
    }
    CHECK_EQ(ucp_ep_create(worker, &params, &ep), UCS_OK);
    /* Until both sides know each other, keys cannot be unpacked. */
    if (!is_server) {
        ucp_request_param_t none = {0};

        finish(ucp_ep_flush_nbx(ep, &none), UCS_OK);
    }
    meet(2);
    if (is_server)
        ucp_listener_destroy(listener);
    return ep;
}

/* Memory that the other process accesses, and its own. */
#define MARGIN 64
#define LONGEST 3000017
static uint8_t *memory;
static uint64_t their_memory;
static ucp_rkey_h their_key;

static inline void flush(ucp_ep_h ep)
{
    ucp_request_param_t param = {0};

    finish(ucp_ep_flush_nbx(ep, &param), UCS_OK);
}

static inline void exchange_keys(ucp_context_h context, ucp_ep_h ep, int is_bare, ucp_mem_h *mapped)
{
    static uint8_t nothing[10];
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .length = LONGEST + 2 * MARGIN};
    uint64_t own;
    size_t length;
    void *key, *theirs;

    memory = aligned_alloc(4096, (map.length + 4095) / 4096 * 4096);
    map.address = memory;
    own = (uintptr_t)memory;
    CHECK_EQ(ucp_mem_map(context, &map, mapped), UCS_OK);
    CHECK_EQ(ucp_rkey_pack(context, *mapped, &key, &length), UCS_OK);
    theirs = is_bare ? exchange(nothing, sizeof(nothing)) : exchange(key, length);
    ucp_rkey_buffer_release(key);
    CHECK_EQ(ucp_ep_rkey_unpack(ep, theirs, &their_key), UCS_OK);
    free(theirs);
    theirs = exchange(&own, sizeof(own));
    memcpy(&their_memory, theirs, sizeof(their_memory));
    free(theirs);
}

#endif
