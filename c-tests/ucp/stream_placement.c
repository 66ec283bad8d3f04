/* Long messages of a stream over sockets are read from the socket into the receive that waits for them, not copied there. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"

#include <dlfcn.h>
#include <sys/socket.h>

enum { LENGTH = 1 << 20, MESSAGES = 20 };

static char out[LENGTH], in[LENGTH];
static size_t placed;

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    static ssize_t (*next)(int, struct msghdr*, int);
    const struct iovec *first = message->msg_iov;
    ssize_t got;

    if (next == NULL) {
        *(void**)&next = dlsym(RTLD_NEXT, "recvmsg");
    }
    got = next(fd, message, flags);
    if (got > 0 && message->msg_iovlen > 0 && (char*)first->iov_base >= in && (char*)first->iov_base < in + LENGTH) {
        placed += (size_t)got < first->iov_len ? (size_t)got : first->iov_len;
    }
    return got;
}

int main(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t all = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    ucs_status_ptr_t receive, send;
    size_t got, length;
    two_t two;
    int i;

    two_open(&two, UCP_FEATURE_STREAM, 1);
    for (i = 0; i < 2 * MESSAGES; ++i) {
        fill(out, LENGTH, i);
        send = ucp_stream_send_nbx(two.ep[0], out, LENGTH, &plain);
        if (i % 2) {
            receive = ucp_stream_recv_nbx(two.ep[1], in, LENGTH, &length, &all);
            CHECK_OK(two_wait(&two, receive));
        } else {
            /* Each ends with what there is. */
            for (got = 0; got < LENGTH; got += length) {
                length = 0;
                receive = ucp_stream_recv_nbx(two.ep[1], in + got, LENGTH - got, &length, &plain);
                if (UCS_PTR_IS_PTR(receive)) {
                    TWO_UNTIL(&two, ucp_stream_recv_request_test(receive, &length) != UCS_INPROGRESS);
                    ucp_request_free(receive);
                } else {
                    CHECK_OK(UCS_PTR_RAW_STATUS(receive));
                }
            }
        }
        CHECK_OK(two_wait(&two, send));
        CHECK_PATTERN(in, LENGTH, i);
    }
    if (placed < (size_t)LENGTH * MESSAGES * 2 / 8 * 7) {
        FAIL("of %d messages only %zu bytes were read into their place", 2 * MESSAGES, placed);
    }
    OK("long messages are read into their place");
    two_close(&two);
    return 0;
}
