/* Processes are killed while memory of devices is open between them, one after the other: first those that read memory of
 * this one and have it open, some in the midst of a copy, then those whose memory this one has open. Each time this process hears
 * of it, its requests end, its memory can be freed, and the next process is served. Nothing stays open in it. Arguments: "staged"
 * where there is no cuda_ipc; "managed" memory goes by memory of the device that is open between them. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"
#include <poll.h>

/* Built for longer messages, too. */
#ifndef LONGEST_BYTES
#define LONGEST_BYTES (1 << 20)
#endif
enum { LENGTH = LONGEST_BYTES, ROUNDS = 6 };

/* Without cuda_ipc nothing is open between processes, but copies are under way. */
static int staged;
/* Messages go part by part by memory that is. */
static int managed;
static pair_t pairs[2 * ROUNDS], pair;
static side_t side;
static ucp_ep_h ep;
static char *memory, bytes[LENGTH], expected[LENGTH];
static int failed;

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

static void on_error(void *arg, ucp_ep_h failed_ep, ucs_status_t status)
{
    ++failed;
}

static void connect_to(const char *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLER |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .address = (const ucp_address_t*)address,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = on_error};

    CHECK_OK(ucp_ep_create(side.worker, &params, &ep));
}

static void draw(unsigned seed)
{
    size_t i;

    for (i = 0; i < LENGTH; ++i) {
        expected[i] = (char)(i * 7 + i / 256 + seed * 31);
    }
}

static void write_memory(unsigned seed)
{
    draw(seed);
    CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)memory, expected, LENGTH), 0);
}

static void holds(unsigned seed)
{
    draw(seed);
    CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)memory, LENGTH), 0);
    CHECK(!memcmp(bytes, expected, LENGTH));
}

static ucs_status_ptr_t receive(int tag)
{
    static const ucp_request_param_t none;

    return ucp_tag_recv_nbx(side.worker, memory, LENGTH, tag, -1, &none);
}

static ucs_status_ptr_t transmit(int tag)
{
    static const ucp_request_param_t none;

    return ucp_tag_send_nbx(ep, memory, LENGTH, tag, &none);
}

static char *allocate(void)
{
    return at(managed ? managed_memory(LENGTH) : device_memory(LENGTH));
}

static void open_side(void)
{
    use_device(0);
    memory = allocate();
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
}

/* Whether the last message of a sender is matched before the sender is killed. */
static int is_matched_before(int round)
{
    return staged && round % 2;
}

/* ---- those that are killed ---- */

static void victim(int round)
{
    char theirs[ADDRESS_ROOM], go;
    ucs_status_ptr_t request;
    long before;

    pair = pairs[round];
    pair_recv(&pair, &go, 1);
    open_side();
    side_swap_addresses(&side, &pair, theirs);
    connect_to(theirs);
    if (round < ROUNDS) {
        CHECK_OK(ended(receive(1)));
        holds(round);
        /* It stays open here. */
        CHECK((staged && !managed) || fake_cuda_calls("cuIpcOpenMemHandle_v2") > 0);
        before = fake_cuda_calls("cuMemcpyAsync");
        if (round % 2) {
            request = receive(2);
            while (fake_cuda_calls("cuMemcpyAsync") == before && UCS_PTR_IS_PTR(request)) {
                ucp_worker_progress(side.worker);
            }
        }
    } else {
        write_memory(round);
        CHECK_OK(ended(transmit(1)));
        write_memory(round + 50);
        request = transmit(2);
        CHECK(UCS_PTR_IS_PTR(request));
        ucp_worker_progress(side.worker);
    }
    pair_send(&pair, &go, 1);
    /* Killed in the midst of a message. */
    while (round >= ROUNDS && is_matched_before(round)) {
        ucp_worker_progress(side.worker);
    }
    for (;;) {
        pause();
    }
}

/* ---- the one that goes on ---- */

static void kill_peer(void)
{
    struct pollfd told = {.fd = pair.fd, .events = POLLIN};
    char go;
    int status;

    /* Where a message goes in parts, the peer is in its midst only as long as this side goes on. */
    while (staged && poll(&told, 1, 0) == 0) {
        ucp_worker_progress(side.worker);
    }
    pair_recv(&pair, &go, 1);
    kill(pair.child, SIGKILL);
    CHECK_EQ(waitpid(pair.child, &status, 0), pair.child);
}

static void survive(int round)
{
    ucp_request_param_t by_force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    static const ucp_request_param_t none;
    char theirs[ADDRESS_ROOM], go = 1;
    ucs_status_ptr_t request;
    int before = failed, i;
    long copies;

    pair = pairs[round];
    memory = allocate();
    pair_send(&pair, &go, 1);
    side_swap_addresses(&side, &pair, theirs);
    connect_to(theirs);
    if (round < ROUNDS) {
        write_memory(round);
        CHECK_OK(ended(transmit(1)));
        request = transmit(2);
        CHECK(UCS_PTR_IS_PTR(request));
        /* A device copies it before it is announced. */
        for (i = 0; staged && i < 200; ++i) {
            ucp_worker_progress(side.worker);
        }
        kill_peer();
        /* Who was in the midst of a copy may have had it all. */
        CHECK(ended(request) != UCS_OK || round % 2);
    } else {
        /* So that the peer's end is watched. */
        CHECK_OK(ended(ucp_ep_flush_nbx(ep, &none)));
        CHECK_OK(ended(receive(1)));
        holds(round);
        copies = fake_cuda_calls("cuMemcpyAsync");
        request = is_matched_before(round) ? receive(2) : NULL;
        while (UCS_PTR_IS_PTR(request) && fake_cuda_calls("cuMemcpyAsync") == copies) {
            ucp_worker_progress(side.worker);
        }
        kill_peer();
        /* The message had come, or had not; its bytes may be there still. */
        if (!is_matched_before(round)) {
            request = receive(2);
        }
        while (failed == before) {
            ucp_worker_progress(side.worker);
        }
        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_cancel(side.worker, request);
        }
        if (ended(request) == UCS_OK) {
            holds(round + 50);
        }
    }
    WORKERS_UNTIL(side.worker, side.worker, failed > before);
    ended(ucp_ep_close_nbx(ep, &by_force));
    CHECK_EQ(cuMemFree_v2((uintptr_t)memory), 0);
    CHECK_EQ(fake_cuda_calls("cuIpcOpenMemHandle_v2"), fake_cuda_calls("cuIpcCloseMemHandle"));
}

int main(int argc, char **argv)
{
    int round;

    managed = argc > 1 && !strcmp(argv[1], "managed");
    staged = managed || (argc > 1 && !strcmp(argv[1], "staged"));
    alarm(100);
    for (round = 0; round < 2 * ROUNDS; ++round) {
        pairs[round] = pair_start();
        if (pair_is_child(&pairs[round])) {
            victim(round);
        }
    }
    open_side();
    for (round = 0; round < 2 * ROUNDS; ++round) {
        survive(round);
    }
    side_close(&side);
    CHECK_EQ(fake_cuda_calls("cuIpcOpenMemHandle_v2"), fake_cuda_calls("cuIpcCloseMemHandle"));
    puts("ok ipc_deaths");
    return 0;
}
