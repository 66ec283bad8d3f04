/* A second RDMA device that fails: memory that it cannot register goes by the first alone, and so does everything once it has
 * failed; what was under way ends with a status, and the endpoints live on. Two contexts of one process, which the stand-in for
 * libibverbs connects; tests/verbs runs it with UCX_TLS=rc_verbs, two devices and UCX_MAX_RMA_RAILS=2. The argument is the error
 * handling mode of the endpoints. */
#include "peers.h"
#include "stand_in.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LENGTH = 4 << 20 };

static const ucp_request_param_t plain;
static side_t origin, owner;
static ucp_ep_h ep, back;
static unsigned char *from, *to;
static uint64_t seed;
static int failures;

static void on_error(void *arg, ucp_ep_h failed, ucs_status_t status)
{
    ++failures;
}

static ucp_ep_h connect_to(side_t *side, const void *address, ucp_err_handling_mode_t mode)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address, .err_mode = mode, .err_handler.cb = on_error};
    ucp_ep_h made;

    CHECK_OK(ucp_ep_create(side->worker, &params, &made));
    return made;
}

static void rest(double seconds)
{
    double until = now() + seconds;

    while (now() < until) {
        ucp_worker_progress(origin.worker);
        ucp_worker_progress(owner.worker);
    }
}

/* Fresh memory, which no cache knows, but for its registration by ucp_mem_map here: the key of it. */
static ucp_rkey_h renew(ucp_mem_h *mapped)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH};
    ucp_rkey_h rkey;
    size_t size;
    void *blob;

    from = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    to = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK((from != MAP_FAILED) && (to != MAP_FAILED));
    params.address = to;
    params.length = LENGTH;
    CHECK_OK(ucp_mem_map(owner.context, &params, mapped));
    CHECK_OK(ucp_rkey_pack(owner.context, *mapped, &blob, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    ucp_rkey_buffer_release(blob);
    return rkey;
}

static void discard(ucp_rkey_h rkey, ucp_mem_h mapped)
{
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(owner.context, mapped));
    CHECK_EQ(munmap(from, LENGTH), 0);
    CHECK_EQ(munmap(to, LENGTH), 0);
}

enum kind { RENDEZVOUS, PUT, GET, KINDS };
static const char *const names[] = {"rendezvous", "put", "get"};

/* Moves data; returns the worse status of both ends. */
static ucs_status_t move(enum kind kind, ucp_rkey_h rkey)
{
    ucs_status_ptr_t sent, received = NULL;
    ucs_status_t ends[2];

    fill(kind == GET ? to : from, LENGTH, ++seed);
    memset(kind == GET ? from : to, 0, LENGTH);
    if (kind == RENDEZVOUS) {
        sent = ucp_tag_send_nbx(ep, from, LENGTH, 1, &plain);
        received = ucp_tag_recv_nbx(owner.worker, to, LENGTH, 1, -1, &plain);
    } else if (kind == PUT) {
        sent = ucp_put_nbx(ep, from, LENGTH, (uintptr_t)to, rkey, &plain);
    } else {
        sent = ucp_get_nbx(ep, from, LENGTH, (uintptr_t)to, rkey, &plain);
    }
    ends[0] = side_wait(&origin, &owner, sent);
    ends[1] = side_wait(&origin, &owner, received);
    if ((kind == PUT) && (ends[0] == UCS_OK)) {
        ends[0] = side_wait(&origin, &owner, ucp_ep_flush_nbx(ep, &plain));
    }
    return ends[0] == UCS_OK ? ends[1] : ends[0];
}

/* Moves data, which arrive; returns the bytes of which the second device has moved. */
static long moved(enum kind kind, ucp_rkey_h rkey)
{
    long before = *setting("data1");

    CHECK_OK(move(kind, rkey));
    CHECK_EQ(wrong_at(kind == GET ? from : to, LENGTH, seed), LENGTH);
    return *setting("data1") - before;
}

/* Memory that one device cannot register. */
static void unregistered(int device)
{
    ucp_mem_h mapped;
    ucp_rkey_h rkey;
    int kind;

    *setting("only") = device;
    *setting("max_reg") = LENGTH / 2;
    for (kind = RENDEZVOUS; kind < KINDS; ++kind) {
        rkey = renew(&mapped);
        CHECK_EQ(moved(kind, rkey), 0);
        discard(rkey, mapped);
    }
    *setting("max_reg") = 0;
}

int main(int argc, char **argv)
{
    ucp_err_handling_mode_t mode = argc > 1 ? atoi(argv[1]) : UCP_ERR_HANDLING_MODE_NONE;
    ucp_mem_h mapped;
    ucp_rkey_h rkey;
    int kind, i;

    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = connect_to(&origin, owner.address, mode);
    back = connect_to(&owner, origin.address, mode);
    rkey = renew(&mapped);
    for (kind = RENDEZVOUS; kind < KINDS; ++kind) {
        moved(kind, rkey);
        rest(0.05);
        CHECK(moved(kind, rkey) > LENGTH / 4);
    }
    discard(rkey, mapped);
    unregistered(2);
    /* Then there is no memory of it that the second could move a part of. */
    unregistered(1);
    rkey = renew(&mapped);
    for (kind = RENDEZVOUS; kind < KINDS; ++kind) {
        CHECK(moved(kind, rkey) > LENGTH / 4);
    }
    /* With the first part of an access, whose others are lost; or with the message before a rendezvous, whose data go by the
     * first device if the failure is known in time. */
    *setting("only") = 2;
    *setting("fatal") = *setting("sent") + 1;
    i = atoi(argv[2]);
    if (move(i, rkey) == UCS_OK) {
        CHECK_EQ(i, RENDEZVOUS);
        CHECK_EQ(wrong_at(to, LENGTH, seed), LENGTH);
    }
    rest(0.2);
    for (kind = RENDEZVOUS; kind < KINDS; ++kind) {
        if (moved(kind, rkey) != 0) {
            FAIL("%s: a device that has failed is used", names[kind]);
        }
    }
    CHECK_EQ(failures, 0);
    discard(rkey, mapped);
    CHECK_OK(side_disconnect(&origin, &owner, ep, 0));
    CHECK_OK(side_disconnect(&owner, &origin, back, 0));
    side_close(&origin);
    side_close(&owner);
    OK("mode %d, a device fails during a %s", mode, names[i]);
    return 0;
}
