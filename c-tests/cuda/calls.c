/* What the driver is asked to do for a message between two processes, on this library or on upstream's: how often a message
 * makes a process wait for the device, or the driver for the kernel, and how often it calls the driver at all. Questions
 * whether something has ended are left out: how many there are is chance. Prints both in hundredths of a message, for
 * the sender and the receiver; with FAKE_CUDA=log=FILE the log has a line where the messages begin and where they end.
 *
 *   calls FROM TO LENGTH COUNT [unexpected|stream|put|get]       FROM, TO: host, device or managed
 *
 * An unexpected message is there before it is asked for. A put is from the sender's memory FROM to memory of the host, which
 * the receiver has mapped; a get from such memory to TO.
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
    /* On the stand-in: copies to a device from memory of the host that is not pinned. */
    long unpinned;
    /* And those between managed memory and the host's. */
    long moving;
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
    counts.unpinned = fake_cuda_calls("unpinned");
    counts.moving = fake_cuda_calls("moving");
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
    fprintf(stderr, "# %s: unpinned copies %.2f\n", who, (double)(after->unpinned - before->unpinned) / count);
    fprintf(stderr, "# %s: copies that move pages %.2f\n", who, (double)(after->moving - before->moving) / count);
    printf("%s slow %ld all %ld\n", who, all_slow * 100 / count, all * 100 / count);
}

static side_t side;
static pair_t pair;
static ucp_ep_h ep;
static const char *what;
static ucp_mem_h memh;
static ucp_rkey_h rkey;
static uint64_t far;

static int is_access(void)
{
    return !strcmp(what, "put") || !strcmp(what, "get");
}

/* The receiver maps memory, the sender has its key. */
static void open_memory(size_t length)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = length,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    size_t blob_length;
    void *blob;

    if (pair_is_child(&pair)) {
        CHECK_OK(ucp_mem_map(side.context, &map, &memh));
        CHECK_OK(ucp_mem_query(memh, &attr));
        far = (uintptr_t)attr.address;
        memset(attr.address, 1, length);
        CHECK_OK(ucp_rkey_pack(side.context, memh, &blob, &blob_length));
        pair_send(&pair, &far, sizeof(far));
        pair_send_blob(&pair, blob, blob_length);
        ucp_rkey_buffer_release(blob);
        return;
    }
    pair_recv(&pair, &far, sizeof(far));
    blob = pair_recv_blob(&pair);
    CHECK_OK(ucp_ep_rkey_unpack(ep, blob, &rkey));
    free(blob);
}

static ucs_status_ptr_t post(char *buffer, size_t length, ucs_memory_type_t type)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = type};
    ucp_tag_recv_info_t info;
    size_t got;

    if (is_access()) {
        if (pair_is_child(&pair)) {
            return NULL;
        }
        return strcmp(what, "put") ? ucp_get_nbx(ep, buffer, length, far, rkey, &param) :
                                     ucp_put_nbx(ep, buffer, length, far, rkey, &param);
    }
    if (!strcmp(what, "stream")) {
        if (!pair_is_child(&pair)) {
            return ucp_stream_send_nbx(ep, buffer, length, &param);
        }
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
        param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
        return ucp_stream_recv_nbx(ep, buffer, length, &got, &param);
    }
    if (!strcmp(what, "unexpected") && pair_is_child(&pair)) {
        while (!ucp_tag_probe_nb(side.worker, TAG, -1, 0, &info)) {
            ucp_worker_progress(side.worker);
        }
    }
    return pair_is_child(&pair) ? ucp_tag_recv_nbx(side.worker, buffer, length, TAG, -1, &param) :
                                  ucp_tag_send_nbx(ep, buffer, length, TAG, &param);
}

/* As many at a time as benchmarks have, or WINDOW, which may be less. */
static void messages(char *buffer, size_t length, ucs_memory_type_t type, long count)
{
    static ucs_status_ptr_t under_way[WINDOW];
    long i, window = getenv("WINDOW") ? strtol(getenv("WINDOW"), NULL, 0) : WINDOW;

    for (i = 0; i < count + window; ++i) {
        CHECK_OK(request_wait(side.worker, side.worker, under_way[i % window]));
        under_way[i % window] = i < count ? post(buffer, length, type) : NULL;
    }
    side_meet(&side, &pair);
}

static char *memory_of(const char *name, size_t length, ucs_memory_type_t *type)
{
    if (!strcmp(name, "device")) {
        *type = UCS_MEMORY_TYPE_CUDA;
        return at(device_memory(length));
    }
    if (!strcmp(name, "managed")) {
        *type = UCS_MEMORY_TYPE_CUDA_MANAGED;
        return at(managed_memory(length));
    }
    *type = UCS_MEMORY_TYPE_HOST;
    return calloc(1, length);
}

int main(int argc, char **argv)
{
    char theirs[ADDRESS_ROOM], *buffer;
    ucs_memory_type_t type;
    counts_t of[2], there[2];
    size_t length;
    long count;

    CHECK(argc == 5 || argc == 6);
    what = argc == 6 ? argv[5] : "tag";
    length = strtoul(argv[3], NULL, 0);
    count = strtol(argv[4], NULL, 0);
    alarm(100);
    pair = pair_start();
    use_device(0);
    buffer = memory_of(argv[pair_is_child(&pair) ? 2 : 1], length, &type);
    CHECK(buffer != NULL);
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_RMA, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, theirs);
    ep = side_connect(&side, theirs);
    if (is_access()) {
        open_memory(length);
    }
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
    if (rkey) {
        ucp_rkey_destroy(rkey);
    }
    side_meet(&side, &pair);
    if (memh) {
        CHECK_OK(ucp_mem_unmap(side.context, memh));
    }
    ucp_ep_destroy(ep);
    side_close(&side);
    pair_finish(&pair);
    return 0;
}
