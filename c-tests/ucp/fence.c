/* Fences between writes that go different ways: by messages into memory of the caller, which only the owner's
 * progress can write, and by plain stores into mapped memory. What follows the fence may not be seen first. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { SIZE = 200000 };

static two_t two;
static ucp_context_h owner; /* of worker 1, so that its memory is another process's to worker 0 */
static char data[SIZE], written[SIZE];

typedef struct {
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    volatile uint64_t *memory;
} place_t;

static place_t map(void *user, size_t length)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                 UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .address = user,
                                   .length = length,
                                   .flags = user ? 0 : UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    place_t place;
    size_t packed;
    void *blob;

    CHECK_OK(ucp_mem_map(owner, &params, &place.memh));
    CHECK_OK(ucp_mem_query(place.memh, &attr));
    place.memory = attr.address;
    CHECK_OK(ucp_rkey_pack(owner, place.memh, &blob, &packed));
    CHECK_OK(ucp_ep_rkey_unpack(two.ep[0], blob, &place.rkey));
    ucp_rkey_buffer_release(blob);
    return place;
}

static void unmap(place_t *place)
{
    ucp_rkey_destroy(place->rkey);
    CHECK_OK(ucp_mem_unmap(owner, place->memh));
}

/* Owner's progress step by step until the word is there: then the data has to be there. */
static void in_order(volatile uint64_t *word, uint64_t value)
{
    time_t end = time(NULL) + 30;

    while (*word != value) {
        CHECK_EQ(*word, value - 1);
        two_progress(&two);
        CHECK(time(NULL) < end);
    }
    CHECK(!memcmp(data, written, SIZE));
}

int main(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_request_param_t eight = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    two_t second;
    place_t far, near;
    uint64_t word, one = 1;
    void *pointer;

    two_open_workers(&two, UCP_FEATURE_RMA | UCP_FEATURE_AMO64, 1);
    two_open_workers(&second, UCP_FEATURE_RMA | UCP_FEATURE_AMO64, 1);
    owner = second.context;
    ucp_worker_destroy(two.worker[1]);
    two.worker[1] = second.worker[1];
    two.ep[0] = two_connect(&two, 0, 1);
    far = map(data, SIZE);
    near = map(NULL, 4096);
    CHECK_OK(ucp_rkey_ptr(near.rkey, (uintptr_t)near.memory, &pointer));
    CHECK(ucp_rkey_ptr(far.rkey, (uintptr_t)data, &pointer) != UCS_OK);
    *near.memory = 0;
    for (word = 1; word <= 20; ++word) {
        ucs_status_ptr_t request[2];

        memset(written, word, SIZE);
        request[0] = ucp_put_nbx(two.ep[0], written, SIZE, (uintptr_t)data, far.rkey, &plain);
        CHECK_OK(ucp_worker_fence(two.worker[0]));
        if (word % 2) {
            request[1] = ucp_put_nbx(two.ep[0], &word, 8, (uintptr_t)near.memory, near.rkey, &plain);
        } else {
            request[1] = ucp_atomic_op_nbx(two.ep[0], UCP_ATOMIC_OP_ADD, &one, 1, (uintptr_t)near.memory, near.rkey,
                                           &eight);
        }
        in_order(near.memory, word);
        CHECK_OK(two_wait(&two, request[0]));
        CHECK_OK(two_wait(&two, request[1]));
        if (word % 5 == 0) {
            /* after a flush nothing is under way: stores are seen at once again */
            CHECK_OK(two_wait(&two, ucp_ep_flush_nbx(two.ep[0], &plain)));
            CHECK_OK(ucp_worker_fence(two.worker[0]));
            CHECK(ucp_put_nbx(two.ep[0], &word, 8, (uintptr_t)near.memory, near.rkey, &plain) == NULL);
            CHECK_EQ(*near.memory, word);
        }
    }
    OK("fences between messages and stores");
    unmap(&far);
    unmap(&near);
    two_close_ep(&two, two.ep[0]);
    ucp_worker_destroy(two.worker[0]);
    ucp_cleanup(two.context);
    two_close_workers(&second);
    return 0;
}
