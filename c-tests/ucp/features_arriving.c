/* Messages that come to a context which cannot receive them, as it asked for no such feature, are dropped, and take no
 * memory. Who waits for the peer's match or its read learns it. The log has one line for each feature of a context that is
 * missed by calls, and one for each by messages. */
/* headers: ours 1.22.0 */
/* env: UCX_LOG_LEVEL=warn UCX_LOG_FILE=stderr UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include "peers.h"

#include <sys/mman.h>

enum { LONG = 300000, TIMES = 200 };

static char data[LONG];
static int log_fd, old_stderr;

/* How often a text stands in the log. */
static unsigned in_log(const char *wanted)
{
    static char text[1 << 16];
    ssize_t length = pread(log_fd, text, sizeof(text) - 1, 0);
    unsigned count = 0;
    const char *at;

    CHECK(length >= 0);
    text[length] = 0;
    for (at = text; (at = strstr(at, wanted)) != NULL; ++at) {
        ++count;
    }
    return count;
}

static void check_log(const char *wanted, unsigned expected)
{
    unsigned count = in_log(wanted);

    if (count != expected) {
        dprintf(old_stderr, "\"%s\": %u times in the log, expected %u\n", wanted, count, expected);
        _exit(1);
    }
}

static ucs_status_t send_tag(side_t *from, side_t *to, ucp_ep_h ep, size_t length, int sync)
{
    ucp_request_param_t param = {.op_attr_mask = 0};

    return side_wait(from, to, sync ? ucp_tag_send_sync_nbx(ep, data, length, 1, &param) :
                                      ucp_tag_send_nbx(ep, data, length, 1, &param));
}

static void arrive(const char *transports, int has_rendezvous)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    side_t from, to;
    ucs_status_t status;
    ucp_tag_recv_info_t info;
    ucp_ep_h ep;
    int i;

    CHECK(setenv("UCX_TLS", transports, 1) == 0);
    CHECK(ftruncate(log_fd, 0) == 0);
    CHECK(lseek(log_fd, 0, SEEK_SET) == 0);
    side_open(&from, UCP_FEATURE_TAG | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    side_open(&to, UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&from, to.address);
    /* Far more than are kept for receives to come. */
    for (i = 0; i < TIMES; ++i) {
        CHECK_OK(send_tag(&from, &to, ep, 8, 0));
        CHECK_OK(send_tag(&from, &to, ep, 2000, 0));
    }
    CHECK_STATUS(send_tag(&from, &to, ep, 8, 1), UCS_ERR_INVALID_PARAM);
    CHECK_STATUS(send_tag(&from, &to, ep, 2000, 1), UCS_ERR_INVALID_PARAM);
    for (i = 0; i < 3; ++i) {
        status = send_tag(&from, &to, ep, LONG, 0);
        CHECK(has_rendezvous ? status == UCS_ERR_INVALID_PARAM : status == UCS_OK);
        CHECK_STATUS(send_tag(&from, &to, ep, LONG, 1), UCS_ERR_INVALID_PARAM);
    }
    for (i = 0; i < TIMES; ++i) {
        CHECK_OK(side_wait(&from, &to, ucp_stream_send_nbx(ep, data, 8, &param)));
    }
    CHECK_OK(side_wait(&from, &to, ucp_stream_send_nbx(ep, data, LONG, &param)));
    CHECK_OK(side_wait(&from, &to, ucp_ep_flush_nbx(ep, &param)));
    /* What has no answer may still be under way. */
    while (in_log("are dropped: UCP_FEATURE_STREAM was not asked for") == 0) {
        ucp_worker_progress(to.worker);
    }
    for (i = 0; i < 2; ++i) {
        CHECK(ucp_tag_probe_nb(to.worker, 0, 0, 1, &info) == NULL);
        CHECK(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(to.worker, data, 8, 0, 0, &param)) == UCS_ERR_INVALID_PARAM);
        CHECK(ucp_stream_worker_poll(to.worker, NULL, 0, 0) == UCS_ERR_INVALID_PARAM);
    }
    CHECK_OK(side_disconnect(&from, &to, ep, 0));
    check_log("are dropped: UCP_FEATURE_TAG was not asked for", 1);
    check_log("are dropped: UCP_FEATURE_STREAM was not asked for", 1);
    check_log("are refused: UCP_FEATURE_TAG was not asked for", 1);
    check_log("are refused: UCP_FEATURE_STREAM was not asked for", 1);
    check_log("UCX", 4);
    side_close(&from);
    side_close(&to);
}

int main(void)
{
    log_fd = memfd_create("log", MFD_CLOEXEC);
    CHECK(log_fd >= 0);
    old_stderr = dup(STDERR_FILENO);
    CHECK(dup2(log_fd, STDERR_FILENO) >= 0);
    arrive("posix", 1);
    arrive("tcp", 1);
    CHECK(setenv("UCX_RNDV_THRESH", "inf", 1) == 0);
    arrive("tcp", 0);
    CHECK(dup2(old_stderr, STDERR_FILENO) >= 0);
    OK("features_arriving");
    return 0;
}
