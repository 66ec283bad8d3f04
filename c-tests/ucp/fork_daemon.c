/* A program creates a worker and an endpoint and then daemonizes: only the child continues. Upstream allows it. This
 * library refuses every call of the child with one log line that names cause and remedy. The remedy works: a context
 * and a worker of the child's own. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n */
/* valgrind: no, it counts what the parent has as leaks of the child */
#include <ucp/api/ucp.h>

#include "peers.h"
#include "listener.h"

#include <ucs/debug/log_def.h>

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

enum { FEATURES = ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP, LIMIT_S = 20 };

/* What the parent made. */
static side_t side;
static ucp_ep_h ep;
static ucp_mem_h memh;
static ucp_rkey_h rkey;
static void *packed_key, *pending;
static ucp_listener_h listener;
static struct sockaddr_storage listening;
static uint64_t memory[8];
static const ucp_request_param_t plain;

static unsigned lines;
static char last_line[1000];

static ucs_log_func_rc_t hear(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                              const ucs_log_component_config_t *config, const char *format, va_list arguments)
{
    if (level <= UCS_LOG_LEVEL_ERROR) {
        ++lines;
        vsnprintf(last_line, sizeof(last_line), format, arguments);
    }
    return UCS_LOG_FUNC_RC_STOP;
}

static int is_error(ucs_status_ptr_t answer)
{
    return UCS_PTR_IS_ERR(answer) && (UCS_PTR_STATUS(answer) == UCS_ERR_UNSUPPORTED);
}

static int progress(void)
{
    return ucp_worker_progress(side.worker) == 0;
}

static int send_tag(void)
{
    return is_error(ucp_tag_send_nbx(ep, memory, 8, 1, &plain));
}

static int send_sync(void)
{
    return is_error(ucp_tag_send_sync_nbx(ep, memory, 8, 1, &plain));
}

static int receive(void)
{
    return is_error(ucp_tag_recv_nbx(side.worker, memory, 8, 1, -1, &plain));
}

static int probe(void)
{
    ucp_tag_recv_info_t info;

    return ucp_tag_probe_nb(side.worker, 1, -1, 0, &info) == NULL;
}

static int send_am(void)
{
    return is_error(ucp_am_send_nbx(ep, 1, NULL, 0, memory, 8, &plain));
}

static int set_am(void)
{
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID, .id = 1};

    return ucp_worker_set_am_recv_handler(side.worker, &param) == UCS_ERR_UNSUPPORTED;
}

static int send_stream(void)
{
    return is_error(ucp_stream_send_nbx(ep, memory, 8, &plain));
}

static int receive_stream(void)
{
    size_t length;

    return is_error(ucp_stream_recv_nbx(ep, memory, 8, &length, &plain));
}

static int poll_streams(void)
{
    ucp_stream_poll_ep_t eps[4];

    return ucp_stream_worker_poll(side.worker, eps, 4, 0) == UCS_ERR_UNSUPPORTED;
}

static int flush_ep(void)
{
    return is_error(ucp_ep_flush_nbx(ep, &plain));
}

static int flush_worker(void)
{
    return is_error(ucp_worker_flush_nbx(side.worker, &plain));
}

static int order(void)
{
    return ucp_worker_fence(side.worker) == UCS_ERR_UNSUPPORTED;
}

static int arm(void)
{
    return ucp_worker_arm(side.worker) == UCS_ERR_UNSUPPORTED;
}

static int descriptor(void)
{
    int fd;

    return ucp_worker_get_efd(side.worker, &fd) == UCS_ERR_UNSUPPORTED;
}

static int wake(void)
{
    return ucp_worker_signal(side.worker) == UCS_ERR_UNSUPPORTED;
}

static int sleep_for_events(void)
{
    return ucp_worker_wait(side.worker) == UCS_ERR_UNSUPPORTED;
}

static int connect_ep(void)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = side.address};
    ucp_ep_h other;

    return ucp_ep_create(side.worker, &params, &other) == UCS_ERR_UNSUPPORTED;
}

static int close_ep(void)
{
    return is_error(ucp_ep_close_nbx(ep, &plain));
}

static int query_ep(void)
{
    ucp_ep_attr_t attr = {.field_mask = UCP_EP_ATTR_FIELD_NAME};

    return ucp_ep_query(ep, &attr) == UCS_ERR_UNSUPPORTED;
}

static int print_ep(void)
{
    ucp_ep_print_info(ep, stdout);
    return 1;
}

static int address_of_worker(void)
{
    ucp_address_t *address;
    size_t length;

    return ucp_worker_get_address(side.worker, &address, &length) == UCS_ERR_UNSUPPORTED;
}

static int query_worker(void)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS};

    return ucp_worker_query(side.worker, &attr) == UCS_ERR_UNSUPPORTED;
}

static int print_worker(void)
{
    ucp_worker_print_info(side.worker, stdout);
    return 1;
}

static int put(void)
{
    memory[1] = 5;
    return is_error(ucp_put_nbx(ep, &memory[1], 8, (uintptr_t)memory, rkey, &plain)) && (memory[0] == 0);
}

static int get(void)
{
    return is_error(ucp_get_nbx(ep, &memory[1], 8, (uintptr_t)memory, rkey, &plain));
}

static int add(void)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};

    memory[1] = 5;
    return is_error(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &memory[1], 1, (uintptr_t)memory, rkey, &param)) &&
           (memory[0] == 0);
}

static int unpack_key(void)
{
    ucp_rkey_h key;

    return ucp_ep_rkey_unpack(ep, packed_key, &key) == UCS_ERR_UNSUPPORTED;
}

static int pack_key(void)
{
    size_t length;
    void *key;

    return ucp_rkey_pack(side.context, memh, &key, &length) == UCS_ERR_UNSUPPORTED;
}

static int pack_memory(void)
{
    ucp_memh_pack_params_t params = {.field_mask = 0};
    size_t length;
    void *key;

    return ucp_memh_pack(memh, &params, &key, &length) == UCS_ERR_UNSUPPORTED;
}

static int map(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory,
                                   .length = sizeof(memory)};
    ucp_mem_h other;

    return ucp_mem_map(side.context, &params, &other) == UCS_ERR_UNSUPPORTED;
}

static int unmap(void)
{
    return ucp_mem_unmap(side.context, memh) == UCS_ERR_UNSUPPORTED;
}

static int another_worker(void)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_h other;

    return ucp_worker_create(side.context, &params, &other) == UCS_ERR_UNSUPPORTED;
}

static int own_request(void)
{
    return ucp_request_alloc(side.worker) == NULL;
}

static int cancel(void)
{
    ucp_request_cancel(side.worker, pending);
    return 1;
}

static int another_listener(void)
{
    struct sockaddr_storage at = loopback(AF_INET, 0);
    ucp_listener_params_t params = {.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR,
                                    .sockaddr = {(const struct sockaddr *)&at, sizeof(struct sockaddr_in)}};
    ucp_listener_h other;

    return ucp_listener_create(side.worker, &params, &other) != UCS_OK;
}

/* What was posted before the fork ends as soon as the child looks for it. */
static int wait_for_pending(void)
{
    while (ucp_request_check_status(pending) == UCS_INPROGRESS) {
        ucp_worker_progress(side.worker);
    }
    return ucp_request_check_status(pending) == UCS_ERR_UNSUPPORTED;
}

#define FIRST(function) {#function, function}
static const struct {
    const char *name;
    int (*call)(void);
} firsts[] = {
    FIRST(progress), FIRST(send_tag), FIRST(send_sync), FIRST(receive), FIRST(probe), FIRST(send_am), FIRST(set_am),
    FIRST(send_stream), FIRST(receive_stream), FIRST(poll_streams), FIRST(flush_ep), FIRST(flush_worker), FIRST(order),
    FIRST(arm), FIRST(descriptor), FIRST(wake), FIRST(sleep_for_events), FIRST(connect_ep), FIRST(close_ep),
    FIRST(query_ep), FIRST(print_ep), FIRST(address_of_worker), FIRST(query_worker), FIRST(print_worker), FIRST(put),
    FIRST(get), FIRST(add), FIRST(unpack_key), FIRST(pack_key), FIRST(pack_memory), FIRST(map), FIRST(unmap),
    FIRST(another_worker), FIRST(own_request), FIRST(cancel), FIRST(another_listener),
};

enum { FIRSTS = sizeof(firsts) / sizeof(firsts[0]) };

static void parents(const void *address, ucs_thread_mode_t mode)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory,
                                   .length = sizeof(memory)};
    size_t length;
    ucp_ep_h self;

    side_open(&side, FEATURES, mode);
    ep = side_connect(&side, address ? address : side.address);
    self = side_connect(&side, side.address);
    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed_key, &length));
    CHECK_OK(ucp_ep_rkey_unpack(self, packed_key, &rkey));
    if (address == NULL) {
        ep = self;
    }
    pending = ucp_tag_recv_nbx(side.worker, memory, 8, 77, -1, &plain);
    CHECK(UCS_PTR_IS_PTR(pending));
    listener = listen_at(&side, AF_INET, (ucp_listener_conn_callback_t)abort, &listening);
}

/* Forks a child that runs `body`, and waits for it. */
static void in_child(const char *name, void (*body)(unsigned), unsigned arg)
{
    pid_t pid;
    int status;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(LIMIT_S);
        ucs_log_push_handler(hear);
        body(arg);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status != 0) {
        FAIL("%s: wait status 0x%x", name, status);
    }
}

static void call_first(unsigned i)
{
    if (!firsts[i].call()) {
        FAIL("%s is not refused", firsts[i].name);
    }
    if (lines != 1) {
        FAIL("%s: %u lines of the log", firsts[i].name, lines);
    }
    if (!strstr(last_line, "child of fork()") || !strstr(last_line, "before ucp_init()")) {
        FAIL("%s: the log says \"%s\"", firsts[i].name, last_line);
    }
}

/* No flood: a daemon that goes on in vain is told once of each object. */
static void call_again(unsigned i)
{
    call_first(0);
    for (i = 0; i < 1000; ++i) {
        progress();
        send_tag();
        receive();
    }
    CHECK_EQ(lines, 1);
}

static void find_the_end(unsigned i)
{
    CHECK(wait_for_pending());
    CHECK_EQ(lines, 1);
    ucp_request_free(pending);
}

/* Tidying up is no use, and needs no word. */
static void tidy_up(unsigned i)
{
    ucp_rkey_destroy(rkey);
    ucp_rkey_buffer_release(packed_key);
    ucp_listener_destroy(listener);
    ucp_worker_release_address(side.worker, side.address);
    ucp_worker_destroy(side.worker);
    ucp_cleanup(side.context);
    CHECK_EQ(lines, 0);
}

static void each_first_call(ucs_thread_mode_t mode)
{
    unsigned i;

    parents(NULL, mode);
    for (i = 0; i < FIRSTS; ++i) {
        in_child(firsts[i].name, call_first, i);
    }
    in_child("again", call_again, 0);
    if (mode == UCS_THREAD_MODE_SINGLE) {
        in_child("the end", find_the_end, 0);
    }
    in_child("tidy up", tidy_up, 0);
    ucp_request_cancel(side.worker, pending);
    ucp_request_free(pending);
    ucp_listener_destroy(listener);
    ucp_rkey_destroy(rkey);
    ucp_rkey_buffer_release(packed_key);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    CHECK_EQ(memory[0], 0);
    side_close(&side);
}

/* The daemon, whose parent ends: the peer gets its message when it took the remedy. */
static void daemonize(const pair_t *pair)
{
    char address[ADDRESS_ROOM];
    side_t own;
    ucp_ep_h to;
    pid_t pid;

    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, pair, address);
    ep = side_connect(&side, address);
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid > 0) {
        _exit(0);
    }
    alarm(LIMIT_S);
    ucs_log_push_handler(hear);
    CHECK(send_tag());
    CHECK_EQ(lines, 1);
    side_open(&own, FEATURES, UCS_THREAD_MODE_SINGLE);
    to = side_connect(&own, address);
    request_finish(own.worker, ucp_tag_send_nbx(to, "daemon!", 8, 1, &plain));
    CHECK_OK(side_disconnect(&own, &own, to, 0));
    side_close(&own);
    CHECK_EQ(lines, 1);
    _exit(0);
}

int main(void)
{
    char address[ADDRESS_ROOM], got[8] = "";
    ucs_status_ptr_t request;
    pair_t pair;

    each_first_call(UCS_THREAD_MODE_SINGLE);
    OK("each first call is refused");
    each_first_call(UCS_THREAD_MODE_MULTI);
    OK("each first call is refused, worker of several threads");

    pair = pair_start();
    alarm(2 * LIMIT_S);
    if (pair_is_child(&pair)) {
        daemonize(&pair);
    }
    side_open(&side, FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, address);
    request = ucp_tag_recv_nbx(side.worker, got, sizeof(got), 1, -1, &plain);
    request_finish(side.worker, request);
    CHECK_STR(got, "daemon!");
    side_close(&side);
    OK("a worker of its own");
    return 0;
}
