/* Puts and gets between memory of a device here and memory of the host at a peer, whose copies are under way while something else
 * happens: see under_way.c. Transports are those of the environment.
 *
 *   accesses_under_way PART
 *
 * Run by tests/cuda. */
#include "../failure.h"
#include "device_bytes.h"

#include <stdlib.h>

enum { COUNT = 8, STEPS = 12 };

static side_t one, two;
static ucp_ep_h ep;
static failure_t lost;
static ucp_mem_h memh;
static ucp_rkey_h rkey;
static char *far;                        /* the peer's memory: a place for each access */
static char *near[COUNT];                /* the device's */
static ucs_status_ptr_t accesses[COUNT]; /* puts in even places, gets in odd ones */

static const size_t lengths[COUNT] = {LONGEST, LONGEST, 8, 16 << 10, 300 << 10, 64 << 10, 1000, LONGEST};
static const ucp_request_param_t none;
static const ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};

static int is_put(int i)
{
    return i % 2 == 0;
}

/* The bytes before. */
static void reset(int i)
{
    write_memory(near[i], is_put(i) ? i : 100, LONGEST);
    draw(is_put(i) ? 100 : i, LONGEST);
    memcpy(far + i * LONGEST, expected, LONGEST);
}

static void open_sides(void)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = COUNT * LONGEST,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    size_t length;
    void *blob;
    int i;

    side_open(&one, UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    side_open(&two, UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_mem_map(two.context, &map, &memh));
    CHECK_OK(ucp_mem_query(memh, &attr));
    far = attr.address;
    CHECK_OK(ucp_rkey_pack(two.context, memh, &blob, &length));
    ep = connect_watched(&one, two.address, &lost);
    CHECK_OK(side_wait(&one, &two, ucp_ep_flush_nbx(ep, &none)));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    ucp_rkey_buffer_release(blob);
    for (i = 0; i < COUNT; ++i) {
        near[i] = at(device_memory(LONGEST));
        reset(i);
    }
}

static void close_sides(void)
{
    CHECK_OK(ucp_mem_unmap(two.context, memh));
    side_close(&two);
}

static void post(int i)
{
    uint64_t place = (uintptr_t)far + (uint64_t)i * LONGEST;

    accesses[i] = is_put(i) ? ucp_put_nbx(ep, near[i], lengths[i], place, rkey, &none) :
                              ucp_get_nbx(ep, near[i], lengths[i], place, rkey, &none);
}

static void post_all(void)
{
    int i;

    for (i = 0; i < COUNT; ++i) {
        post(i);
    }
}

static int is_there(int i)
{
    draw(i, lengths[i]);
    return !memcmp(far + i * LONGEST, expected, lengths[i]);
}

/* What has ended is left alone from now on: it is freed, and comes again as memory of others. */
static void forget(int i)
{
    write_memory(near[i], 250, LONGEST);
    CHECK_EQ(cuMemFree_v2((uintptr_t)near[i]), 0);
    near[i] = NULL;
    drop(accesses[i]);
}

static int came(int i)
{
    return !UCS_PTR_IS_PTR(accesses[i]) || ucp_request_check_status(accesses[i]) == UCS_OK;
}

/* All end well, and a flush has the puts at the peer. `rkey` may be gone before. */
static void whole(int with_key)
{
    int i, late = 0;

    open_sides();
    post_all();
    for (i = 0; i < COUNT; ++i) {
        late += !has_ended(accesses[i]);
    }
    CHECK(late > 0);
    if (!with_key) {
        ucp_rkey_destroy(rkey);
    }
    CHECK_OK(side_wait(&one, &two, ucp_ep_flush_nbx(ep, &none)));
    for (i = 0; i < COUNT; ++i) {
        CHECK(has_ended(accesses[i]) && came(i));
        CHECK(is_put(i) ? is_there(i) : holds(near[i], i, lengths[i]));
        forget(i);
    }
    if (with_key) {
        ucp_rkey_destroy(rkey);
    }
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    side_close(&one);
    close_sides();
}

/* What follows a fence is done later: of puts to the same place the last one stays, a get finds what was put. */
static void fenced(void)
{
    char *other = at(device_memory(LONGEST)), *third = at(device_memory(LONGEST));
    ucs_status_ptr_t puts[2], get;
    int round;

    open_sides();
    write_memory(other, 50, LONGEST);
    for (round = 0; round < 10; ++round) {
        write_memory(third, 100, LONGEST);
        puts[0] = ucp_put_nbx(ep, near[0], LONGEST, (uintptr_t)far, rkey, &none);
        CHECK_OK(ucp_worker_fence(one.worker));
        puts[1] = ucp_put_nbx(ep, other, LONGEST, (uintptr_t)far, rkey, &none);
        CHECK_OK(ucp_worker_fence(one.worker));
        get = ucp_get_nbx(ep, third, LONGEST, (uintptr_t)far, rkey, &none);
        CHECK_OK(side_wait(&one, &two, puts[0]));
        CHECK_OK(side_wait(&one, &two, puts[1]));
        CHECK_OK(side_wait(&one, &two, get));
        CHECK(holds(third, 50, LONGEST));
    }
    ucp_rkey_destroy(rkey);
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    side_close(&one);
    close_sides();
}

/* After so many steps the endpoint is closed by force, or its worker destroyed. */
static void ends(int with_worker)
{
    ucs_status_ptr_t close;
    int i, k, steps;

    for (steps = 0; steps < STEPS; ++steps) {
        open_sides();
        post_all();
        for (k = 0; k < steps; ++k) {
            ucp_worker_progress(one.worker);
            ucp_worker_progress(two.worker);
        }
        ucp_rkey_destroy(rkey);
        if (with_worker) {
            side_close(&one);
        } else {
            close = ucp_ep_close_nbx(ep, &by_force);
            CHECK_OK(side_wait(&one, &two, close));
        }
        for (i = 0; i < COUNT; ++i) {
            if (with_worker) {
                accesses[i] = NULL;
            } else {
                CHECK(has_ended(accesses[i]));
                CHECK(is_put(i) || !came(i) || holds(near[i], i, lengths[i]));
            }
            write_memory(near[i], 250, LONGEST);
        }
        for (k = 0; k < 100; ++k) {
            ucp_worker_progress(two.worker);
        }
        for (i = 0; i < COUNT; ++i) {
            CHECK(holds(near[i], 250, LONGEST));
            forget(i);
        }
        if (!with_worker) {
            side_close(&one);
        }
        close_sides();
    }
}

/* The driver fails in the middle, as FAKE_CUDA says: some accesses fail, the others have their bytes. */
static void errors(void)
{
    int i, round, failed = 0;
    ucs_status_t status;

    open_sides();
    for (round = 0; round < 3; ++round) {
        post_all();
        for (i = 0; i < COUNT; ++i) {
            if (UCS_PTR_IS_PTR(accesses[i])) {
                DRIVE_UNTIL(&one, &two, has_ended(accesses[i]));
            }
        }
        status = side_wait(&one, &two, ucp_ep_flush_nbx(ep, &none));
        CHECK_OK(status);
        for (i = 0; i < COUNT; ++i) {
            status = UCS_PTR_IS_PTR(accesses[i]) ? ucp_request_check_status(accesses[i]) : UCS_PTR_STATUS(accesses[i]);
            failed += status != UCS_OK;
            CHECK(status != UCS_OK || (is_put(i) ? is_there(i) : holds(near[i], i, lengths[i])));
            drop(accesses[i]);
            reset(i);
        }
    }
    printf("# %d of %d accesses failed\n", failed, 3 * COUNT);
    CHECK(failed <= 2);
    CHECK_EQ(lost.calls, 0);
    ucp_rkey_destroy(rkey);
    CHECK_OK(side_disconnect(&one, &two, ep, 0));
    side_close(&one);
    close_sides();
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";

    alarm(100);
    use_device(0);
    if (!strcmp(part, "whole")) {
        whole(1);
    } else if (!strcmp(part, "key")) {
        whole(0);
    } else if (!strcmp(part, "fence")) {
        fenced();
    } else if (!strcmp(part, "close")) {
        ends(0);
    } else if (!strcmp(part, "destroyed")) {
        ends(1);
    } else if (!strcmp(part, "errors")) {
        errors();
    } else {
        FAIL("no part of this name: %s", part);
    }
    printf("ok accesses_under_way %s\n", part);
    return 0;
}
