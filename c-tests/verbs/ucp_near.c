/* Two RDMA devices of different memory nodes: what is read or written in place goes by the device that the argument names, the
 * one that is nearer to the local memory, and short accesses go by the first, whose messages they must not overtake. Behind
 * a fence everything stays on the first until a flush. Two contexts of one process, which the stand-in for libibverbs
 * connects; run by tests/verbs with UCX_TLS=rc_verbs, FAKE_NUMA and memory of node 0. */
#include "peers.h"
#include "stand_in.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LENGTH = 4 << 20, SHORT = 100 };

static const ucp_request_param_t plain;
static side_t origin, owner;
static ucp_ep_h ep, back;
static ucp_rkey_h rkey;
static unsigned char *from, *to;
static uint64_t seed;

static ucp_mem_h map(side_t *side, void *address)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = address, .length = LENGTH};
    ucp_mem_h mapped;

    CHECK_OK(ucp_mem_map(side->context, &params, &mapped));
    return mapped;
}

static void *fresh(void)
{
    void *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static void flush(void)
{
    CHECK_OK(side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &plain)));
}

static void put(size_t length, const ucp_request_param_t *param)
{
    fill(from, length, ++seed);
    CHECK_OK(side_wait(&origin, &owner, ucp_put_nbx(ep, from, length, (uintptr_t)to, rkey, param)));
}

static void put_and_get(size_t length, const ucp_request_param_t *param)
{
    put(length, param);
    flush();
    CHECK_EQ(wrong_at(to, length, seed), length);
    fill(to, length, ++seed);
    CHECK_OK(side_wait(&origin, &owner, ucp_get_nbx(ep, from, length, (uintptr_t)to, rkey, param)));
    CHECK_EQ(wrong_at(from, length, seed), length);
}

/* What was done since the last call has moved so many bytes, by this device alone. */
static void moved_by(int device, size_t bytes, const char *what)
{
    static long seen[2];
    long now[2] = {*setting("data0"), *setting("data1")};
    long by[2] = {now[0] - seen[0], now[1] - seen[1]};

    /* Of devices that have no part there are messages. */
    if ((bytes > 0) && ((by[device] < bytes) || (by[!device] > 1000))) {
        FAIL("%s: the devices have moved %ld and %ld bytes", what, by[0], by[1]);
    }
    memcpy(seen, now, sizeof(seen));
}

int main(int argc, char **argv)
{
    ucp_request_param_t with = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
    unsigned long node0 = 1;
    ucp_mem_h mapped, known;
    double until;
    size_t size;
    void *blob;
    int near;
    long writes;

    CHECK_EQ(argc, 2);
    near = atoi(argv[1]);
    /* MPOL_BIND; a kernel of one node may lack it. */
    (void)syscall(SYS_set_mempolicy, 2, &node0, 64);
    from = fresh();
    to = fresh();
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&origin, owner.address);
    back = side_connect(&owner, origin.address);
    mapped = map(&owner, to);
    CHECK_OK(ucp_rkey_pack(owner.context, mapped, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    ucp_rkey_buffer_release(blob);
    /* The other device is connected. */
    put_and_get(LENGTH, &plain);
    for (until = now() + 0.05; now() < until;) {
        ucp_worker_progress(origin.worker);
        ucp_worker_progress(owner.worker);
    }
    moved_by(near, 0, NULL);
    put_and_get(LENGTH, &plain);
    moved_by(near, 2 * LENGTH, "long");
    put_and_get(16 << 10, &plain);
    moved_by(near, 32 << 10, "16 KiB");
    put_and_get(SHORT, &plain);
    moved_by(0, 2 * SHORT, "short");
    known = map(&origin, from);
    with.memh = known;
    put_and_get(LENGTH, &with);
    moved_by(near, 2 * LENGTH, "long with a handle");
    CHECK_OK(ucp_mem_unmap(origin.context, known));
    put(SHORT, &plain);
    CHECK_OK(ucp_worker_fence(origin.worker));
    put(LENGTH, &plain);
    moved_by(0, LENGTH, "behind a fence");
    flush();
    put_and_get(LENGTH, &plain);
    moved_by(near, 2 * LENGTH, "behind a flush");
    /* What the nearer device cannot register goes by the first, still in place. */
    CHECK_EQ(munmap(from, LENGTH), 0);
    from = fresh();
    *setting("only") = near + 1;
    *setting("max_reg") = LENGTH / 2;
    writes = *setting("writes");
    put(LENGTH, &plain);
    flush();
    CHECK_EQ(wrong_at(to, LENGTH, seed), LENGTH);
    if (near == 1) {
        CHECK(*setting("writes") - writes < 10);
        moved_by(0, LENGTH, "unregistered");
    }
    *setting("max_reg") = 0;
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    CHECK_OK(side_disconnect(&owner, &origin, back, 0));
    side_close(&origin);
    side_close(&owner);
    OK("by device %d", near);
    return 0;
}
