/* A request that is freed before its operation has completed: the operation goes on, and its callback is called no more
 * after ucp_request_free; after the older ucp_request_release it is. Clients depend on it: the user data of Sandia
 * OpenSHMEM's puts is on a stack that is gone by then. */
/* oracle: 1.13.1 1.22.0 */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <string.h>

enum { LENGTH = 1 << 20 };

static int called;

static void sent(void *request, ucs_status_t status, void *user_data)
{
    ++called;
}

static void received(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *user_data)
{
    ++called;
}

static void old_sent(void *request, ucs_status_t status)
{
    ++called;
}

static void end(void *request, int release)
{
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_EQ(ucp_request_check_status(request), UCS_INPROGRESS);
    if (release) {
        ucp_request_release(request);
    } else {
        ucp_request_free(request);
    }
}

/* The acknowledgements of earlier messages are here: one more that is acknowledged follows them. */
static void settle(two_t *two, int expected)
{
    static const ucp_request_param_t none;
    void *receive = ucp_tag_recv_nbx(two->worker[1], NULL, 0, 9, -1, &none);

    CHECK_OK(two_wait(two, ucp_tag_send_sync_nbx(two->ep[0], NULL, 0, 9, &none)));
    CHECK_OK(two_wait(two, receive));
    if (expected) {
        TWO_UNTIL(two, called != 0);
    }
}

int main(void)
{
    static char out[LENGTH], in[LENGTH], expected[LENGTH];
    static const ucp_request_param_t none;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK};
    int release, length;
    void *request;
    two_t two;

    two_open(&two, UCP_FEATURE_TAG, 0);
    for (release = 0; release < 2; ++release) {
        for (length = 8; length <= LENGTH; length = length == 8 ? LENGTH : length * 2) {
            /* A synchronous send is in progress until it is matched. */
            memset(out, length + release, length);
            memset(expected, length + release, length);
            memset(in, 0, length);
            param.cb.send = sent;
            called = 0;
            end(ucp_tag_send_sync_nbx(two.ep[0], out, length, 1, &param), release);
            CHECK_OK(two_wait(&two, ucp_tag_recv_nbx(two.worker[1], in, length, 1, -1, &none)));
            settle(&two, release);
            CHECK(memcmp(in, expected, length) == 0);
            printf("send of %d, %s: callback called %d times\n", length, release ? "released" : "freed", called);

            called = 0;
            end(ucp_tag_send_sync_nb(two.ep[0], out, length, ucp_dt_make_contig(1), 2, old_sent), release);
            CHECK_OK(two_wait(&two, ucp_tag_recv_nbx(two.worker[1], in, length, 2, -1, &none)));
            settle(&two, release);
            printf("old send of %d, %s: callback called %d times\n", length, release ? "released" : "freed", called);

            memset(in, 0, length);
            param.cb.recv = received;
            called = 0;
            request = ucp_tag_recv_nbx(two.worker[1], in, length, 3, -1, &param);
            end(request, release);
            CHECK_OK(two_wait(&two, ucp_tag_send_sync_nbx(two.ep[0], out, length, 3, &none)));
            settle(&two, release);
            CHECK(memcmp(in, expected, length) == 0);
            printf("receive of %d, %s: callback called %d times\n", length, release ? "released" : "freed", called);
        }
    }
    two_close(&two);
    printf("ok a request that is freed calls nobody\n");
    return 0;
}
