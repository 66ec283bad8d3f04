/* A process of another user cannot open our segments: with shared memory alone the call returns an error; with tcp
 * beside it every message arrives, without a delay. */
/* headers: ours */
/* timeout: 120 */
#define _GNU_SOURCE
#include "peers.h"

#include <grp.h>
#include <unistd.h>

enum { ONE = 65533, OTHER = 65534, LONG = 100000 };

static char out[LONG], in[LONG];

static void failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    *(ucs_status_t *)arg = status;
}

/* The status of a sending operation, which is taken back when its endpoint fails. */
static ucs_status_t end_of(side_t *side, ucs_status_ptr_t request, const ucs_status_t *failure)
{
    if (UCS_PTR_IS_PTR(request)) {
        DRIVE_UNTIL(side, side, *failure != UCS_OK || ucp_request_check_status(request) != UCS_INPROGRESS);
        if (*failure != UCS_OK) {
            ucp_request_cancel(side->worker, request);
        }
    }
    return side_wait(side, side, request);
}

/* One message each way; gives how the sending ended. */
static ucs_status_t talk(const pair_t *pair, size_t length)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucs_status_t failure = UCS_OK, sent, theirs, status;
    ucs_status_ptr_t receive;
    ucp_ep_params_t params;
    side_t side;
    void *address;
    ucp_ep_h ep;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    pair_send_blob(pair, side.address, side.address_length);
    address = pair_recv_blob(pair);
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.address = address;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = failed;
    params.err_handler.arg = &failure;
    receive = ucp_tag_recv_nbx(side.worker, in, length, 1, ~0ull, &param);
    CHECK(UCS_PTR_IS_PTR(receive));
    memset(out, getuid() == ONE ? '1' : '2', length);
    sent = ucp_ep_create(side.worker, &params, &ep);
    if (sent == UCS_OK) {
        sent = end_of(&side, ucp_tag_send_nbx(ep, out, length, 1, &param), &failure);
        if (sent == UCS_OK) {
            sent = end_of(&side, ucp_ep_flush_nbx(ep, &param), &failure);
        }
    }
    pair_send(pair, &sent, sizeof(sent));
    while (!pair_ready(pair)) {
        ucp_worker_progress(side.worker);
    }
    pair_recv(pair, &theirs, sizeof(theirs));
    if (theirs != UCS_OK) {
        ucp_request_cancel(side.worker, receive);
    }
    status = side_wait(&side, &side, receive);
    CHECK_EQ(status, theirs == UCS_OK ? UCS_OK : UCS_ERR_CANCELED);
    if (status == UCS_OK) {
        CHECK(in[0] == (getuid() == ONE ? '2' : '1') && memcmp(in, in + 1, length - 1) == 0);
    }
    pair_barrier(pair);
    side_close(&side);
    free(address);
    return sent;
}

static void become(uid_t user)
{
    CHECK_EQ(setgroups(0, NULL), 0);
    CHECK_EQ(setresgid(user, user, user), 0);
    CHECK_EQ(setresuid(user, user, user), 0);
}

typedef struct {
    const char *tls;
    int passes;
} way_t;

/* Two processes, of a user each. */
static void try(const void *arg)
{
    static const size_t lengths[] = {8, LONG};
    const way_t *way = arg;
    pair_t pair = pair_start();
    unsigned k;

    setenv("UCX_TLS", way->tls, 1);
    /* What is refused is said: that is not the subject here. */
    setenv("UCX_LOG_LEVEL", "fatal", 1);
    become(pair_is_child(&pair) ? ONE : OTHER);
    for (k = 0; k < sizeof(lengths) / sizeof(*lengths); ++k) {
        ucs_status_t status = talk(&pair, lengths[k]);

        if ((status == UCS_OK) != way->passes) {
            FAIL("%s, %zu bytes: %s", way->tls, lengths[k], ucs_status_string(status));
        }
    }
    pair_finish(&pair);
}

int main(void)
{
    static const way_t ways[] = {{"posix", 0}, {"sysv", 0}, {"posix,sysv,cma", 0}, {"posix,tcp", 1}, {"sysv,cma,tcp", 1}, {"all", 1}};
    unsigned i;

    if (geteuid() != 0) {
        SKIP("only root can start processes of two users");
    }
    for (i = 0; i < sizeof(ways) / sizeof(*ways); ++i) {
        CHECK_EQ(pair_apart(try, &ways[i]), 0);
        OK("%s: %s", ways[i].tls, ways[i].passes ? "every message passed" : "an error, at once");
    }
    return 0;
}
