/* What moves a rendezvous message, by UCX_RNDV_SCHEME: the receiver's read of the sender's memory, the sender's write
 * into the receiver's, or neither. Tags and active messages, expected and not, around the lengths where fragments
 * begin. */
/* oracle: 1.22.0 */
/* headers: ours 1.22.0 */
/* cflags: -rdynamic */
/* env: UCX_TLS=posix,cma UCX_RNDV_THRESH=1k UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <sys/syscall.h>
#include <sys/uio.h>

static unsigned reads, writes;
static side_t a, b;

/* The libraries call these instead of the C library's. Words are read to see whether that is allowed: not counted. */
ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote,
                         unsigned long remotes, unsigned long flags)
{
    reads += local->iov_len > 64;
    return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote,
                          unsigned long remotes, unsigned long flags)
{
    writes += local->iov_len > 64;
    return syscall(SYS_process_vm_writev, pid, local, locals, remote, remotes, flags);
}

typedef struct {
    char *into;
    size_t length;
    void *receive;
    unsigned arrived;
} am_t;

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    am_t *am = arg;

    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV);
    CHECK_EQ(length, am->length);
    am->receive = ucp_am_recv_data_nbx(b.worker, data, am->into, length, &plain);
    ++am->arrived;
    return UCS_INPROGRESS;
}

static void tag(ucp_ep_h ep, size_t length, int expected, char *out, char *in)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    void *send, *receive = NULL;

    if (expected) {
        receive = ucp_tag_recv_nbx(b.worker, in, length, 5, UINT64_MAX, &plain);
        send = ucp_tag_send_nbx(ep, out, length, 5, &plain);
    } else {
        ucp_tag_recv_info_t info;

        send = ucp_tag_send_nbx(ep, out, length, 5, &plain);
        DRIVE_UNTIL(&a, &b, ucp_tag_probe_nb(b.worker, 5, UINT64_MAX, 0, &info));
        CHECK_EQ(info.length, length);
        receive = ucp_tag_recv_nbx(b.worker, in, length, 5, UINT64_MAX, &plain);
    }
    CHECK_OK(side_wait(&a, &b, receive));
    CHECK_OK(side_wait(&a, &b, send));
}

static void am(ucp_ep_h ep, size_t length, char *out, char *in)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_RNDV};
    am_t am = {.into = in, .length = length};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                      .id = 3,
                                      .cb = on_am,
                                      .arg = &am};
    void *send;

    CHECK_OK(ucp_worker_set_am_recv_handler(b.worker, &handler));
    send = ucp_am_send_nbx(ep, 3, "head", 4, out, length, &param);
    DRIVE_UNTIL(&a, &b, am.arrived);
    CHECK_OK(side_wait(&a, &b, am.receive));
    CHECK_OK(side_wait(&a, &b, send));
}

static void scheme(const char *name)
{
    static const size_t lengths[] = {1024, 8191, 8192, 65537, 1 << 20, (1 << 20) + 1};
    char *out = malloc(lengths[5]), *in = malloc(lengths[5]);
    ucp_ep_h ep;
    unsigned i, way;

    setenv("UCX_RNDV_SCHEME", name, 1);
    side_open(&a, UCP_FEATURE_TAG | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    side_open(&b, UCP_FEATURE_TAG | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&a, b.address);
    CHECK_OK(side_wait(&a, &b, ucp_ep_flush_nbx(ep, &(ucp_request_param_t){.op_attr_mask = 0})));
    reads = writes = 0;
    for (i = 0; i < 6; ++i) {
        for (way = 0; way < 3; ++way) {
            fill(out, lengths[i], i * 3 + way);
            memset(in, 0, lengths[i]);
            if (way < 2) {
                tag(ep, lengths[i], way, out, in);
            } else {
                am(ep, lengths[i], out, in);
            }
            CHECK(!memcmp(in, out, lengths[i]));
        }
    }
    printf("%s: reads %s, writes %s\n", name, reads ? "yes" : "no", writes ? "yes" : "no");
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
    side_close(&a);
    side_close(&b);
    free(out);
    free(in);
}

int main(void)
{
    scheme("auto");
    scheme("get_zcopy");
    scheme("put_zcopy");
    scheme("am");
    scheme("get_ppln");
    scheme("put_ppln");
    scheme("rkey_ptr");
    return 0;
}
