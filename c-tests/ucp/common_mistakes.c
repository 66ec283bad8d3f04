/* Each common mistake, at the default log level, is named by a line of the log: at ERROR or WARN, with words of its
 * cause, and not more than a few lines. Each runs in a process of its own, whose log is read through a pipe. */
/* headers: ours */
/* timeout: 120 */
/* valgrind: no, limits of memory and descriptors are part of it */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "listener.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { MOST_LINES = 5, OUTPUT = 1 << 16 };

static const ucp_request_param_t plain;
static char data[1 << 16];

static ucs_status_t init(uint64_t features, ucp_context_h *context)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};

    return ucp_init(&params, NULL, context);
}

static side_t one_side(uint64_t features)
{
    side_t side;

    side_open(&side, features, UCS_THREAD_MODE_SINGLE);
    return side;
}

/* ---- Configuration ---- */

static void value_of_a_variable(void)
{
    ucp_context_h context;

    setenv("UCX_RNDV_THRESH", "8 parsecs", 1);
    CHECK(init(UCP_FEATURE_TAG, &context) != UCS_OK);
}

static void misspelled_transport(void)
{
    ucp_context_h context;

    setenv("UCX_TLS", "tpc", 1);
    CHECK(init(UCP_FEATURE_TAG, &context) != UCS_OK);
}

static void unknown_device(void)
{
    ucp_context_h context;

    setenv("UCX_TLS", "tcp", 1);
    setenv("UCX_NET_DEVICES", "eth77", 1);
    CHECK(init(UCP_FEATURE_TAG, &context) != UCS_OK);
}

static void variable_without_effect(void)
{
    ucp_context_h context;

    setenv("UCX_FLUSH_WORKER_EPS", "n", 1);
    CHECK_OK(init(UCP_FEATURE_TAG, &context));
    ucp_cleanup(context);
    CHECK_OK(init(UCP_FEATURE_TAG, &context));
}

static void log_level(void)
{
    ucp_context_h context;

    setenv("UCX_LOG_LEVEL", "loud", 1);
    init(UCP_FEATURE_TAG, &context);
}

static void name_for_modify(void)
{
    ucp_config_t *config;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK(ucp_config_modify(config, "NO_SUCH_OPTION", "1") != UCS_OK);
}

static void text_for_modify(void)
{
    ucp_config_t *config;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK(ucp_config_modify(config, "ZCOPY_THRESH", "many") != UCS_OK);
}

static void secret_that_all_can_read(void)
{
    char path[] = "/tmp/common_mistakes.XXXXXX";
    ucp_context_h context;
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_h worker;
    int fd = mkstemp(path);

    CHECK_EQ(write(fd, "0123456789abcdef0123456789abcdef", 32), 32);
    CHECK_EQ(fchmod(fd, 0644), 0);
    setenv("UCX_TLS", "tcp", 1);
    setenv("UCX_TCP_AUTH_FILE", path, 1);
    if (init(UCP_FEATURE_TAG, &context) == UCS_OK) {
        CHECK(ucp_worker_create(context, &params, &worker) != UCS_OK);
    }
    unlink(path);
}

static void socket_for_reports_without_a_folder(void)
{
    setenv("UCX_INFO_SOCKET", "y", 1);
    unsetenv("XDG_RUNTIME_DIR");
    one_side(UCP_FEATURE_TAG);
}

/* ---- Contexts and workers ---- */

static void no_features(void)
{
    ucp_context_h context;
    ucp_params_t params = {.field_mask = 0};

    CHECK(ucp_init(&params, NULL, &context) != UCS_OK);
}

static void unknown_feature(void)
{
    ucp_context_h context;

    CHECK(init(1ull << 40, &context) != UCS_OK);
}

static void no_params(void)
{
    ucp_context_h context;

    CHECK(ucp_init(NULL, NULL, &context) != UCS_OK);
}

static void put_without_key(void)
{
    side_t side = one_side(UCP_FEATURE_RMA);
    ucp_ep_h ep = side_connect(&side, side.address);

    CHECK(UCS_PTR_IS_ERR(ucp_put_nbx(ep, data, 8, (uintptr_t)data, NULL, &plain)));
}

static void event_descriptor_without_wakeup(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    int fd;

    CHECK(ucp_worker_get_efd(side.worker, &fd) != UCS_OK);
}

static void leave_descriptors(int count)
{
    struct rlimit limit = {.rlim_max = RLIM_INFINITY};
    int next = dup(0);

    CHECK(next >= 0);
    close(next);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = next + count;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void too_few_descriptors(void)
{
    struct rlimit limit = {.rlim_cur = 8, .rlim_max = 8};
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_context_h context;
    ucp_worker_h worker;

    setenv("UCX_TLS", "tcp", 1);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    if (init(UCP_FEATURE_TAG, &context) == UCS_OK) {
        CHECK(ucp_worker_create(context, &params, &worker) != UCS_OK);
    }
}

/* A worker of one transport, which lacks descriptors: it says so, and names no other cause. */
static void too_few_descriptors_for(const char *transport)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_context_h context;
    ucp_worker_h worker;

    setenv("UCX_TLS", transport, 1);
    CHECK_OK(init(UCP_FEATURE_TAG, &context));
    leave_descriptors(0);
    CHECK(ucp_worker_create(context, &params, &worker) != UCS_OK);
}

static void too_few_descriptors_for_posix(void)
{
    too_few_descriptors_for("posix");
}

static void too_few_descriptors_for_sysv(void)
{
    too_few_descriptors_for("sysv");
}

static void too_few_descriptors_for_tcp(void)
{
    too_few_descriptors_for("tcp");
}

/* A worker has one of its two transports; the peer would take the other. */
static void peer_with_a_transport_that_could_not_be_opened(void)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    side_t posix, both;
    ucp_ep_h ep;

    setenv("UCX_TLS", "posix", 1);
    posix = one_side(UCP_FEATURE_TAG);
    setenv("UCX_TLS", "posix,self", 1);
    leave_descriptors(1);
    both = one_side(UCP_FEATURE_TAG);
    params.address = posix.address;
    CHECK(ucp_ep_create(both.worker, &params, &ep) != UCS_OK);
}

static void too_little_memory(void)
{
    ucp_context_h context;
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .length = 1ull << 40, .flags = UCP_MEM_MAP_ALLOCATE};
    struct rlimit limit = {.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
    ucp_mem_h region;

    CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    CHECK_OK(init(UCP_FEATURE_RMA, &context));
    CHECK(ucp_mem_map(context, &params, &region) != UCS_OK);
}

static void request_not_freed(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);

    CHECK(UCS_PTR_IS_PTR(ucp_tag_recv_nbx(side.worker, data, 8, 1, 1, &plain)));
    side_close(&side);
}

static void memory_not_unmapped(void)
{
    side_t side = one_side(UCP_FEATURE_RMA);
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = data, .length = sizeof(data)};
    ucp_mem_h region;

    CHECK_OK(ucp_mem_map(side.context, &params, &region));
    side_close(&side);
}

static void endpoint_not_closed(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    ucp_ep_h ep = side_connect(&side, side.address);

    ucp_request_free(ucp_tag_send_sync_nbx(ep, data, 8, 1, &plain));
    side_close(&side);
}

static void request_freed_twice(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    void *request = ucp_tag_recv_nbx(side.worker, data, 8, 1, 1, &plain);

    ucp_request_cancel(side.worker, request);
    ucp_request_free(request);
    ucp_request_free(request);
}

static void context_of_a_parent(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    ucp_ep_h ep = side_connect(&side, side.address);
    pid_t child = fork();

    if (child == 0) {
        ucs_status_ptr_t sent = ucp_tag_send_nbx(ep, data, 8, 1, &plain);

        _exit(!UCS_PTR_IS_ERR(sent));
    }
    CHECK_EQ(waitpid(child, NULL, 0), child);
}

/* ---- Endpoints ---- */

static void garbage_address(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (ucp_address_t *)data};
    ucp_ep_h ep;

    memset(data, 0x5a, sizeof(data));
    CHECK(ucp_ep_create(side.worker, &params, &ep) != UCS_OK);
}

static void no_address(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    ucp_ep_params_t params = {.field_mask = 0};
    ucp_ep_h ep;

    CHECK(ucp_ep_create(side.worker, &params, &ep) != UCS_OK);
}

static void no_transport_in_common(void)
{
    side_t tcp, shm;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_ep_h ep;

    setenv("UCX_TLS", "tcp", 1);
    tcp = one_side(UCP_FEATURE_TAG);
    setenv("UCX_TLS", "posix", 1);
    shm = one_side(UCP_FEATURE_TAG);
    params.address = shm.address;
    CHECK(ucp_ep_create(tcp.worker, &params, &ep) != UCS_OK);
}

/* An endpoint of this worker's failed, without and with an error handler. */
static void wait_for_failure(side_t *side, failure_t *failure)
{
    DRIVE_UNTIL(side, side, failure->calls > 0);
}

static void connection_refused(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 1);
    side_t side = one_side(UCP_FEATURE_TAG);
    failure_t failure;

    connect_client(&side, &at, 0, &failure);
    wait_for_failure(&side, &failure);
}

static void not_a_server_of_this_kind(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 0);
    socklen_t length = sizeof(at);
    side_t side = one_side(UCP_FEATURE_TAG);
    static const char hello[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    int fd = socket(AF_INET, SOCK_STREAM, 0), peer;
    failure_t failure;
    char question;

    CHECK_EQ(bind(fd, (struct sockaddr *)&at, sockaddr_length(&at)), 0);
    CHECK_EQ(listen(fd, 1), 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    connect_client(&side, &at, 0, &failure);
    peer = accept(fd, NULL, NULL);
    CHECK(peer >= 0);
    DRIVE_UNTIL(&side, &side, recv(peer, &question, 1, MSG_DONTWAIT) == 1);
    CHECK_EQ(send(peer, hello, sizeof(hello) - 1, MSG_NOSIGNAL), sizeof(hello) - 1);
    wait_for_failure(&side, &failure);
}

static ucs_status_t listen_to(const struct sockaddr *at, socklen_t length)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
                                                  UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
                                    .sockaddr = {.addr = at, .addrlen = length},
                                    .conn_handler = {.cb = (ucp_listener_conn_callback_t)abort}};
    ucp_listener_h listener;

    return ucp_listener_create(side.worker, &params, &listener);
}

static void port_in_use(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 0);
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    CHECK_EQ(bind(fd, (struct sockaddr *)&at, sockaddr_length(&at)), 0);
    CHECK_EQ(listen(fd, 1), 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    CHECK_STATUS(listen_to((struct sockaddr *)&at, sockaddr_length(&at)), UCS_ERR_BUSY);
}

static void privileged_port(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 1);

    CHECK(geteuid() != 0 || setuid(65534) == 0);
    CHECK(listen_to((struct sockaddr *)&at, sockaddr_length(&at)) != UCS_OK);
}

static void no_connection_manager(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 0);

    setenv("UCX_SOCKADDR_TLS_PRIORITY", "rdmacm", 1);
    CHECK_STATUS(listen_to((struct sockaddr *)&at, sockaddr_length(&at)), UCS_ERR_UNSUPPORTED);
}

/* Upstream dies of this. */
static void no_connection_manager_for_a_client(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 1);
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
                              .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
                              .sockaddr = {(struct sockaddr *)&at, sockaddr_length(&at)}};
    side_t side;
    ucp_ep_h ep;

    setenv("UCX_SOCKADDR_TLS_PRIORITY", "rdmacm", 1);
    side = one_side(UCP_FEATURE_TAG);
    CHECK_STATUS(ucp_ep_create(side.worker, &params, &ep), UCS_ERR_UNSUPPORTED);
}

static void address_of_another_machine(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr("203.0.113.7")};

    CHECK(listen_to((struct sockaddr *)&at, sizeof(at)) != UCS_OK);
}

static void address_of_another_family(void)
{
    struct sockaddr at = {.sa_family = AF_UNIX};

    CHECK(listen_to(&at, sizeof(at)) != UCS_OK);
}

/* The peer has ended before a send to it: with an error handler or without. */
static void peer_ended(const char *transports)
{
    pair_t pair;
    side_t side;
    failure_t failure;
    char theirs[ADDRESS_ROOM];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = (ucp_address_t *)theirs, .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = failure_note, .arg = &failure}};
    ucp_ep_h ep;

    setenv("UCX_TLS", transports, 1);
    setenv("UCX_KEEPALIVE_INTERVAL", "100ms", 1);
    pair = pair_start();
    side = one_side(UCP_FEATURE_TAG);
    side_swap_addresses(&side, &pair, theirs);
    memset(&failure, 0, sizeof(failure));
    CHECK_OK(ucp_ep_create(side.worker, &params, &ep));
    if (pair_is_child(&pair)) {
        request_finish(side.worker, ucp_tag_recv_nbx(side.worker, data, 8, 1, 1, &plain));
        raise(SIGKILL);
    }
    request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 1, &plain));
    wait_for_failure(&side, &failure);
}

static void peer_ended_shm(void)
{
    peer_ended("posix");
}

static void peer_ended_tcp(void)
{
    peer_ended("tcp");
}

/* Processes of two users of one host have tcp only. */
static void peer_of_another_user(void)
{
    pair_t pair;
    side_t side;
    char theirs[ADDRESS_ROOM];
    ucp_ep_h ep;

    setenv("UCX_TLS", "posix,tcp", 1);
    pair = pair_start();
    CHECK_EQ(setuid(pair_is_child(&pair) ? 65534 : 65533), 0);
    side = one_side(UCP_FEATURE_TAG);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    if (pair_is_child(&pair)) {
        close(2); /* the parent's log alone */
        request_finish(side.worker, ucp_tag_recv_nbx(side.worker, data, 8, 1, 1, &plain));
    } else {
        request_finish(side.worker, ucp_tag_send_nbx(ep, data, 8, 1, &plain));
    }
    side_meet(&side, &pair);
}

/* Connects to a peer that only shared memory reaches, after `spoil` has taken something from the connecting side, or
 * `apart` has set the peer apart before it opened its worker. */
static void peer_out_of_reach(void (*spoil)(void), void (*apart)(void))
{
    pair_t pair;
    side_t side;
    char theirs[ADDRESS_ROOM];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (ucp_address_t *)theirs};
    ucp_ep_h ep;

    setenv("UCX_TLS", "posix", 1);
    pair = pair_start();
    if (pair_is_child(&pair) && (apart != NULL)) {
        apart();
    }
    side = one_side(UCP_FEATURE_TAG);
    side_swap_addresses(&side, &pair, theirs);
    if (!pair_is_child(&pair)) {
        if (spoil != NULL) {
            spoil();
        }
        CHECK(ucp_ep_create(side.worker, &params, &ep) != UCS_OK);
    }
    pair_barrier(&pair);
}

static void leave_no_descriptor(void)
{
    leave_descriptors(0);
}

static void leave_one_descriptor(void)
{
    leave_descriptors(1);
}

/* Whether a thread of this process sleeps. One that has just been made has yet to run. */
static int is_asleep(const char *thread)
{
    char path[64], text[256] = "", *end;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", thread);
    file = fopen(path, "r");
    CHECK(file != NULL);
    CHECK(fgets(text, sizeof(text), file) != NULL);
    fclose(file);
    end = strrchr(text, ')');
    return (end != NULL) && (strncmp(end, ") S", 3) == 0);
}

/* glibc ends a process whose new thread finds no memory for its destructors, so the library's threads have to be up. */
static void await_threads(void)
{
    int are_asleep;

    do {
        DIR *threads = opendir("/proc/self/task");
        struct dirent *entry;

        CHECK(threads != NULL);
        are_asleep = 1;
        while ((entry = readdir(threads)) != NULL) {
            if ((entry->d_name[0] != '.') && (atoi(entry->d_name) != getpid())) {
                are_asleep &= is_asleep(entry->d_name);
            }
        }
        closedir(threads);
        sched_yield();
    } while (!are_asleep);
}

static void leave_no_addresses(void)
{
    struct rlimit limit = {1 << 20, 1 << 20};

    await_threads();
    CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

static void no_descriptor_to_ask_a_peer(void)
{
    peer_out_of_reach(leave_no_descriptor, NULL);
}

static void no_descriptor_for_the_memory_of_a_peer(void)
{
    peer_out_of_reach(leave_one_descriptor, NULL);
}

static void no_room_for_the_memory_of_a_peer(void)
{
    peer_out_of_reach(leave_no_addresses, NULL);
}

static void own_network(void)
{
    CHECK_EQ(unshare(CLONE_NEWNET), 0);
}

static void own_network_and_user(void)
{
    own_network();
    CHECK_EQ(setuid(65534), 0);
}

/* The process of the peer is the first one of its pid namespace. */
static void own_pids(void)
{
    pid_t first;

    CHECK_EQ(unshare(CLONE_NEWPID), 0);
    first = fork();
    if (first != 0) {
        CHECK_EQ(waitpid(first, NULL, 0), first);
        _exit(0);
    }
}

static void own_users(void)
{
    CHECK_EQ(unshare(CLONE_NEWUSER), 0);
}

static void own_network_and_pids(void)
{
    own_network();
    own_pids();
}

static void drop_to_another_user(void)
{
    CHECK_EQ(setuid(65533), 0);
}

static void peer_in_a_network_of_another_user(void)
{
    peer_out_of_reach(drop_to_another_user, own_network_and_user);
}

static void peer_in_other_namespaces(void)
{
    peer_out_of_reach(NULL, own_network_and_pids);
}

static void peer_in_another_pid_namespace(void)
{
    peer_out_of_reach(NULL, own_pids);
}

static void peer_in_another_user_namespace(void)
{
    peer_out_of_reach(NULL, own_users);
}

/* ---- Memory and operations ---- */

static ucs_status_t map(uint64_t features, const ucp_mem_map_params_t *params)
{
    ucp_context_h context;
    ucp_mem_h region;

    CHECK_OK(init(features, &context));
    return ucp_mem_map(context, params, &region);
}

static void map_without_length(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS, .address = data};

    CHECK(map(UCP_FEATURE_RMA, &params) != UCS_OK);
}

static void map_beyond_all_memory(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = data, .length = SIZE_MAX - 4096};

    CHECK(map(UCP_FEATURE_RMA, &params) != UCS_OK);
}

static void map_device_memory(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                                                 UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                   .length = 4096, .flags = UCP_MEM_MAP_ALLOCATE,
                                   .memory_type = UCS_MEMORY_TYPE_CUDA};

    CHECK(map(UCP_FEATURE_RMA, &params) != UCS_OK);
}

static void garbage_key(void)
{
    side_t side = one_side(UCP_FEATURE_RMA);
    ucp_rkey_h key;

    memset(data, 0x5a, sizeof(data));
    CHECK(ucp_ep_rkey_unpack(side_connect(&side, side.address), data, &key) != UCS_OK);
}

/* A side with an endpoint to itself and a key of `data`. */
static ucp_rkey_h key_of_data(side_t *side, uint64_t features, ucp_ep_h *ep)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = data, .length = sizeof(data)};
    ucp_mem_h region;
    ucp_rkey_h key;
    size_t length;
    void *packed;

    *side = one_side(features);
    *ep = side_connect(side, side->address);
    CHECK_OK(ucp_mem_map(side->context, &params, &region));
    CHECK_OK(ucp_rkey_pack(side->context, region, &packed, &length));
    CHECK_OK(ucp_ep_rkey_unpack(*ep, packed, &key));
    return key;
}

static void put_beyond_the_region(void)
{
    side_t side;
    ucp_ep_h ep;
    ucp_rkey_h key = key_of_data(&side, UCP_FEATURE_RMA, &ep);
    char from[16];

    CHECK(side_wait(&side, &side, ucp_put_nbx(ep, from, 16, (uintptr_t)(data + sizeof(data) - 8), key, &plain)) != UCS_OK);
}

static void atomic_of_three_bytes(void)
{
    side_t side;
    ucp_ep_h ep;
    ucp_rkey_h key = key_of_data(&side, UCP_FEATURE_AMO64 | UCP_FEATURE_RMA, &ep);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(3)};

    CHECK(UCS_PTR_IS_ERR(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, data, 1, (uintptr_t)data, key, &param)));
}

static void atomic_at_an_odd_address(void)
{
    side_t side;
    ucp_ep_h ep;
    ucp_rkey_h key = key_of_data(&side, UCP_FEATURE_AMO64 | UCP_FEATURE_RMA, &ep);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};

    CHECK(UCS_PTR_IS_ERR(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, data, 1, (uintptr_t)(data + 1), key, &param)));
}

static void unknown_datatype(void)
{
    side_t side = one_side(UCP_FEATURE_TAG);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = 3};

    CHECK(UCS_PTR_IS_ERR(ucp_tag_recv_nbx(side.worker, data, 8, 1, 1, &param)));
}

static void header_too_long(void)
{
    side_t side = one_side(UCP_FEATURE_AM);

    CHECK(UCS_PTR_IS_ERR(ucp_am_send_nbx(side_connect(&side, side.address), 1, data, sizeof(data), data, 8, &plain)));
}

static void message_id_too_large(void)
{
    side_t side = one_side(UCP_FEATURE_AM);
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                    .id = 1u << 20, .cb = (ucp_am_recv_callback_t)abort};

    CHECK(ucp_worker_set_am_recv_handler(side.worker, &param) != UCS_OK);
}

static void no_handler_of_the_id(void)
{
    side_t side = one_side(UCP_FEATURE_AM);
    int i;

    CHECK_OK(side_wait(&side, &side, ucp_am_send_nbx(side_connect(&side, side.address), 9, NULL, 0, data, 8, &plain)));
    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(side.worker);
    }
}

static void release_of_no_message(void)
{
    side_t side = one_side(UCP_FEATURE_AM);

    ucp_am_data_release(side.worker, data + 64);
}

/* ---- */

static const struct {
    const char *name;
    void (*make)(void);
    const char *words[4]; /* of which each has to be in one line of the log */
} mistakes[] = {
#define MISTAKE(name, ...) {#name, name, {__VA_ARGS__}}
    MISTAKE(value_of_a_variable, "UCX_RNDV_THRESH", "8 parsecs"),
    MISTAKE(misspelled_transport, "tpc", "tcp"),
    MISTAKE(unknown_device, "eth77", "UCX_NET_DEVICES"),
    MISTAKE(variable_without_effect, "UCX_FLUSH_WORKER_EPS", "no effect"),
    MISTAKE(log_level, "UCX_LOG_LEVEL", "loud"),
    MISTAKE(name_for_modify, "NO_SUCH_OPTION"),
    MISTAKE(text_for_modify, "ZCOPY_THRESH", "many"),
    MISTAKE(secret_that_all_can_read, "UCX_TCP_AUTH_FILE", "chmod 600"),
    MISTAKE(socket_for_reports_without_a_folder, "UCX_INFO_SOCKET", "XDG_RUNTIME_DIR"),
    MISTAKE(no_features, "features"),
    MISTAKE(unknown_feature, "features", "0x10000000000"),
    MISTAKE(no_params, "ucp_init", "NULL"),
    MISTAKE(put_without_key, "ucp_put_nbx", "rkey"),
    MISTAKE(event_descriptor_without_wakeup, "UCP_FEATURE_WAKEUP"),
    MISTAKE(too_few_descriptors, "Too many open files"),
    MISTAKE(too_few_descriptors_for_posix, "posix/memory cannot be opened", "Too many open files"),
    MISTAKE(too_few_descriptors_for_sysv, "sysv/memory cannot be opened", "Too many open files"),
    MISTAKE(too_few_descriptors_for_tcp, "tcp/", "cannot listen", "Too many open files"),
    MISTAKE(peer_with_a_transport_that_could_not_be_opened, "  posix: ", "Too many open files", "ulimit -n"),
    MISTAKE(too_little_memory, "1099511627776", "allocated"),
    MISTAKE(request_not_freed, "request 0x", "tag receive of 8 bytes"),
    MISTAKE(memory_not_unmapped, "ucp_mem_unmap"),
    MISTAKE(endpoint_not_closed, "1 of its 1 open endpoints", "ucp_ep_close_nbx"),
    MISTAKE(request_freed_twice, "freed"),
    MISTAKE(context_of_a_parent, "fork"),
    MISTAKE(garbage_address, "address"),
    MISTAKE(no_address, "ucp_ep_create"),
    MISTAKE(no_transport_in_common, "UCX_TLS"),
    MISTAKE(connection_refused, "127.0.0.1:1", "Connection refused"),
    MISTAKE(not_a_server_of_this_kind, "127.0.0.1"),
    MISTAKE(port_in_use, "127.0.0.1", "Address already in use"),
    MISTAKE(privileged_port, "127.0.0.1:1", "Permission denied"),
    MISTAKE(no_connection_manager, "UCX_SOCKADDR_TLS_PRIORITY=rdmacm", "tcp"),
    MISTAKE(no_connection_manager_for_a_client, "UCX_SOCKADDR_TLS_PRIORITY=rdmacm", "tcp"),
    MISTAKE(address_of_another_machine, "203.0.113.7", "Cannot assign requested address"),
    MISTAKE(address_of_another_family, "AF_INET"),
    MISTAKE(peer_ended_shm, "ended"),
    MISTAKE(peer_ended_tcp, "peer"),
    MISTAKE(peer_of_another_user, "tcp and not over posix", "another user"),
    MISTAKE(no_descriptor_to_ask_a_peer, "posix", "Too many open files"),
    MISTAKE(no_descriptor_for_the_memory_of_a_peer, "posix", "Too many open files"),
    MISTAKE(no_room_for_the_memory_of_a_peer, "posix", "Cannot allocate memory"),
    MISTAKE(peer_in_a_network_of_another_user, "posix", "network namespace", "Permission denied"),
    MISTAKE(peer_in_other_namespaces, "posix", "another pid and another net namespace"),
    MISTAKE(peer_in_another_pid_namespace, "posix", "another pid namespace"),
    MISTAKE(peer_in_another_user_namespace, "posix", "another user namespace"),
    MISTAKE(map_without_length, "ucp_mem_map", "length"),
    MISTAKE(map_beyond_all_memory, "ucp_mem_map"),
    MISTAKE(map_device_memory, "cuda"),
    MISTAKE(garbage_key, "remote key"),
    MISTAKE(put_beyond_the_region, "outside", "65536 bytes"),
    MISTAKE(atomic_of_three_bytes, "4 or 8"),
    MISTAKE(atomic_at_an_odd_address, "aligned"),
    MISTAKE(unknown_datatype, "datatype"),
    MISTAKE(header_too_long, "header"),
    MISTAKE(message_id_too_large, "1048576"),
    MISTAKE(no_handler_of_the_id, "9", "handler"),
    MISTAKE(release_of_no_message, "active message"),
};

/* Whether a mistake takes another user or namespaces. */
static int takes_root(void (*make)(void))
{
    return (make == peer_of_another_user) || (make == peer_in_a_network_of_another_user) ||
           (make == peer_in_other_namespaces) || (make == peer_in_another_pid_namespace) ||
           (make == peer_in_another_user_namespace);
}

/* Runs one mistake; what it wrote to stderr, and its exit status. */
static int run_apart(void (*make)(void), char *output)
{
    size_t length = 0;
    ssize_t got;
    int ends[2], status;
    pid_t child;

    CHECK_EQ(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        alarm(30);
        make();
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], output + length, OUTPUT - 1 - length)) > 0) {
        length += got;
    }
    close(ends[0]);
    output[length] = '\0';
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status;
}

/* Whether a line at ERROR or WARN has all words; counts the lines. */
static int is_named(char *output, const char *const *words, int *lines)
{
    int named = 0;
    char *line, *rest;

    for (*lines = 0, line = strtok_r(output, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest), ++*lines) {
        int i, all = (strstr(line, " ERROR ") != NULL) || (strstr(line, " WARN ") != NULL);

        for (i = 0; all && (i < 4) && (words[i] != NULL); ++i) {
            all = strstr(line, words[i]) != NULL;
        }
        named |= all;
    }
    return named;
}

int main(int argc, char **argv)
{
    static char output[OUTPUT], lines_of[OUTPUT];
    unsigned i, bad = 0;

    unsetenv("UCX_LOG_LEVEL");
    for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); ++i) {
        int status, lines;

        if ((argc > 1) && strcmp(argv[1], mistakes[i].name)) {
            continue;
        }
        if (takes_root(mistakes[i].make) && (geteuid() != 0)) {
            fprintf(stderr, "%s: not tried, it takes root\n", mistakes[i].name);
            continue;
        }
        status = run_apart(mistakes[i].make, output);
        strcpy(lines_of, output);
        if ((status == 0) && is_named(lines_of, mistakes[i].words, &lines) && (lines <= MOST_LINES)) {
            OK("%s", mistakes[i].name);
        } else {
            fprintf(stderr, "%s: status %#x, the log does not name it, or has too many lines:\n%s\n", mistakes[i].name,
                    status, output);
            ++bad;
        }
    }
    return bad > 0;
}
