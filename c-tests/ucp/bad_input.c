/* Every function with invalid arguments: null handles, structures and out parameters, unknown flags, modes and
 * opcodes, impossible sizes. Each returns its documented status and logs one line with its name. Upstream checks this
 * only in builds with parameter checks. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=error UCX_LOG_FILE=stderr UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "peers.h"

#include <sys/mman.h>

static two_t two;
static int log_fd, old_stderr;
static unsigned refusals, wrong;

/* Lines in the log, which is emptied. */
static unsigned log_lines(char *text, size_t room)
{
    ssize_t length = pread(log_fd, text, room - 1, 0);
    unsigned lines = 0;
    ssize_t i;

    CHECK(length >= 0);
    text[length] = 0;
    for (i = 0; i < length; ++i) {
        lines += text[i] == '\n';
    }
    CHECK(ftruncate(log_fd, 0) == 0);
    CHECK(lseek(log_fd, 0, SEEK_SET) == 0);
    return lines;
}

static void refused(const char *call, ucs_status_t status, ucs_status_t expected)
{
    char text[4096];
    unsigned lines = log_lines(text, sizeof(text));

    ++refusals;
    if ((status != expected) || (lines != 1)) {
        ++wrong;
        dprintf(old_stderr, "%s: %s (expected %s) and %u lines: %s\n", call, ucs_status_string(status),
                ucs_status_string(expected), lines, text);
    }
}

#define REFUSED_AS(expected, call) refused(#call, call, expected)
#define REFUSED(call) REFUSED_AS(UCS_ERR_INVALID_PARAM, call)
#define REFUSED_PTR(call) refused(#call, UCS_PTR_RAW_STATUS(call), UCS_ERR_INVALID_PARAM)
#define REFUSED_VOID(call) \
    do { \
        call; \
        refused(#call, UCS_OK, UCS_OK); \
    } while (0)

static void contexts(void)
{
    ucp_params_t params = {.field_mask = 0};
    ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = 99};
    ucp_context_attr_t attr = {.field_mask = 0};
    ucp_config_t *config;
    ucp_context_h context;
    ucp_worker_h worker;

    REFUSED(ucp_lib_query(NULL));
    REFUSED_VOID(ucp_get_version(NULL, NULL, NULL));
    REFUSED(ucp_config_read(NULL, NULL, NULL));
    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    REFUSED(ucp_config_modify(NULL, "TLS", "self"));
    REFUSED(ucp_config_modify(config, NULL, "self"));
    REFUSED(ucp_config_modify(config, "TLS", NULL));
    REFUSED(ucp_config_modify(config, "NUM_EPS", "many"));
    REFUSED_VOID(ucp_config_print(NULL, stdout, "", 0));
    REFUSED_VOID(ucp_config_print(config, NULL, "", 0));
    REFUSED(ucp_init(NULL, config, &context));
    REFUSED(ucp_init(&params, config, NULL));
    REFUSED(ucp_init(&params, config, &context)); /* no features */
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCS_BIT(40);
    REFUSED(ucp_init(&params, config, &context));
    ucp_config_release(config);
    ucp_config_release(NULL);
    REFUSED(ucp_context_query(NULL, &attr));
    REFUSED(ucp_context_query(two.context, NULL));
    REFUSED_VOID(ucp_context_print_info(NULL, stdout));
    REFUSED_VOID(ucp_context_print_info(two.context, NULL));
    REFUSED_VOID(ucp_cleanup(NULL));
    REFUSED(ucp_worker_create(NULL, &worker_params, &worker));
    REFUSED(ucp_worker_create(two.context, NULL, &worker));
    REFUSED(ucp_worker_create(two.context, &worker_params, NULL));
    REFUSED(ucp_worker_create(two.context, &worker_params, &worker)); /* the thread mode */
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
    worker_params.am_alignment = 3;
    REFUSED(ucp_worker_create(two.context, &worker_params, &worker));
    worker_params.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD;
    worker_params.event_fd = -1;
    REFUSED(ucp_worker_create(two.context, &worker_params, &worker));
}

static void workers(void)
{
    uint64_t not_address[8] = {0};
    ucp_worker_attr_t attr = {.field_mask = 0};
    ucp_worker_address_attr_t of = {.field_mask = 0};
    ucp_stream_poll_ep_t polled;
    ucp_address_t *address;
    size_t length;
    int fd;

    REFUSED(ucp_worker_query(NULL, &attr));
    REFUSED(ucp_worker_query(two.worker[0], NULL));
    REFUSED_VOID(ucp_worker_destroy(NULL));
    REFUSED_VOID(ucp_worker_print_info(NULL, stdout));
    REFUSED_VOID(ucp_worker_print_info(two.worker[0], NULL));
    REFUSED(ucp_worker_get_address(NULL, &address, &length));
    REFUSED(ucp_worker_get_address(two.worker[0], NULL, &length));
    REFUSED(ucp_worker_get_address(two.worker[0], &address, NULL));
    REFUSED(ucp_worker_address_query(NULL, &of));
    REFUSED_AS(UCS_ERR_INVALID_ADDR, ucp_worker_address_query((ucp_address_t *)not_address, &of));
    REFUSED(ucp_worker_get_efd(NULL, &fd));
    REFUSED(ucp_worker_get_efd(two.worker[0], NULL));
    REFUSED(ucp_worker_wait(NULL));
    REFUSED_VOID(ucp_worker_wait_mem(two.worker[0], NULL));
    REFUSED(ucp_worker_arm(NULL));
    REFUSED(ucp_worker_signal(NULL));
    REFUSED(ucp_worker_fence(NULL));
    REFUSED(ucp_worker_flush(NULL));
    REFUSED_PTR(ucp_worker_flush_nb(NULL, 0, NULL));
    REFUSED_PTR(ucp_worker_flush_nb(two.worker[0], 1, NULL));
    REFUSED_PTR(ucp_worker_flush_nbx(two.worker[0], NULL));
    REFUSED_AS(UCS_ERR_INVALID_PARAM, (ucs_status_t)ucp_stream_worker_poll(NULL, &polled, 1, 0));
}

static void endpoints(void)
{
    uint64_t not_address[8] = {0};
    ucp_ep_params_t params = {.field_mask = 0};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_ep_evaluate_perf_param_t perf = {.field_mask = 0};
    ucp_ep_evaluate_perf_attr_t time = {.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME};
    ucp_ep_attr_t attr = {.field_mask = 0};
    ucp_ep_h ep;

    REFUSED(ucp_ep_create(NULL, &params, &ep));
    REFUSED(ucp_ep_create(two.worker[0], NULL, &ep));
    REFUSED(ucp_ep_create(two.worker[0], &params, NULL));
    REFUSED(ucp_ep_create(two.worker[0], &params, &ep)); /* no peer */
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = (ucp_address_t *)not_address;
    REFUSED_AS(UCS_ERR_INVALID_ADDR, ucp_ep_create(two.worker[0], &params, &ep));
    params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.err_mode = 77;
    REFUSED(ucp_ep_create(two.worker[0], &params, &ep));
    params.field_mask = UCP_EP_PARAM_FIELD_FLAGS;
    params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
    REFUSED(ucp_ep_create(two.worker[0], &params, &ep));
    REFUSED(ucp_ep_query(NULL, &attr));
    REFUSED(ucp_ep_query(two.ep[0], NULL));
    REFUSED_VOID(ucp_ep_print_info(NULL, stdout));
    REFUSED_VOID(ucp_ep_print_info(two.ep[0], NULL));
    REFUSED(ucp_ep_evaluate_perf(NULL, &perf, &time));
    REFUSED(ucp_ep_evaluate_perf(two.ep[0], &perf, &time));
    REFUSED(ucp_ep_flush(NULL));
    REFUSED_PTR(ucp_ep_flush_nb(NULL, 0, NULL));
    REFUSED_PTR(ucp_ep_flush_nb(two.ep[0], 1, NULL));
    REFUSED_PTR(ucp_ep_flush_nbx(NULL, &plain));
    REFUSED_PTR(ucp_ep_flush_nbx(two.ep[0], NULL));
    REFUSED_PTR(ucp_ep_modify_nb(NULL, &params));
    REFUSED_PTR(ucp_ep_modify_nb(two.ep[0], NULL));
    REFUSED_PTR(ucp_ep_close_nb(NULL, UCP_EP_CLOSE_MODE_FLUSH));
    REFUSED_PTR(ucp_ep_close_nb(two.ep[0], 77));
    REFUSED_PTR(ucp_ep_close_nbx(NULL, &plain));
    REFUSED_PTR(ucp_ep_close_nbx(two.ep[0], NULL));
    REFUSED_PTR(ucp_disconnect_nb(NULL));
    REFUSED_VOID(ucp_ep_destroy(NULL));
}

static void listeners(void)
{
    ucp_listener_params_t params = {.field_mask = 0};
    ucp_listener_attr_t attr = {.field_mask = 0};
    ucp_conn_request_attr_t request = {.field_mask = 0};
    ucp_listener_h listener;

    REFUSED(ucp_listener_create(NULL, &params, &listener));
    REFUSED(ucp_listener_create(two.worker[0], NULL, &listener));
    REFUSED(ucp_listener_create(two.worker[0], &params, NULL));
    REFUSED(ucp_listener_create(two.worker[0], &params, &listener));
    REFUSED_VOID(ucp_listener_destroy(NULL));
    REFUSED(ucp_listener_query(NULL, &attr));
    REFUSED(ucp_listener_reject(NULL, NULL));
    REFUSED(ucp_conn_request_query(NULL, &request));
}

static void messages(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t strange = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = 1};
    ucp_request_param_t device = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                  .memory_type = UCS_MEMORY_TYPE_CUDA};
    ucp_datatype_t bytes = ucp_dt_make_contig(1), large = ucp_dt_make_contig(1 << 20);
    ucp_am_handler_param_t handler = {.field_mask = 0};
    ucp_dt_iov_t iov = {.buffer = NULL, .length = 4};
    ucp_dt_iov_t endless[2] = {{.buffer = &iov, .length = SIZE_MAX}, {.buffer = &iov, .length = 2}};
    ucp_tag_recv_info_t info;
    size_t length;
    char byte[8] = {0};

    REFUSED_PTR(ucp_tag_send_nb(NULL, byte, 1, bytes, 1, NULL));
    REFUSED(ucp_tag_send_nbr(NULL, byte, 1, bytes, 1, byte));
    REFUSED(ucp_tag_send_nbr(two.ep[0], byte, 1, bytes, 1, NULL));
    REFUSED_PTR(ucp_tag_send_sync_nb(NULL, byte, 1, bytes, 1, NULL));
    REFUSED_PTR(ucp_tag_send_nbx(NULL, byte, 1, 1, &plain));
    REFUSED_PTR(ucp_tag_send_nbx(two.ep[0], byte, 1, 1, NULL));
    REFUSED_PTR(ucp_tag_send_nbx(two.ep[0], NULL, 1, 1, &plain));
    REFUSED_PTR(ucp_tag_send_nbx(two.ep[0], byte, 1, 1, &strange));
    refused("memory of a GPU", UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(two.ep[0], byte, 1, 1, &device)),
            UCS_ERR_UNSUPPORTED);
    REFUSED_PTR(ucp_tag_send_nb(two.ep[0], &iov, 1, ucp_dt_make_iov(), 1, NULL));
    REFUSED_PTR(ucp_tag_send_nb(two.ep[0], NULL, 1, ucp_dt_make_iov(), 1, NULL));
    REFUSED_PTR(ucp_tag_send_nb(two.ep[0], endless, 2, ucp_dt_make_iov(), 1, NULL));
    REFUSED_PTR(ucp_tag_send_nb(two.ep[0], byte, SIZE_MAX / 8, large, 1, NULL));
    REFUSED_PTR(ucp_tag_send_sync_nbx(NULL, byte, 1, 1, &plain));
    REFUSED_PTR(ucp_tag_recv_nb(NULL, byte, 1, bytes, 1, 1, NULL));
    REFUSED(ucp_tag_recv_nbr(two.worker[0], byte, 1, bytes, 1, 1, NULL));
    REFUSED_PTR(ucp_tag_recv_nbx(NULL, byte, 1, 1, 1, &plain));
    REFUSED_PTR(ucp_tag_recv_nbx(two.worker[0], NULL, 1, 1, 1, &plain));
    REFUSED_PTR(ucp_tag_recv_nbx(two.worker[0], byte, 1, 1, 1, NULL));
    REFUSED_PTR(ucp_tag_msg_recv_nb(two.worker[0], byte, 1, bytes, NULL, NULL));
    REFUSED_PTR(ucp_tag_msg_recv_nbx(two.worker[0], byte, 1, NULL, &plain));
    REFUSED_VOID(CHECK(ucp_tag_probe_nb(NULL, 1, 1, 0, &info) == NULL));
    REFUSED_PTR(ucp_am_send_nb(NULL, 1, byte, 1, bytes, NULL, 0));
    REFUSED_PTR(ucp_am_send_nbx(NULL, 1, NULL, 0, byte, 1, &plain));
    REFUSED_PTR(ucp_am_send_nbx(two.ep[0], 1 << 20, NULL, 0, byte, 1, &plain));
    REFUSED_PTR(ucp_am_send_nbx(two.ep[0], 1, NULL, 8, byte, 1, &plain));
    REFUSED_PTR(ucp_am_recv_data_nbx(NULL, byte, byte, 1, &plain));
    REFUSED_PTR(ucp_am_recv_data_nbx(two.worker[0], NULL, byte, 1, &plain));
    REFUSED_VOID(ucp_am_data_release(two.worker[0], NULL));
    REFUSED(ucp_worker_set_am_handler(NULL, 1, NULL, NULL, 0));
    REFUSED(ucp_worker_set_am_recv_handler(NULL, &handler));
    REFUSED(ucp_worker_set_am_recv_handler(two.worker[0], NULL));
    REFUSED(ucp_worker_set_am_recv_handler(two.worker[0], &handler));
    REFUSED_PTR(ucp_stream_send_nb(NULL, byte, 1, bytes, NULL, 0));
    REFUSED_PTR(ucp_stream_send_nbx(NULL, byte, 1, &plain));
    REFUSED_PTR(ucp_stream_recv_nb(NULL, byte, 1, bytes, NULL, &length, 0));
    REFUSED_PTR(ucp_stream_recv_nb(two.ep[0], NULL, 1, bytes, NULL, &length, 0));
    REFUSED_PTR(ucp_stream_recv_nb(two.ep[0], byte, SIZE_MAX / 8, large, NULL, &length, 0));
    REFUSED_PTR(ucp_stream_recv_nbx(two.ep[0], NULL, 1, &length, &plain));
    REFUSED_PTR(ucp_stream_recv_nbx(NULL, byte, 1, &length, &plain));
    REFUSED_PTR(ucp_stream_recv_data_nb(NULL, &length));
    REFUSED_VOID(ucp_stream_data_release(NULL, byte));
}

static const char *memory_info(const char *spec)
{
    static char text[100];
    FILE *stream = fmemopen(text, sizeof(text), "w");

    ucp_mem_print_info(spec, two.context, stream);
    fclose(stream);
    return text;
}

static void memory(void)
{
    uint64_t not_key[8] = {0};
    ucp_mem_map_params_t map = {.field_mask = 0};
    ucp_mem_attr_t attr = {.field_mask = 0};
    ucp_mem_advise_params_t advise = {.field_mask = 0};
    ucp_memh_pack_params_t pack = {.field_mask = 0};
    ucp_memh_buffer_release_params_t release = {.field_mask = 0};
    ucp_rkey_compare_params_t compare = {.field_mask = 0};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    uint64_t word = 0;
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *blob;
    size_t length;
    int order;

    REFUSED(ucp_mem_map(NULL, &map, &memh));
    REFUSED(ucp_mem_map(two.context, NULL, &memh));
    REFUSED(ucp_mem_map(two.context, &map, NULL));
    REFUSED(ucp_mem_map(two.context, &map, &memh)); /* nothing to map */
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    map.length = 8;
    REFUSED(ucp_mem_map(two.context, &map, &memh)); /* at NULL */
    map.address = &word;
    map.flags = UCP_MEM_MAP_ALLOCATE;
    map.length = SIZE_MAX / 2; /* more than there is */
    REFUSED_AS(UCS_ERR_NO_MEMORY, ucp_mem_map(two.context, &map, &memh));
    map.length = 8;
    map.flags = 1 << 20;
    REFUSED(ucp_mem_map(two.context, &map, &memh));
    map.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED;
    map.address = (char *)&word + 1;
    REFUSED(ucp_mem_map(two.context, &map, &memh));
    map.flags = UCP_MEM_MAP_LOCK | UCP_MEM_MAP_NONBLOCK;
    map.address = &word;
    REFUSED(ucp_mem_map(two.context, &map, &memh));
    map.flags = 0;
    map.field_mask |= UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
    map.memory_type = UCS_MEMORY_TYPE_CUDA;
    REFUSED_AS(UCS_ERR_UNSUPPORTED, ucp_mem_map(two.context, &map, &memh));
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER;
    map.exported_memh_buffer = not_key;
    REFUSED(ucp_mem_map(two.context, &map, &memh));
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    CHECK_OK(ucp_mem_map(two.context, &map, &memh));
    REFUSED(ucp_mem_unmap(NULL, memh));
    REFUSED(ucp_mem_unmap(two.context, NULL));
    REFUSED(ucp_mem_query(NULL, &attr));
    REFUSED(ucp_mem_query(memh, NULL));
    REFUSED_VOID(ucp_mem_print_info(NULL, two.context, stdout));
    REFUSED_VOID(ucp_mem_print_info("1m", NULL, stdout));
    CHECK_STR(memory_info("0"), "<Memory size must be greater than 0>\n");
    CHECK_STR(memory_info("banana"), "<Failed to convert a memunits string>\n");
    REFUSED(ucp_mem_advise(NULL, memh, &advise));
    REFUSED(ucp_mem_advise(two.context, NULL, &advise));
    REFUSED(ucp_mem_advise(two.context, memh, NULL));
    REFUSED(ucp_mem_advise(two.context, memh, &advise));
    REFUSED(ucp_rkey_pack(NULL, memh, &blob, &length));
    REFUSED(ucp_rkey_pack(two.context, NULL, &blob, &length));
    REFUSED(ucp_rkey_pack(two.context, memh, NULL, &length));
    REFUSED(ucp_memh_pack(NULL, &pack, &blob, &length));
    REFUSED(ucp_memh_pack(memh, NULL, &blob, &length));
    pack.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS;
    pack.flags = 0x100;
    REFUSED(ucp_memh_pack(memh, &pack, &blob, &length));
    REFUSED_VOID(ucp_memh_buffer_release(NULL, &release));
    REFUSED_VOID(ucp_rkey_buffer_release(NULL));
    REFUSED_VOID(ucp_rkey_buffer_release(not_key));
    REFUSED(ucp_ep_rkey_unpack(NULL, not_key, &rkey));
    REFUSED(ucp_ep_rkey_unpack(two.ep[0], NULL, &rkey));
    REFUSED(ucp_ep_rkey_unpack(two.ep[0], not_key, &rkey));
    CHECK_OK(ucp_rkey_pack(two.context, memh, &blob, &length));
    CHECK_OK(ucp_ep_rkey_unpack(two.ep[0], blob, &rkey));
    ucp_rkey_buffer_release(blob);
    REFUSED(ucp_rkey_ptr(NULL, 0, &blob));
    REFUSED(ucp_rkey_ptr(rkey, 0, &blob));
    REFUSED(ucp_rkey_compare(NULL, rkey, rkey, &compare, &order));
    REFUSED(ucp_rkey_compare(two.worker[0], NULL, rkey, &compare, &order));
    REFUSED(ucp_rkey_compare(two.worker[0], rkey, rkey, NULL, &order));
    compare.field_mask = 1;
    REFUSED(ucp_rkey_compare(two.worker[0], rkey, rkey, &compare, &order));
    REFUSED_VOID(ucp_rkey_destroy(NULL));
    REFUSED(ucp_put(NULL, &word, 8, (uintptr_t)&word, rkey));
    REFUSED(ucp_get(two.ep[0], &word, 8, (uintptr_t)&word, NULL));
    REFUSED(ucp_put_nbi(two.ep[0], &word, 8, (uintptr_t)&word, NULL));
    REFUSED(ucp_get_nbi(NULL, &word, 8, (uintptr_t)&word, rkey));
    REFUSED_PTR(ucp_put_nb(two.ep[0], &word, 8, (uintptr_t)&word, NULL, NULL));
    REFUSED_PTR(ucp_get_nb(NULL, &word, 8, (uintptr_t)&word, rkey, NULL));
    REFUSED_PTR(ucp_put_nbx(two.ep[0], &word, 8, (uintptr_t)&word, NULL, &plain));
    REFUSED_PTR(ucp_put_nbx(two.ep[0], &word, 8, (uintptr_t)&word, rkey, NULL));
    REFUSED_PTR(ucp_put_nbx(two.ep[0], &word, 9, (uintptr_t)&word, rkey, &plain));
    REFUSED_PTR(ucp_get_nbx(two.ep[0], &word, SIZE_MAX, (uintptr_t)&word, rkey, &plain));
    REFUSED_PTR(ucp_get_nbx(two.ep[0], NULL, 8, (uintptr_t)&word, rkey, &plain));
    REFUSED(ucp_atomic_add32(two.ep[0], 1, (uintptr_t)&word, NULL));
    REFUSED(ucp_atomic_add64(NULL, 1, (uintptr_t)&word, rkey));
    REFUSED(ucp_atomic_add64(two.ep[0], 1, (uintptr_t)&word + 1, rkey));
    REFUSED(ucp_atomic_fadd32(two.ep[0], 1, (uintptr_t)&word, rkey, NULL));
    REFUSED(ucp_atomic_fadd64(two.ep[0], 1, (uintptr_t)&word, rkey, NULL));
    REFUSED(ucp_atomic_swap32(two.ep[0], 1, (uintptr_t)&word, rkey, NULL));
    REFUSED(ucp_atomic_swap64(two.ep[0], 1, (uintptr_t)&word, rkey, NULL));
    REFUSED(ucp_atomic_cswap32(two.ep[0], 1, 2, (uintptr_t)&word, rkey, NULL));
    REFUSED(ucp_atomic_cswap64(two.ep[0], 1, 2, (uintptr_t)&word, rkey, NULL));
    REFUSED(ucp_atomic_post(two.ep[0], 77, 1, 8, (uintptr_t)&word, rkey));
    REFUSED(ucp_atomic_post(two.ep[0], UCP_ATOMIC_POST_OP_ADD, 1, 3, (uintptr_t)&word, rkey));
    REFUSED_PTR(ucp_atomic_fetch_nb(two.ep[0], 77, 1, &word, 8, (uintptr_t)&word, rkey, NULL));
    REFUSED_PTR(ucp_atomic_fetch_nb(two.ep[0], UCP_ATOMIC_FETCH_OP_FADD, 1, NULL, 8, (uintptr_t)&word, rkey, NULL));
    REFUSED_PTR(ucp_atomic_op_nbx(two.ep[0], 77, &word, 1, (uintptr_t)&word, rkey, &plain));
    REFUSED_PTR(ucp_atomic_op_nbx(two.ep[0], UCP_ATOMIC_OP_ADD, NULL, 1, (uintptr_t)&word, rkey, &plain));
    CHECK_EQ(word, 0);
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(two.context, memh));
}

static void requests(void)
{
    static char garbage[4096];
    ucp_request_attr_t attr = {.field_mask = 0};
    ucp_datatype_attr_t size = {.field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE};
    ucp_generic_dt_ops_t ops = {NULL};
    ucp_tag_recv_info_t info;
    ucp_datatype_t datatype;
    size_t length;

    REFUSED(ucp_request_check_status(NULL));
    REFUSED(ucp_request_query(NULL, &attr));
    REFUSED(ucp_request_test(NULL, &info));
    REFUSED(ucp_tag_recv_request_test(NULL, &info));
    REFUSED(ucp_stream_recv_request_test(NULL, &length));
    REFUSED_VOID(CHECK_EQ(ucp_request_is_completed(NULL), 0));
    REFUSED_VOID(ucp_request_cancel(two.worker[0], NULL));
    /* MPICH does this; a line of the log at DIAG. */
    memset(garbage, 0x5a, sizeof(garbage));
    ucp_request_cancel(two.worker[0], garbage + sizeof(garbage) / 2);
    REFUSED_VOID(ucp_request_free(NULL));
    REFUSED_VOID(ucp_request_release(NULL));
    REFUSED_VOID(ucp_request_free(UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE))); /* a status in a request's place */
    REFUSED_VOID(CHECK(ucp_request_alloc(NULL) == NULL));
    REFUSED(ucp_dt_query(1, NULL));
    REFUSED(ucp_dt_query(1, &size));
    REFUSED(ucp_dt_query(ucp_dt_make_iov(), &size));
    REFUSED(ucp_dt_create_generic(NULL, NULL, &datatype));
    REFUSED(ucp_dt_create_generic(&ops, NULL, &datatype));
}

int main(void)
{
    log_fd = memfd_create("log", MFD_CLOEXEC);
    CHECK(log_fd >= 0);
    two_open(&two, UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM |
                   UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP, 1);
    old_stderr = dup(STDERR_FILENO);
    CHECK(dup2(log_fd, STDERR_FILENO) >= 0);
    contexts();
    workers();
    endpoints();
    listeners();
    messages();
    memory();
    requests();
    dup2(old_stderr, STDERR_FILENO);
    CHECK_EQ(wrong, 0);
    OK("%u wrong calls", refusals);
    two_close(&two);
    return 0;
}
