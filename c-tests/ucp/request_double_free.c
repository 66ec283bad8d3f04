/* Requests that are freed twice, as MPICH 5.0.2 does with some: the second free has no effect, and no two operations
 * share a request afterwards. (With upstream's library they do.) */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { MANY = 4 };

static two_t two;

static void freed_by_callback(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *user_data)
{
    CHECK_OK(status);
    ucp_request_free(request);
    ++*(int*)user_data;
}

static void *receive(char *byte, int *told)
{
    ucp_request_param_t param = {.op_attr_mask = told ? UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA : 0,
                                 .cb.recv = freed_by_callback,
                                 .user_data = told};
    void *request = ucp_tag_recv_nbx(two.worker[1], byte, 1, 1, UINT64_MAX, &param);

    CHECK(UCS_PTR_IS_PTR(request));
    return request;
}

static void send_byte(char byte)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};

    CHECK_OK(two_wait(&two, ucp_tag_send_nbx(two.ep[0], &byte, 1, 1, &plain)));
}

/* As many receives as there are requests in the pool's hands now: each has its own, and its own byte. */
static void all_apart(void)
{
    char bytes[MANY] = {0};
    void *requests[MANY];
    int i, k;

    for (i = 0; i < MANY; ++i) {
        requests[i] = receive(&bytes[i], NULL);
        for (k = 0; k < i; ++k) {
            CHECK(requests[i] != requests[k]);
        }
    }
    for (i = 0; i < MANY; ++i) {
        send_byte('a' + i);
    }
    for (i = 0; i < MANY; ++i) {
        CHECK_OK(two_wait(&two, requests[i]));
        CHECK_EQ(bytes[i], 'a' + i);
    }
}

int main(void)
{
    void *request;
    char byte;
    int told = 0;

    two_open(&two, UCP_FEATURE_TAG, 1);
    request = receive(&byte, NULL);
    send_byte('x');
    TWO_UNTIL(&two, ucp_request_check_status(request) != UCS_INPROGRESS);
    ucp_request_free(request);
    ucp_request_free(request);
    all_apart();
    OK("freed twice when complete");

    request = receive(&byte, &told);
    send_byte('y');
    TWO_UNTIL(&two, told == 1);
    ucp_request_free(request);
    all_apart();
    OK("freed by its callback, and again");

    request = receive(&byte, NULL);
    ucp_request_free(request);
    ucp_request_free(request);
    send_byte('z');
    TWO_UNTIL(&two, byte == 'z');
    all_apart();
    OK("freed twice before its end");
    two_close(&two);
    return 0;
}
