/* Memory of a peer by an RDMA device: two contexts of one process, which the stand-in for libibverbs connects. Only the
 * origin's worker makes progress, so that the owner's processor can have no part in what works here. The settings of the
 * stand-in are changed as the test goes. Run by tests/verbs with UCX_TLS=rc_verbs. */
#include "peers.h"
#include "stand_in.h"

#include <stdlib.h>
#include <string.h>

static const size_t lengths[] = {0, 1, 8, 64, 65, 300, 4096, 8256, 8257, 20000, 300000, 3000000};
enum { COUNT = sizeof(lengths) / sizeof(lengths[0]), LONGEST = 3000000, WORDS = 5000 };

static side_t origin, owner;
static ucp_ep_h ep, back;
static ucp_rkey_h rkey;
static unsigned char *from, *to, *memory;
static uint64_t remote;

static ucs_status_t finish(ucs_status_ptr_t request)
{
    return side_wait(&origin, &origin, request);
}

static void flush(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};

    CHECK_OK(finish(ucp_ep_flush_nbx(ep, &none)));
}

/* Writes and reads all lengths with these parameters. */
static void all_lengths(const ucp_request_param_t *param, uint64_t seed)
{
    int i;

    for (i = 0; i < COUNT; ++i) {
        fill(from, lengths[i], seed + i);
        memset(to, 0, lengths[i]);
        CHECK_OK(finish(ucp_put_nbx(ep, from, lengths[i], remote + i, rkey, param)));
        flush();
        CHECK_EQ(wrong_at(memory + i, lengths[i], seed + i), lengths[i]);
        CHECK_OK(finish(ucp_get_nbx(ep, to, lengths[i], remote + i, rkey, param)));
        CHECK_EQ(wrong_at(to, lengths[i], seed + i), lengths[i]);
    }
}

static ucp_mem_h map(side_t *side, void *address, size_t length, unsigned prot)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                 UCP_MEM_MAP_PARAM_FIELD_PROT,
                                   .address = address, .length = length, .prot = prot};
    ucp_mem_h mapped;

    CHECK_OK(ucp_mem_map(side->context, &params, &mapped));
    return mapped;
}

static ucp_rkey_h key_of(ucp_mem_h mapped)
{
    void *blob;
    size_t size;
    ucp_rkey_h key;

    CHECK_OK(ucp_rkey_pack(owner.context, mapped, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &key));
    ucp_rkey_buffer_release(blob);
    return key;
}

enum { ANY = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE | UCP_MEM_MAP_PROT_REMOTE_READ |
             UCP_MEM_MAP_PROT_REMOTE_WRITE };

/* Buffers within a handle's memory are not registered again, others are, unless they fit one buffer of the transport. */
static void local_memory_is_registered_when_it_has_to_be(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0}, with = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
    ucp_mem_h mapped = map(&origin, from, LONGEST, ANY);
    long before = *setting("reg");

    with.memh = mapped;
    CHECK_OK(finish(ucp_put_nbx(ep, from, LONGEST, remote, rkey, &with)));
    CHECK_OK(finish(ucp_get_nbx(ep, from, LONGEST, remote, rkey, &with)));
    CHECK_OK(finish(ucp_put_nbx(ep, to, 8000, remote, rkey, &none)));
    CHECK_EQ(*setting("reg"), before);
    CHECK_OK(finish(ucp_put_nbx(ep, to, LONGEST, remote, rkey, &none)));
    CHECK_EQ(*setting("reg"), before + 1);
    /* A handle of other memory does not help. */
    CHECK_OK(finish(ucp_put_nbx(ep, to, LONGEST, remote, rkey, &with)));
    CHECK_EQ(*setting("reg"), before + 2);
    flush();
    CHECK_OK(ucp_mem_unmap(origin.context, mapped));
}

/* More accesses than a queue pair has room for; what waits is still done by the device. */
static void many_at_once(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    uint64_t *words = (uint64_t *)from, *back = (uint64_t *)to;
    ucs_status_ptr_t *requests = calloc(WORDS, sizeof(*requests));
    int i;

    for (i = 0; i < WORDS; ++i) {
        words[i] = i * 3 + 1;
        requests[i] = ucp_put_nbx(ep, &words[i], 8, remote + 8 * i, rkey, &none);
    }
    flush();
    for (i = 0; i < WORDS; ++i) {
        CHECK_OK(finish(requests[i]));
        CHECK_EQ(((uint64_t *)memory)[i], i * 3 + 1);
        requests[i] = ucp_get_nbx(ep, &back[i], 8, remote + 8 * i, rkey, &none);
    }
    for (i = 0; i < WORDS; ++i) {
        CHECK_OK(finish(requests[i]));
        CHECK_EQ(back[i], i * 3 + 1);
    }
    free(requests);
}

/* What is posted behind a fence is not seen by reads before it, and sees writes before it. */
static void fences(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucs_status_ptr_t read;
    int i;

    for (i = 0; i < 20; ++i) {
        fill(from, LONGEST, 100 + i);
        CHECK_OK(finish(ucp_put_nbx(ep, from, LONGEST, remote, rkey, &none)));
        CHECK_OK(ucp_worker_fence(origin.worker));
        read = ucp_get_nbx(ep, to, LONGEST, remote, rkey, &none);
        CHECK_OK(ucp_worker_fence(origin.worker));
        fill(from, 8, 7);
        CHECK_OK(side_wait(&origin, &owner, ucp_put_nbx(ep, from, 8, remote, rkey, &none)));
        CHECK_OK(side_wait(&origin, &owner, read));
        CHECK_OK(side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &none)));
        CHECK_EQ(wrong_at(to, LONGEST, 100 + i), LONGEST);
        CHECK_EQ(wrong_at(memory, 8, 7), 8);
    }
}

/* Atomic operations are the owner's processor's, which others that share its memory use as well: a device's are not atomic to
 * those. Nothing comes back before the owner makes progress. */
static void atomics_go_to_the_processor(void)
{
    static const struct {
        ucp_atomic_op_t op;
        uint64_t expected; /* of 12 and the operand 10 */
    } ops[] = {{UCP_ATOMIC_OP_ADD, 22}, {UCP_ATOMIC_OP_AND, 8}, {UCP_ATOMIC_OP_OR, 14}, {UCP_ATOMIC_OP_XOR, 6},
               {UCP_ATOMIC_OP_SWAP, 10}, {UCP_ATOMIC_OP_CSWAP, 0}};
    ucp_request_param_t none = {.op_attr_mask = 0};
    unsigned i, size, fetches, n;
    uint64_t operand, reply;

    for (size = 4; size <= 8; size += 4) {
        for (i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
            for (fetches = ops[i].op >= UCP_ATOMIC_OP_SWAP && ops[i].op <= UCP_ATOMIC_OP_CSWAP; fetches < 2; ++fetches) {
                ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                                                             (fetches ? UCP_OP_ATTR_FIELD_REPLY_BUFFER : 0),
                                             .datatype = ucp_dt_make_contig(size), .reply_buffer = &reply};
                ucs_status_ptr_t request;

                memset(memory, 0, 8);
                memory[0] = 12;
                /* What is compared with; the reply buffer has the new value. */
                operand = ops[i].op == UCP_ATOMIC_OP_CSWAP ? 12 : 10;
                reply = 0;
                request = ucp_atomic_op_nbx(ep, ops[i].op, &operand, 1, remote, rkey, &param);
                CHECK(!UCS_PTR_IS_ERR(request));
                for (n = 0; n < 100; ++n) {
                    ucp_worker_progress(origin.worker);
                }
                CHECK_EQ(memory[0], 12);
                CHECK_OK(side_wait(&origin, &owner, request));
                CHECK_OK(side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &none)));
                CHECK_EQ(memory[0], ops[i].expected);
                CHECK_EQ(reply, fetches ? 12 : 0);
            }
        }
    }
    CHECK_EQ(*setting("amos"), 0);
}

/* Where memory cannot be registered, at the origin or the owner, the bytes come all the same. */
static void registrations_that_fail(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_rkey_h by_device = rkey;
    ucp_mem_h mapped;

    *setting("max_reg") = 290000;
    all_lengths(&none, 1000);
    /* Its owner's device does not know this memory: its processor takes part. */
    mapped = map(&owner, memory, LONGEST, ANY);
    rkey = key_of(mapped);
    fill(from, LONGEST, 1);
    CHECK_OK(side_wait(&origin, &owner, ucp_put_nbx(ep, from, LONGEST, remote, rkey, &none)));
    CHECK_OK(side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &none)));
    CHECK_EQ(wrong_at(memory, LONGEST, 1), LONGEST);
    *setting("max_reg") = 0;
    ucp_rkey_destroy(rkey);
    rkey = by_device;
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
}

/* How the data of a rendezvous move, as UCX_RNDV_SCHEME says. */
static int scheme_is(const char *name)
{
    const char *scheme = getenv("UCX_RNDV_SCHEME");

    return strcmp(scheme == NULL ? "auto" : scheme, name) == 0;
}

/* Sends a long message and waits for it. */
static void message(uint64_t seed)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucs_status_ptr_t sent, received;

    fill(from, LONGEST, seed);
    memset(to, 0, LONGEST);
    sent = ucp_tag_send_nbx(ep, from, LONGEST, seed, &none);
    received = ucp_tag_recv_nbx(owner.worker, to, LONGEST, seed, -1, &none);
    CHECK_OK(side_wait(&origin, &owner, sent));
    CHECK_OK(side_wait(&origin, &owner, received));
    CHECK_EQ(wrong_at(to, LONGEST, seed), LONGEST);
}

/* Long messages go from and into user memory, which both sides register for them: one read by the receiver or one write
 * by the sender. Where neither can register they come in fragments. */
static void rendezvous(void)
{
    static const long limits[] = {0, 290000, 0};
    int by_read = scheme_is("auto") || scheme_is("get_zcopy"), by_write = scheme_is("put_zcopy");
    int i;

    for (i = 0; i < 3; ++i) {
        long sent = *setting("sent"), reads = *setting("reads"), writes = *setting("writes");

        *setting("max_reg") = limits[i];
        message(50 + i);
        CHECK_EQ(*setting("reads") - reads, by_read && limits[i] == 0);
        CHECK_EQ(*setting("writes") - writes, by_write && limits[i] == 0);
        CHECK_EQ(*setting("sent") - sent < 50, (by_read || by_write) && limits[i] == 0);
    }
}

/* Who cannot register its buffer has it copied through the transport's, or the message goes another way. */
static void one_side_cannot_register(void)
{
    int n;

    for (n = 1; n <= 2 && !scheme_is("am"); ++n) {
        *setting("fail_reg") = *setting("reg") + n;
        message(60 + n);
        CHECK(*setting("reg") >= *setting("fail_reg"));
        *setting("fail_reg") = 0;
    }
}

/* A read that the sender's device refuses ends the receive, and the send: the peer is told that the connection failed. */
static void refused_read(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucs_status_ptr_t sent, received;

    if (!scheme_is("auto") && !scheme_is("get_zcopy")) {
        return;
    }
    *setting("read_err") = *setting("reads") + 1;
    sent = ucp_tag_send_nbx(ep, from, LONGEST, 70, &none);
    received = ucp_tag_recv_nbx(owner.worker, to, LONGEST, 70, -1, &none);
    CHECK_EQ(side_wait(&origin, &owner, received), UCS_ERR_CONNECTION_RESET);
    CHECK_EQ(*setting("reads"), *setting("read_err"));
    CHECK_EQ(side_wait(&origin, &owner, sent), UCS_ERR_CONNECTION_RESET);
    side_disconnect(&origin, &owner, ep, 0);
    side_disconnect(&origin, &owner, back, 0);
    ep = side_connect(&origin, owner.address);
    back = side_connect(&owner, origin.address);
    message(71);
}

/* Memory that peers may not write is known to the device without that right. */
static void rights(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_mem_h mapped = map(&owner, memory, 4096, UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_REMOTE_READ);
    ucp_rkey_h key = key_of(mapped);
    uint64_t word = 0, other = 5;
    ucs_status_ptr_t refused;

    *(uint64_t *)memory = 77;
    CHECK_OK(finish(ucp_get_nbx(ep, &word, 8, remote, key, &none)));
    CHECK_EQ(word, 77);
    refused = ucp_put_nbx(ep, &other, 8, remote, key, &none);
    CHECK_EQ(UCS_PTR_STATUS(refused), UCS_ERR_INVALID_ADDR);
    ucp_rkey_destroy(key);
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
}

int main(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucp_mem_h mapped;
    long sent;

    from = malloc(LONGEST);
    to = malloc(LONGEST);
    memory = malloc(LONGEST + COUNT);
    remote = (uintptr_t)memory;
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&origin, owner.address);
    back = side_connect(&owner, origin.address);
    mapped = map(&owner, memory, LONGEST + COUNT, ANY);
    rkey = key_of(mapped);
    /* Both sides take part in the handshake. */
    CHECK_OK(side_wait(&origin, &owner, ucp_get_nbx(ep, to, 8, remote, rkey, &none)));
    CHECK_OK(side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &none)));
    sent = *setting("sent");
    all_lengths(&none, 1);
    CHECK(*setting("sent") > sent);
    local_memory_is_registered_when_it_has_to_be();
    many_at_once();
    rights();
    atomics_go_to_the_processor();
    registrations_that_fail();
    fences();
    rendezvous();
    one_side_cannot_register();
    ucp_rkey_destroy(rkey);
    refused_read();
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    CHECK_OK(side_disconnect(&origin, &owner, back, 0));
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
    side_close(&origin);
    side_close(&owner);
    free(from);
    free(to);
    free(memory);
    OK("rma");
    return 0;
}
