/* Requests: of the library and in the caller's memory; their status, texts, end and return; and every flag that says when an operation may end. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { LARGE = 1 << 20 };

static two_t two;
static char large[2][LARGE];
static unsigned calls;

static void sent(void *request, ucs_status_t status, void *user_data)
{
    ++calls;
    CHECK_STATUS(status, UCS_OK);
    CHECK(user_data == &calls);
}

static ucs_status_ptr_t recv_with(unsigned mask, void *buffer, size_t length, ucp_tag_t tag)
{
    ucp_request_param_t param = {.op_attr_mask = mask};

    return ucp_tag_recv_nbx(two.worker[1], buffer, length, tag, -1, &param);
}

static ucs_status_ptr_t send_with(unsigned mask, const void *buffer, size_t length, ucp_tag_t tag)
{
    ucp_request_param_t param = {.op_attr_mask = mask | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = sent,
                                 .user_data = &calls};

    return ucp_tag_send_nbx(two.ep[0], buffer, length, tag, &param);
}

static void arrived(ucp_tag_t tag)
{
    ucp_tag_recv_info_t info;

    TWO_UNTIL(&two, ucp_tag_probe_nb(two.worker[1], tag, -1, 0, &info) != NULL);
}

static void queries(void)
{
    char text[200];
    ucp_request_attr_t attr = {.field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING |
                                             UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE |
                                             UCP_REQUEST_ATTR_FIELD_STATUS | UCP_REQUEST_ATTR_FIELD_MEM_TYPE,
                               .debug_string = text,
                               .debug_string_size = sizeof(text)};
    ucp_tag_recv_info_t info = {.length = 55};
    ucs_status_ptr_t request;
    char byte;

    request = recv_with(0, &byte, 1, 1);
    CHECK(UCS_PTR_IS_PTR(request) && !UCS_PTR_IS_ERR(request));
    CHECK_OK(ucp_request_query(request, &attr));
    CHECK_STATUS(attr.status, UCS_INPROGRESS);
    CHECK_EQ(attr.mem_type, UCS_MEMORY_TYPE_HOST);
    CHECK((strlen(text) > 5) && (strlen(text) < sizeof(text)));
    memset(text, 'x', sizeof(text));
    attr.debug_string_size = 6;
    CHECK_OK(ucp_request_query(request, &attr));
    CHECK_EQ(strlen(text), 5);
    CHECK_EQ(text[6], 'x');
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING;
    CHECK_STATUS(ucp_request_query(request, &attr), UCS_ERR_INVALID_PARAM);
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_STATUS;
    CHECK_STATUS(ucp_request_test(request, &info), UCS_INPROGRESS);
    CHECK_STATUS(ucp_tag_recv_request_test(request, &info), UCS_INPROGRESS);
    CHECK_EQ(ucp_request_is_completed(request), 0);
    CHECK_EQ(info.length, 55);
    CHECK_OK(two_wait(&two, send_with(0, "a", 1, 1)));
    TWO_UNTIL(&two, ucp_request_is_completed(request));
    CHECK_OK(ucp_request_check_status(request));
    CHECK_OK(ucp_request_test(request, &info));
    CHECK_OK(ucp_request_query(request, &attr));
    CHECK_STATUS(attr.status, UCS_OK);
    CHECK_EQ(info.length, 1);
    CHECK_EQ(info.sender_tag, 1);
    ucp_request_free(request);
    /* canceled: over at once here, and nothing else can happen to it */
    request = recv_with(0, &byte, 1, 2);
    ucp_request_cancel(two.worker[1], request);
    TWO_UNTIL(&two, ucp_request_is_completed(request));
    CHECK_STATUS(ucp_request_check_status(request), UCS_ERR_CANCELED);
    CHECK_OK(ucp_request_query(request, &attr));
    CHECK_STATUS(attr.status, UCS_ERR_CANCELED);
    ucp_request_cancel(two.worker[1], request);
    ucp_request_release(request);
    OK("queries");
}

/* Requests in the caller's memory: nothing around them is touched. */
static void of_caller(void)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REQUEST};
    char *memory, *request, got = 0;
    ucs_status_ptr_t r;
    unsigned i;

    CHECK_OK(ucp_context_query(two.context, &attr));
    memory = malloc(attr.request_size + 128);
    memset(memory, 0x5a, attr.request_size + 128);
    request = memory + 64 + attr.request_size;
    param.request = request;
    r = ucp_tag_recv_nbx(two.worker[1], &got, 1, 4, -1, &param);
    CHECK(r == request);
    CHECK_OK(two_wait(&two, send_with(0, "c", 1, 4)));
    TWO_UNTIL(&two, ucp_request_check_status(request) != UCS_INPROGRESS);
    CHECK_OK(ucp_request_check_status(request));
    CHECK_EQ(got, 'c');
    /* and with an old form, where the message is there already */
    CHECK_OK(two_wait(&two, send_with(0, "d", 1, 4)));
    arrived(4);
    CHECK_OK(ucp_tag_recv_nbr(two.worker[1], &got, 1, ucp_dt_make_contig(1), 4, -1, request));
    CHECK_EQ(got, 'd');
    for (i = 0; i < 64; ++i) {
        CHECK_EQ(memory[i], 0x5a);
        CHECK_EQ(request[i], 0x5a);
    }
    free(memory);
    OK("requests of the caller");
}

/* What ends at once calls nobody back, unless a request is wanted in any case. */
static void immediate_ends(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t request;
    char got;

    calls = 0;
    CHECK(send_with(0, "e", 1, 5) == NULL);
    CHECK_EQ(calls, 0);
    arrived(5);
    CHECK(recv_with(0, &got, 1, 5) == NULL);
    CHECK_EQ(got, 'e');
    request = send_with(UCP_OP_ATTR_FLAG_NO_IMM_CMPL, "f", 1, 5);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_OK(two_wait(&two, request));
    CHECK_EQ(calls, 1);
    arrived(5);
    request = recv_with(UCP_OP_ATTR_FLAG_NO_IMM_CMPL, &got, 1, 5);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_OK(two_wait(&two, request));
    CHECK_EQ(got, 'f');
    /* what cannot end at once is not begun */
    CHECK_STATUS(UCS_PTR_STATUS(recv_with(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL, &got, 1, 5)), UCS_ERR_NO_RESOURCE);
    CHECK_STATUS(UCS_PTR_STATUS(send_with(UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL, large[0], LARGE, 5)),
                 UCS_ERR_NO_RESOURCE);
    CHECK_OK(two_wait(&two, ucp_worker_flush_nbx(two.worker[0], &plain)));
    CHECK(ucp_tag_probe_nb(two.worker[1], 5, -1, 0, &(ucp_tag_recv_info_t){0}) == NULL);
    CHECK_EQ(calls, 1);
    OK("immediate ends");
}

/* Hints on the end change no result. */
static void hints(void)
{
    static const unsigned flags[] = {UCP_OP_ATTR_FLAG_FAST_CMPL,
                                     UCP_OP_ATTR_FLAG_MULTI_SEND,
                                     UCP_OP_ATTR_FLAG_FAST_CMPL | UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    unsigned i;

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
        ucs_status_ptr_t send, recv;

        memset(large[0], i + 1, LARGE);
        recv = recv_with(0, large[1], LARGE, 6);
        send = send_with(flags[i], large[0], LARGE, 6);
        CHECK_OK(two_wait(&two, recv));
        CHECK_OK(two_wait(&two, send));
        CHECK(!memcmp(large[0], large[1], LARGE));
    }
    OK("hints");
}

/* Freed before the end: the operation goes on, and its memory is used again only afterwards. */
static void freed_early(void)
{
    ucs_status_ptr_t send, recv;

    memset(large[0], 77, LARGE);
    memset(large[1], 0, LARGE);
    send = send_with(0, large[0], LARGE, 7);
    CHECK(UCS_PTR_IS_PTR(send));
    ucp_request_free(send);
    recv = recv_with(0, large[1], LARGE, 7);
    CHECK_OK(two_wait(&two, recv));
    CHECK(!memcmp(large[0], large[1], LARGE));
    OK("freed early");
}

static void described_memory(void)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                .address = large[0],
                                .length = LARGE};
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FIELD_MEMORY_TYPE |
                                                 UCP_OP_ATTR_FIELD_DATATYPE,
                                 .memory_type = UCS_MEMORY_TYPE_HOST,
                                 .datatype = ucp_dt_make_contig(4)};
    ucs_status_ptr_t send, recv;

    CHECK_OK(ucp_mem_map(two.context, &map, &param.memh));
    memset(large[0], 88, LARGE);
    recv = recv_with(0, large[1], LARGE, 8);
    send = ucp_tag_send_nbx(two.ep[0], large[0], LARGE / 4, 8, &param);
    CHECK_OK(two_wait(&two, recv));
    CHECK_OK(two_wait(&two, send));
    CHECK(!memcmp(large[0], large[1], LARGE));
    CHECK_OK(ucp_mem_unmap(two.context, param.memh));
    OK("described memory");
}

int main(void)
{
    two_open(&two, UCP_FEATURE_TAG, 1);
    queries();
    of_caller();
    immediate_ends();
    hints();
    freed_early();
    described_memory();
    two_close(&two);
    return 0;
}
