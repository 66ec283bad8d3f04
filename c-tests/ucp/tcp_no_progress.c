/* A sender stops making progress, as a program that computes: what it sent arrives. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp UCX_RNDV_THRESH=inf */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "peers.h"

enum { ROUNDS = 20, BURST = 40, READS = 20, LONGEST = 65536 };

/* Progresses the receiver alone until `condition`. */
#define RECEIVER_UNTIL(two, condition) \
    do { \
        time_t end = time(NULL) + 20; \
        while (!(condition)) { \
            ucp_worker_progress((two)->worker[1]); \
            if (time(NULL) > end) { \
                FAIL("not without the sender's progress: %s", #condition); \
            } \
        } \
    } while (0)

/* Bursts of messages of which every one is done for its sender: after each the sender stands still. */
static void messages(two_t *two, size_t size)
{
    static char out[LONGEST], in[LONGEST];
    ucp_request_param_t plain = {.op_attr_mask = 0};
    uint64_t sent = 0, got = 0;
    int round, i, j;

    for (round = 0; round < ROUNDS; ++round) {
        for (i = 0; i < BURST; ++i) {
            fill(out, size, sent++);
            CHECK_OK(two_wait(two, ucp_tag_send_nbx(two->ep[0], out, size, 1, &plain)));
            /* Who reads keeps the sender from waiting, which is progress. */
            for (j = 0; j < READS; ++j) {
                ucp_worker_progress(two->worker[1]);
            }
        }
        for (i = 0; i < BURST; ++i) {
            ucs_status_ptr_t request = ucp_tag_recv_nbx(two->worker[1], in, size, 1, UINT64_MAX, &plain);

            CHECK(!UCS_PTR_IS_ERR(request));
            if (request) {
                RECEIVER_UNTIL(two, ucp_request_check_status(request) != UCS_INPROGRESS);
                CHECK_OK(ucp_request_check_status(request));
                ucp_request_free(request);
            }
            CHECK_PATTERN(in, size, got++);
        }
    }
    OK("bursts of messages of %zu bytes arrive", size);
}

/* Messages of a sender that makes no progress at all, and stands still for longer than anything waits in between. */
static void long_pauses(two_t *two)
{
    enum { PAUSES = 3, PAUSE_MS = 400 };
    ucp_request_param_t plain = {.op_attr_mask = 0};
    static uint64_t out[BURST], in;
    uint64_t sent = 0, got = 0;
    struct timespec now, begin;
    int pause;

    for (pause = 0; pause <= PAUSES; ++pause) {
        do {
            out[sent % BURST] = sent;
            CHECK(ucp_tag_send_nbx(two->ep[0], &out[sent % BURST], sizeof(in), 1, &plain) == NULL);
        } while (++sent % BURST != 0 && pause == 0);
        for (; got < sent; ++got) {
            ucs_status_ptr_t request = ucp_tag_recv_nbx(two->worker[1], &in, sizeof(in), 1, UINT64_MAX, &plain);

            CHECK(!UCS_PTR_IS_ERR(request));
            if (request) {
                RECEIVER_UNTIL(two, ucp_request_check_status(request) != UCS_INPROGRESS);
                ucp_request_free(request);
            }
            CHECK_EQ(in, got);
        }
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
            ucp_worker_progress(two->worker[1]);
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < PAUSE_MS);
    }
    OK("messages arrive after long pauses");
}

/* Messages that are done for their sender although the kernel has no room for them: nobody reads. */
static void no_room(two_t *two)
{
    enum { SIZE = 8000, MOST = 2000 };
    static char out[SIZE], in[SIZE];
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t last = NULL;
    int done = 0, i;

    while (last == NULL) {
        CHECK(done < MOST);
        fill(out, SIZE, done);
        last = ucp_tag_send_nbx(two->ep[0], out, SIZE, 1, &plain);
        CHECK(!UCS_PTR_IS_ERR(last));
        done += last == NULL;
    }
    for (i = 0; i < READS; ++i) {
        ucp_worker_progress(two->worker[0]);
    }
    for (i = 0; i <= done; ++i) {
        ucs_status_ptr_t request = ucp_tag_recv_nbx(two->worker[1], in, SIZE, 1, UINT64_MAX, &plain);

        CHECK(!UCS_PTR_IS_ERR(request));
        if (i == done) {
            /* This one its sender had to be there for. */
            CHECK_OK(two_wait(two, last));
            CHECK_OK(two_wait(two, request));
        } else if (request) {
            RECEIVER_UNTIL(two, ucp_request_check_status(request) != UCS_INPROGRESS);
            CHECK_OK(ucp_request_check_status(request));
            ucp_request_free(request);
        }
        CHECK_PATTERN(in, SIZE, i);
    }
    OK("messages arrive that there was no room for");
}

/* Writes into the other's memory behind fences, of which the last is waited for there. */
static void writes(two_t *two)
{
    static volatile uint64_t cells[BURST];
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = (void*)cells,
                                   .length = sizeof(cells)};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    static uint64_t value;
    ucs_status_ptr_t puts[BURST];
    ucp_rkey_h rkey;
    ucp_mem_h memh;
    size_t length;
    void *blob;
    int round, i;

    CHECK_OK(ucp_mem_map(two->context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(two->context, memh, &blob, &length));
    CHECK_OK(ucp_ep_rkey_unpack(two->ep[0], blob, &rkey));
    ucp_rkey_buffer_release(blob);
    for (round = 1; round <= ROUNDS; ++round) {
        value = round;
        for (i = 0; i < BURST; ++i) {
            puts[i] = ucp_put_nbx(two->ep[0], &value, sizeof(value), (uintptr_t)&cells[i], rkey, &plain);
            CHECK(!UCS_PTR_IS_ERR(puts[i]));
            if (i % 10 == 0) {
                CHECK_OK(ucp_worker_fence(two->worker[0]));
            }
        }
        RECEIVER_UNTIL(two, cells[BURST - 1] == (uint64_t)round);
        for (i = 0; i < BURST; ++i) {
            CHECK_EQ(cells[i], round);
            CHECK_OK(two_wait(two, puts[i]));
        }
    }
    OK("writes behind fences arrive");
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(two->context, memh));
}

int main(void)
{
    two_t two;

    two_open(&two, UCP_FEATURE_TAG | UCP_FEATURE_RMA, 1);
    CHECK_OK(two_wait(&two, ucp_ep_flush_nbx(two.ep[0], &(ucp_request_param_t){.op_attr_mask = 0})));
    messages(&two, 8);
    messages(&two, 8000);
    messages(&two, 20000);
    messages(&two, LONGEST);
    long_pauses(&two);
    no_room(&two);
    writes(&two);
    two_close(&two);
    return 0;
}
