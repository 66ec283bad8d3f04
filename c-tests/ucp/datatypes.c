/* Datatypes asked for their packed size: contiguous, lists and generic ones, with and without buffer and count. */
/* headers: ours 1.22.0 */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#include <ucp/api/ucp.h>

#include "check.h"

enum {
    SIZE = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE,
    BUFFER = UCP_DATATYPE_ATTR_FIELD_BUFFER,
    COUNT = UCP_DATATYPE_ATTR_FIELD_COUNT
};

static unsigned states;

typedef struct {
    size_t count;
} state_t;

static void *start(const void *buffer, size_t count)
{
    state_t *state = malloc(sizeof(*state));

    CHECK_STR(buffer, "buffer");
    state->count = count;
    ++states;
    return state;
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    CHECK(context == &states);
    return start(buffer, count);
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    CHECK(context == &states);
    return start(buffer, count);
}

static size_t packed_size(void *state)
{
    return ((state_t *)state)->count * 100;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max_length)
{
    FAIL("nothing is packed for a size");
}

static ucs_status_t unpack(void *state, size_t offset, const void *src, size_t length)
{
    FAIL("nothing is unpacked for a size");
}

static void finish(void *state)
{
    --states;
    free(state);
}

static void query(const char *name, ucp_datatype_t datatype, uint64_t fields, const void *buffer, size_t count)
{
    ucp_datatype_attr_t attr = {.field_mask = fields, .packed_size = 99, .buffer = buffer, .count = count};
    ucs_status_t status = ucp_dt_query(datatype, &attr);

    printf("%s: %s, %zu\n", name, ucs_status_string(status), attr.packed_size);
}

int main(void)
{
    static const ucp_generic_dt_ops_t ops = {start_pack, start_unpack, packed_size, pack, unpack, finish};
    ucp_dt_iov_t iov[3] = {{"abc", 3}, {NULL, 0}, {"defgh", 5}};
    ucp_datatype_t generic;

    query("one element", ucp_dt_make_contig(8), SIZE, NULL, 0);
    query("three", ucp_dt_make_contig(8), SIZE | COUNT, NULL, 3);
    query("three, with a buffer", ucp_dt_make_contig(8), SIZE | COUNT | BUFFER, "buffer", 3);
    query("none", ucp_dt_make_contig(8), SIZE | COUNT, NULL, 0);
    query("of no bytes", ucp_dt_make_contig(0), SIZE | COUNT, NULL, 5);
    query("nothing wanted", ucp_dt_make_contig(8), 0, NULL, 0);
    query("a list", ucp_dt_make_iov(), SIZE | COUNT | BUFFER, iov, 3);
    query("its first entry", ucp_dt_make_iov(), SIZE | BUFFER, iov, 3);
    query("a list of none", ucp_dt_make_iov(), SIZE | COUNT | BUFFER, iov, 0);
    query("a list nowhere", ucp_dt_make_iov(), SIZE | COUNT, NULL, 3);
    query("no datatype", 1, SIZE | COUNT | BUFFER, iov, 1);
    query("a list with keys", ucp_dt_make_sgl(), SIZE | COUNT | BUFFER, iov, 1);
    CHECK_OK(ucp_dt_create_generic(&ops, &states, &generic));
    query("generic", generic, SIZE | COUNT | BUFFER, "buffer", 4);
    query("generic, one", generic, SIZE | BUFFER, "buffer", 4);
    CHECK_EQ(states, 0);
    ucp_dt_destroy(generic);
    ucp_dt_destroy(ucp_dt_make_contig(4)); /* nothing to destroy */
    ucp_dt_destroy(ucp_dt_make_iov());
    return 0;
}
