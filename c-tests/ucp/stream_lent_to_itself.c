/* A long message of a worker to itself is copied once: it is lent in one part, from memory that the one before has given back. */
/* env: UCX_TLS=self */
#include "peers.h"

enum { LENGTH = 512 << 10 };

static const ucp_request_param_t plain;
static char source[LENGTH];

int main(void)
{
    char *data, *first = NULL;
    ucp_worker_h worker;
    size_t length;
    two_t two;
    ucp_ep_h ep;
    int i;

    two_open_workers(&two, UCP_FEATURE_STREAM, 1);
    ep = two_connect(&two, 0, 0);
    worker = two.worker[0];
    for (i = 0; i < 20; ++i) {
        fill(source, LENGTH, i);
        CHECK(ucp_stream_send_nbx(ep, source, LENGTH, &plain) == NULL);
        while ((data = ucp_stream_recv_data_nb(ep, &length)) == NULL) {
            ucp_worker_progress(worker);
        }
        CHECK_EQ(length, LENGTH);
        CHECK_PATTERN(data, length, i);
        CHECK((first == NULL) || (data == first));
        first = data;
        ucp_stream_data_release(ep, data);
    }
    OK("in one part");
    two_close_ep(&two, ep);
    two_close_workers(&two);
    return 0;
}
