/* Two processes, and messages from managed memory to managed memory, which go part by part by memory of the device that the
 * other process opens. Each function of the driver that this takes fails in turn, at the sender or at the receiver: each
 * operation ends, with its bytes or with an error, the messages come all the same where there is another way, and the endpoint
 * goes on. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

enum { COUNT = 4, LONGEST = 5 << 20, SENDER = 0, RECEIVER = 1 };

static const size_t lengths[COUNT] = {64 << 10, LONGEST, 1 << 20, LONGEST - 77};

typedef struct {
    const char *name;
    int who;
    /* Whether messages come whole. */
    int has_another_way;
} failing_t;

static const failing_t functions[] = {
    {"cuMemAlloc_v2", SENDER, 1},     {"cuIpcGetMemHandle", SENDER, 1}, {"cuIpcOpenMemHandle_v2", RECEIVER, 1},
    {"cuMemcpyAsync", SENDER, 1},     {"cuMemcpyAsync", RECEIVER, 0},   {"cuEventCreate", SENDER, 1},
    {"cuEventCreate", RECEIVER, 1},   {"cuEventRecord", SENDER, 1},     {"cuEventRecord", RECEIVER, 1},
    {"cuEventQuery", SENDER, 0},      {"cuEventQuery", RECEIVER, 0},    {"cuMemFree_v2", SENDER, 1},
    {"cuIpcCloseMemHandle", RECEIVER, 1}};
static const int calls[] = {1, 2, 3, 5, 8};

static pair_t pair;
static side_t side;
static ucp_ep_h ep;
/* Copies of the last messages, and those among them that may move pages. */
static long copies, moving;
static char *memory[COUNT], bytes[LONGEST], expected[LONGEST];

static void draw(unsigned seed)
{
    size_t i;

    for (i = 0; i < LONGEST; ++i) {
        expected[i] = (char)(i * 7 + i / 256 + seed * 31);
    }
}

/* Whether a message failed here. */
static int messages(unsigned seed, const char *what)
{
    static const ucp_request_param_t none;
    ucs_status_ptr_t requests[COUNT];
    int i, failed = 0, is_whole[COUNT], theirs[COUNT];

    for (i = 0; i < COUNT; ++i) {
        draw(seed + i);
        if (pair_is_child(&pair)) {
            memset(bytes, 0x55, LONGEST);
        }
        CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)memory[i], pair_is_child(&pair) ? bytes : expected, LONGEST), 0);
    }
    side_meet(&side, &pair);
    copies = fake_cuda_calls("cuMemcpyAsync");
    moving = fake_cuda_calls("moving");
    for (i = 0; i < COUNT; ++i) {
        requests[i] = pair_is_child(&pair) ? ucp_tag_recv_nbx(side.worker, memory[i], lengths[i], i, -1, &none) :
                                             ucp_tag_send_nbx(ep, memory[i], lengths[i], i, &none);
    }
    for (i = 0; i < COUNT; ++i) {
        is_whole[i] = request_wait(side.worker, side.worker, requests[i]) == UCS_OK;
        failed += !is_whole[i];
    }
    side_meet(&side, &pair);
    copies = fake_cuda_calls("cuMemcpyAsync") - copies;
    moving = fake_cuda_calls("moving") - moving;
    pair_exchange(&pair, is_whole, theirs, sizeof(is_whole));
    for (i = 0; i < COUNT && pair_is_child(&pair); ++i) {
        CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)memory[i], lengths[i]), 0);
        draw(seed + i);
        if (is_whole[i] && memcmp(bytes, expected, lengths[i])) {
            FAIL("%s: message %d came with other bytes", what, i);
        }
    }
    return failed;
}

static void endpoint(const char *address)
{
    ep = side_connect(&side, address);
    side_meet(&side, &pair);
}

static void close_endpoint(void)
{
    static const ucp_request_param_t none;

    side_meet(&side, &pair);
    request_wait(side.worker, side.worker, ucp_ep_close_nbx(ep, &none));
    side_meet(&side, &pair);
}

static void fails(const failing_t *one, int call, const char *address)
{
    int failed[2], is_here = (one->who == RECEIVER) == pair_is_child(&pair);
    unsigned seed = one - functions + 3 * call;
    char what[100];

    snprintf(what, sizeof(what), "call %d of %s at the %s", call, one->name, one->who == SENDER ? "sender" : "receiver");
    if (!pair_is_child(&pair)) {
        printf("# %s\n", what);
        fflush(stdout);
    }
    endpoint(address);
    if (is_here) {
        fake_cuda_fail(one->name, call);
    }
    failed[0] = messages(seed, what);
    failed[1] = messages(seed + 50, what);
    if (one->has_another_way ? failed[0] + failed[1] > 0 : failed[0] + failed[1] > 1) {
        FAIL("%s: %d and %d messages failed", what, failed[0], failed[1]);
    }
    close_endpoint();
}

int main(void)
{
    char theirs[ADDRESS_ROOM];
    size_t i, k;

    alarm(110);
    pair = pair_start();
    use_device(0);
    for (i = 0; i < COUNT; ++i) {
        memory[i] = at(managed_memory(LONGEST));
    }
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    /* Nothing fails: each part is copied to the device's memory, and from there. */
    endpoint(theirs);
    CHECK_EQ(messages(7, "nothing fails"), 0);
    CHECK_EQ(copies, 1 + 3 + 1 + 3);
    CHECK_EQ(moving, 0);
    CHECK_EQ(fake_cuda_calls("cuIpcOpenMemHandle_v2"), pair_is_child(&pair));
    close_endpoint();
    for (i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
        for (k = 0; k < sizeof(calls) / sizeof(*calls); ++k) {
            fails(&functions[i], calls[k], theirs);
        }
    }
    side_close(&side);
    for (i = 0; i < COUNT; ++i) {
        CHECK_EQ(cuMemFree_v2((uintptr_t)memory[i]), 0);
    }
    pair_finish(&pair);
    puts("ok part_errors");
    return 0;
}
