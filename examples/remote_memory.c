/* The child offers memory; the parent writes to it, reads it and counts in it while the child does nothing but make
 * progress. The peer needs the address of the memory and a remote key, which go over the channel. */
#include "example.h"

static const char HELP[] = "A process writes, reads and counts in the memory of its child.";

enum { COUNTS = 10 };

/* What the child offers. Atomics need their natural alignment. */
typedef struct {
    uint64_t counter;
    uint64_t owner;
    char text[48];
} shared_t;

/* `operand` is added or swapped in; the value that was there before comes back in `result`. */
static void atomic(side_t *side, ucp_atomic_op_t op, const uint64_t *operand, uint64_t *result, uint64_t address,
                   ucp_rkey_h rkey)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(sizeof(*operand)),
                                 .reply_buffer = result};

    finish(side, ucp_atomic_op_nbx(side->ep, op, operand, 1, address, rkey, &param), "ucp_atomic_op_nbx");
}

static void use(side_t *side)
{
    static const char text[] = "written by the parent";
    const uint64_t one = 1, free_owner = 0;
    uint64_t owner = 42, before = 0, *address;
    ucp_request_param_t param = {0};
    ucp_rkey_h rkey;
    char copy[sizeof(text)];
    size_t length;
    void *packed;

    address = channel_receive(side, &length);
    packed = channel_receive(side, &length);
    check(ucp_ep_rkey_unpack(side->ep, packed, &rkey), "ucp_ep_rkey_unpack");
    free(packed);

    /* A put that has ended frees the local buffer; after a flush it is also done at the peer. */
    finish(side, ucp_put_nbx(side->ep, text, sizeof(text), *address + offsetof(shared_t, text), rkey, &param),
           "ucp_put_nbx");
    finish(side, ucp_ep_flush_nbx(side->ep, &param), "ucp_ep_flush_nbx");
    finish(side, ucp_get_nbx(side->ep, copy, sizeof(copy), *address + offsetof(shared_t, text), rkey, &param),
           "ucp_get_nbx");
    printf("read back: %s\n", copy);

    for (int i = 0; i < COUNTS; ++i) {
        atomic(side, UCP_ATOMIC_OP_ADD, &one, &before, *address + offsetof(shared_t, counter), rkey);
    }
    printf("counter before the last addition: %llu\n", (unsigned long long)before);
    /* Compare and swap: the operand is what has to be there, the reply buffer has the new value and gets the old one. */
    atomic(side, UCP_ATOMIC_OP_CSWAP, &free_owner, &owner, *address + offsetof(shared_t, owner), rkey);
    printf("owner before: %llu\n", (unsigned long long)owner);

    finish(side, ucp_ep_flush_nbx(side->ep, &param), "ucp_ep_flush_nbx");
    ucp_rkey_destroy(rkey);
    free(address);
}

static void offer(side_t *side)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .length = sizeof(shared_t),
                                   .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    shared_t *shared;
    uint64_t address;
    ucp_mem_h memory;
    size_t length;
    void *packed;

    /* Memory that UCP allocates can often be reached without a copy; the program's own is mapped by its address. */
    check(ucp_mem_map(side->context, &params, &memory), "ucp_mem_map");
    check(ucp_mem_query(memory, &attr), "ucp_mem_query");
    shared = attr.address;
    memset(shared, 0, sizeof(*shared));

    check(ucp_rkey_pack(side->context, memory, &packed, &length), "ucp_rkey_pack");
    address = (uintptr_t)shared;
    channel_send(side, &address, sizeof(address));
    channel_send(side, packed, length);
    ucp_rkey_buffer_release(packed);

    barrier(side); /* until the parent has finished */
    if (strcmp(shared->text, "written by the parent") != 0 || shared->counter != COUNTS || shared->owner != 42) {
        fail("shared memory", "does not have what the parent wrote");
    }
    check(ucp_mem_unmap(side->context, memory), "ucp_mem_unmap");
}

int main(int argc, char **argv)
{
    side_t side;

    read_options(argc, argv, HELP);
    fork_peer(&side);
    open_side(&side, UCP_FEATURE_RMA | UCP_FEATURE_AMO64);
    /* UCX has atomics over TCP on endpoints without error handling only. */
    connect_by_channel(&side, UCP_ERR_HANDLING_MODE_NONE);
    if (side.child != 0) {
        use(&side);
        barrier(&side);
    } else {
        offer(&side);
    }
    return part(&side);
}
