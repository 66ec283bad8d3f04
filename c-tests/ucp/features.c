/* A call that needs a feature which ucp_init was not asked for is refused with UCS_ERR_INVALID_PARAM, and has no effect; a
 * probe finds nothing. Upstream's builds with parameter checks, as Debian's, refuse the same; others go on, and crash. */
/* headers: ours 1.13.1 1.22.0 */
/* oracle: 1.13.1 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include "peers.h"

enum { LENGTH = 64 };

static const struct {
    const char *name;
    uint64_t bit;
} features[] = {
    {"tag", UCP_FEATURE_TAG},       {"stream", UCP_FEATURE_STREAM}, {"am", UCP_FEATURE_AM},
    {"rma", UCP_FEATURE_RMA},       {"amo32", UCP_FEATURE_AMO32},   {"amo64", UCP_FEATURE_AMO64},
};
enum { FEATURES = sizeof(features) / sizeof(features[0]) };

static side_t side;
static ucp_ep_h ep;
static ucp_mem_h memh;
static ucp_rkey_h rkey;
static uint64_t address;
static char buffer[LENGTH];
static struct {
    uint64_t words[LENGTH / 8];
} target;
/* A request of the caller's, with room for upstream's in front. */
static char room[4096] __attribute__((aligned(64)));
static void *const own_request = room + 2048;
static unsigned refused, called;

static ucs_status_t on_message(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    ++called;
    return UCS_OK;
}

static void check_refused(const char *call, ucs_status_t status)
{
    ++refused;
    if (status != UCS_ERR_INVALID_PARAM) {
        FAIL("%s: %s", call, ucs_status_string(status));
    }
}

#define REFUSED(call) check_refused(#call, (ucs_status_t)(call))
#define REFUSED_PTR(call) check_refused(#call, UCS_PTR_RAW_STATUS(call))

static void tags(void)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_request_param_t later = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    ucp_datatype_t byte = ucp_dt_make_contig(1);
    ucp_tag_recv_info_t info;

    REFUSED_PTR(ucp_tag_send_nbx(ep, buffer, 8, 1, &param));
    REFUSED_PTR(ucp_tag_send_nbx(ep, buffer, LENGTH, 1, &later));
    REFUSED_PTR(ucp_tag_send_nb(ep, buffer, 8, byte, 1, NULL));
    REFUSED(ucp_tag_send_nbr(ep, buffer, 8, byte, 1, own_request));
    REFUSED_PTR(ucp_tag_send_sync_nb(ep, buffer, 8, byte, 1, NULL));
    REFUSED_PTR(ucp_tag_send_sync_nbx(ep, buffer, 8, 1, &param));
    REFUSED_PTR(ucp_tag_recv_nbx(side.worker, buffer, 8, 1, 0, &param));
    REFUSED_PTR(ucp_tag_recv_nbx(side.worker, buffer, 8, 1, 0, &later));
    REFUSED_PTR(ucp_tag_recv_nb(side.worker, buffer, 8, byte, 1, 0, NULL));
    REFUSED(ucp_tag_recv_nbr(side.worker, buffer, 8, byte, 1, 0, own_request));
    CHECK(ucp_tag_probe_nb(side.worker, 1, 0, 0, &info) == NULL);
    CHECK(ucp_tag_probe_nb(side.worker, 1, 0, 1, &info) == NULL);
}

static void streams(void)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_datatype_t byte = ucp_dt_make_contig(1);
    ucp_stream_poll_ep_t ready[2];
    size_t length;

    REFUSED_PTR(ucp_stream_send_nbx(ep, buffer, 8, &param));
    REFUSED_PTR(ucp_stream_send_nb(ep, buffer, 8, byte, NULL, 0));
    REFUSED_PTR(ucp_stream_recv_nbx(ep, buffer, 8, &length, &param));
    REFUSED_PTR(ucp_stream_recv_nb(ep, buffer, 8, byte, NULL, &length, 0));
    REFUSED_PTR(ucp_stream_recv_data_nb(ep, &length));
    REFUSED(ucp_stream_worker_poll(side.worker, ready, 2, 0));
}

static void active_messages(void)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = 1,
                                      .cb = on_message};

    REFUSED(ucp_worker_set_am_recv_handler(side.worker, &handler));
    REFUSED(ucp_worker_set_am_handler(side.worker, 2, NULL, NULL, 0));
    REFUSED_PTR(ucp_am_send_nbx(ep, 1, NULL, 0, buffer, 8, &param));
    REFUSED_PTR(ucp_am_send_nbx(ep, 1, buffer, 8, NULL, 0, &param));
    REFUSED_PTR(ucp_am_send_nb(ep, 1, buffer, 8, ucp_dt_make_contig(1), NULL, 0));
}

static void accesses(void)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    REFUSED_PTR(ucp_put_nbx(ep, buffer, 8, address, rkey, &param));
    REFUSED_PTR(ucp_get_nbx(ep, buffer, 8, address, rkey, &param));
    REFUSED(ucp_put(ep, buffer, 8, address, rkey));
    REFUSED(ucp_get(ep, buffer, 8, address, rkey));
    REFUSED(ucp_put_nbi(ep, buffer, 8, address, rkey));
    REFUSED(ucp_get_nbi(ep, buffer, 8, address, rkey));
    REFUSED_PTR(ucp_put_nb(ep, buffer, 8, address, rkey, NULL));
    REFUSED_PTR(ucp_get_nb(ep, buffer, 8, address, rkey, NULL));
}

static void atomics(size_t size)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(size)};
    uint64_t value = 1, result = 0;

    REFUSED_PTR(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &value, 1, address, rkey, &param));
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.reply_buffer = &result;
    REFUSED_PTR(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_SWAP, &value, 1, address, rkey, &param));
    REFUSED(ucp_atomic_post(ep, UCP_ATOMIC_POST_OP_ADD, 1, size, address, rkey));
    REFUSED_PTR(ucp_atomic_fetch_nb(ep, UCP_ATOMIC_FETCH_OP_FADD, 1, &result, size, address, rkey, NULL));
    if (size == 4) {
        REFUSED(ucp_atomic_add32(ep, 1, address, rkey));
        REFUSED(ucp_atomic_fadd32(ep, 1, address, rkey, (uint32_t *)&result));
        REFUSED(ucp_atomic_swap32(ep, 1, address, rkey, (uint32_t *)&result));
        REFUSED(ucp_atomic_cswap32(ep, 0, 1, address, rkey, (uint32_t *)&result));
    } else {
        REFUSED(ucp_atomic_add64(ep, 1, address, rkey));
        REFUSED(ucp_atomic_fadd64(ep, 1, address, rkey, &result));
        REFUSED(ucp_atomic_swap64(ep, 1, address, rkey, &result));
        REFUSED(ucp_atomic_cswap64(ep, 0, 1, address, rkey, &result));
    }
    CHECK_EQ(result, 0);
}

static void refuse(uint64_t feature)
{
    switch (feature) {
    case UCP_FEATURE_TAG:
        return tags();
    case UCP_FEATURE_STREAM:
        return streams();
    case UCP_FEATURE_AM:
        return active_messages();
    case UCP_FEATURE_RMA:
        return accesses();
    default:
        return atomics((feature == UCP_FEATURE_AMO32) ? 4 : 8);
    }
}

/* What the context was made for works, before and after the refusals. */
static void use(uint64_t feature)
{
    ucp_request_param_t param = {.op_attr_mask = 0}, word = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = 3,
                                      .cb = on_message};
    uint64_t before = target.words[0], one = 1, got = 0;
    ucs_status_ptr_t receive;
    size_t length;

    called = 0;
    switch (feature) {
    case UCP_FEATURE_TAG:
        receive = ucp_tag_recv_nbx(side.worker, &got, 8, 1, -1, &param);
        request_finish(side.worker, ucp_tag_send_nbx(ep, &one, 8, 1, &param));
        request_finish(side.worker, receive);
        CHECK_EQ(got, 1);
        return;
    case UCP_FEATURE_STREAM:
        receive = ucp_stream_recv_nbx(ep, &got, 8, &length, &param);
        request_finish(side.worker, ucp_stream_send_nbx(ep, &one, 8, &param));
        request_finish(side.worker, receive);
        CHECK_EQ(got, 1);
        return;
    case UCP_FEATURE_AM:
        CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
        request_finish(side.worker, ucp_am_send_nbx(ep, 3, NULL, 0, &one, 8, &param));
        WORKERS_UNTIL(side.worker, side.worker, called == 1);
        return;
    case UCP_FEATURE_RMA:
        request_finish(side.worker, ucp_put_nbx(ep, &one, 8, address, rkey, &param));
        request_finish(side.worker, ucp_get_nbx(ep, &got, 8, address, rkey, &param));
        CHECK_EQ(got, 1);
        return;
    default:
        word.datatype = ucp_dt_make_contig((feature == UCP_FEATURE_AMO32) ? 4 : 8);
        request_finish(side.worker, ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, address, rkey, &word));
        request_finish(side.worker, ucp_ep_flush_nbx(ep, &param));
        CHECK_EQ(target.words[0], before + 1);
    }
}

static void map_target(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = &target,
                                   .length = sizeof(target)};
    size_t length;
    void *key;

    address = (uintptr_t)&target;
    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &key, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, key, &rkey));
    ucp_rkey_buffer_release(key);
    memset(&target, 0, sizeof(target));
}

int main(void)
{
    static const ucs_thread_mode_t modes[] = {UCS_THREAD_MODE_SINGLE, UCS_THREAD_MODE_MULTI};
    unsigned mode, own, other;

    for (mode = 0; mode < 2; ++mode) {
        for (own = 0; own < FEATURES; ++own) {
            refused = 0;
            side_open(&side, features[own].bit, modes[mode]);
            ep = side_connect(&side, side.address);
            map_target();
            use(features[own].bit);
            for (other = 0; other < FEATURES; ++other) {
                if (other != own) {
                    refuse(features[other].bit);
                }
            }
            use(features[own].bit);
            printf("%s alone, mode %u: %u calls refused\n", features[own].name, mode, refused);
            ucp_rkey_destroy(rkey);
            CHECK_OK(ucp_mem_unmap(side.context, memh));
            side_close(&side);
        }
    }
    OK("features");
    return 0;
}
