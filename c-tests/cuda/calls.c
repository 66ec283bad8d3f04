/* What the driver is asked to do for a message between two processes, on this library or on upstream's: how often a message
 * makes a process wait for the device, or the driver for the kernel, and how often it calls the driver at all. Questions
 * whether something has ended are left out: how many there are is chance. Prints both in hundredths of a message, for
 * the sender and the receiver; with FAKE_CUDA=log=FILE the log has a line where the messages begin and where they end.
 *
 *   calls FROM TO LENGTH COUNT       FROM, TO: host or device
 *
 * Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

enum { WINDOW = 32, TAG = 1 };

/* Those that end when the device has done something, or that take as long as a system call. */
static const char *slow[] = {"cuStreamSynchronize",   "cuEventSynchronize",  "cuMemHostRegister_v2", "cuMemHostUnregister",
                             "cuMemAlloc_v2",         "cuMemFree_v2",        "cuMemcpyHtoD_v2",      "cuMemcpyDtoH_v2",
                             "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle", "cuIpcGetMemHandle",    "cuStreamCreate",
                             "cuStreamDestroy_v2"};
static const char *quick[] = {"cuEventCreate",
                              "cuEventDestroy_v2",
                              "cuEventRecord",
                              "cuMemcpyAsync",
                              "cuMemcpyDtoDAsync_v2",
                              "cuPointerGetAttribute",
                              "cuPointerGetAttributes",
                              "cuPointerSetAttribute",
                              "cuCtxGetCurrent",
                              "cuCtxGetDevice",
                              "cuCtxGetId",
                              "cuCtxGetFlags",
                              "cuCtxSetFlags",
                              "cuCtxPushCurrent_v2",
                              "cuCtxPopCurrent_v2",
                              "cuDeviceGet",
                              "cuDeviceGetAttribute",
                              "cuDevicePrimaryCtxGetState",
                              "cuDevicePrimaryCtxRetain",
                              "cuDevicePrimaryCtxRelease_v2",
                              "cuDeviceGetUuid",
                              "cuDeviceTotalMem_v2",
                              "cuGetErrorString",
                              "cuMemGetAddressRange_v2",
                              "cuMemRetainAllocationHandle",
                              "cuStreamAddCallback"};

enum { SLOW = sizeof(slow) / sizeof(*slow), QUICK = sizeof(quick) / sizeof(*quick) };

typedef struct {
    long slow[SLOW], quick[QUICK];
} counts_t;

static counts_t counted(void)
{
    counts_t counts;
    size_t i;

    for (i = 0; i < SLOW; ++i) {
        counts.slow[i] = fake_cuda_calls(slow[i]);
    }
    for (i = 0; i < QUICK; ++i) {
        counts.quick[i] = fake_cuda_calls(quick[i]);
    }
    return counts;
}

static void report(const char *who, const counts_t *before, const counts_t *after, long count)
{
    long all_slow = 0, all = 0, calls;
    size_t i;

    for (i = 0; i < SLOW + QUICK; ++i) {
        calls = i < SLOW ? after->slow[i] - before->slow[i] : after->quick[i - SLOW] - before->quick[i - SLOW];
        all += calls;
        all_slow += i < SLOW ? calls : 0;
        if (calls > 0) {
            fprintf(stderr, "# %s: %s %.2f\n", who, i < SLOW ? slow[i] : quick[i - SLOW], (double)calls / count);
        }
    }
    printf("%s slow %ld all %ld\n", who, all_slow * 100 / count, all * 100 / count);
}

static side_t side;
static pair_t pair;
static ucp_ep_h ep;

static ucs_status_ptr_t post(char *buffer, size_t length, ucs_memory_type_t type)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = type};

    return pair_is_child(&pair) ? ucp_tag_recv_nbx(side.worker, buffer, length, TAG, -1, &param) :
                                  ucp_tag_send_nbx(ep, buffer, length, TAG, &param);
}

/* As many at a time as benchmarks have. */
static void messages(char *buffer, size_t length, ucs_memory_type_t type, long count)
{
    static ucs_status_ptr_t under_way[WINDOW];
    long i;

    for (i = 0; i < count + WINDOW; ++i) {
        CHECK_OK(request_wait(side.worker, side.worker, under_way[i % WINDOW]));
        under_way[i % WINDOW] = i < count ? post(buffer, length, type) : NULL;
    }
    side_meet(&side, &pair);
}

int main(int argc, char **argv)
{
    char theirs[ADDRESS_ROOM], *buffer;
    ucs_memory_type_t type;
    counts_t of[2], there[2];
    size_t length;
    long count;

    CHECK(argc == 5);
    length = strtoul(argv[3], NULL, 0);
    count = strtol(argv[4], NULL, 0);
    alarm(100);
    pair = pair_start();
    use_device(0);
    type = strcmp(argv[pair_is_child(&pair) ? 2 : 1], "device") ? UCS_MEMORY_TYPE_HOST : UCS_MEMORY_TYPE_CUDA;
    buffer = type == UCS_MEMORY_TYPE_HOST ? calloc(1, length) : at(device_memory(length));
    CHECK(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    /* What is made once is made now. */
    messages(buffer, length, type, 2 * WINDOW);
    fake_cuda_note("begin");
    of[0] = counted();
    messages(buffer, length, type, count);
    of[1] = counted();
    fake_cuda_note("end");
    pair_exchange(&pair, of, there, sizeof(of));
    if (!pair_is_child(&pair)) {
        report("sender", &of[0], &of[1], count);
        report("receiver", &there[0], &there[1], count);
    }
    side_meet(&side, &pair);
    ucp_ep_destroy(ep);
    side_close(&side);
    pair_finish(&pair);
    return 0;
}
