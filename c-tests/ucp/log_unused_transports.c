/* The log says for each transport that an endpoint does not use why: at level debug where another one is used, as an error
 * where nothing reaches the peer. */
/* env: UCX_LOG_LEVEL=debug UCX_WARN_UNUSED_ENV_VARS=n */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "peers.h"

static side_t here, there;

/* Both sides, each with its transports; the second is in this process too, where "self" does not reach it. */
static void open_both(const char *ours, const char *theirs)
{
    setenv("UCX_TLS", ours, 1);
    side_open(&here, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    setenv("UCX_TLS", theirs, 1);
    side_open(&there, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
}

/* What connecting writes to stderr; it answers `expected`. */
static const char *said(ucs_status_t expected)
{
    static char text[100000];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = there.address};
    int caught = memfd_create("caught", MFD_CLOEXEC), before = dup(2);
    ucs_status_t status;
    ssize_t length;
    ucp_ep_h ep;

    CHECK((caught >= 0) && (before >= 0));
    dup2(caught, 2);
    status = ucp_ep_create(here.worker, &params, &ep);
    dup2(before, 2);
    close(before);
    length = pread(caught, text, sizeof(text) - 1, 0);
    close(caught);
    CHECK((length > 0) && (status == expected));
    text[length] = '\0';
    if (status == UCS_OK) {
        CHECK_OK(side_wait(&here, &there, ucp_ep_close_nbx(ep, &(ucp_request_param_t){0})));
    }
    side_close(&here);
    side_close(&there);
    return text;
}

static void names(const char *text, const char *line)
{
    if (strstr(text, line) == NULL) {
        FAIL("\"%s\" is missing in\n%s", line, text);
    }
}

int main(void)
{
    const char *text;

    open_both("posix,tcp,self", "posix,sysv,tcp,self");
    text = said(UCS_OK);
    names(text, "tag(posix/memory)");
    names(text, "self is not used: the peer is another worker");
    names(text, "sysv is not used: UCX_TLS does not name it here");
    names(text, "tcp is not used: reaches the peer too, but is slower");
    CHECK(strstr(text, "posix is not used") == NULL);

    open_both("posix", "tcp");
    text = said(UCS_ERR_UNREACHABLE);
    names(text, "posix: not open at the peer: is it allowed by its UCX_TLS and UCX_NET_DEVICES?");
    names(text, "tcp: UCX_TLS does not name it here");
    return 0;
}
