/* What the driver is asked about memory of the host: nothing about what stays mapped or was allocated by the library, and one
 * question for each other buffer. And memory of a device that lies where memory of the host was is known to be the device's.
 *
 *   host_memory asked | always | uninitialised | replaced
 *
 * `always` is for UCX_MEMTYPE_CACHE=n. Of this library alone. Run by tests/cuda. */
#include "device_bytes.h"
#include "../peers.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 1 << 20, HALF = SIZE / 2, TAG = 3 };

/* Of the stand-in alone: the next memory is allocated there, where nothing may be mapped. */
void fake_cuda_place_next(void *at);

static side_t side;
static ucp_ep_h ep;
static const char *mode;
static char of_program[SIZE];
/* On the stack of the first thread, which had it when the library was loaded. */
static char *deep;

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

/* A message from the first half of a block to the second. */
static void message(char *block, size_t length)
{
    static const ucp_request_param_t none;
    ucs_status_ptr_t r, s;

    r = ucp_tag_recv_nbx(side.worker, block + HALF, length, TAG, -1, &none);
    s = ucp_tag_send_nbx(ep, block, length, TAG, &none);
    CHECK_OK(ended(s));
    CHECK_OK(ended(r));
}

static void host_message(char *block)
{
    memset(block, 0x5a, HALF);
    memset(block + HALF, 0, HALF);
    message(block, HALF);
    CHECK(!memcmp(block, block + HALF, HALF));
}

/* ---- questions ---- */

static void count(const char *what, char *block, int is_known)
{
    long calls, texts, expected = is_known && strcmp(mode, "always") ? 0 : 2;
    size_t length;

    for (length = 8; length <= 8000; length *= 1000) {
        calls = fake_cuda_calls(NULL);
        texts = fake_cuda_calls("cuGetErrorString");
        message(block, length);
        calls = fake_cuda_calls(NULL) - calls;
        if (calls != expected || fake_cuda_calls("cuGetErrorString") != texts) {
            FAIL("%s, %zu bytes: %ld calls, %ld expected", what, length, calls, expected);
        }
    }
}

static void *on_thread(void *unused)
{
    char block[SIZE];

    count("stack of a thread", block, 1);
    return unused;
}

static ucp_mem_h map(void *address, unsigned flags)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                 UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .address = address, .length = SIZE, .flags = flags};
    ucp_mem_h memh;

    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    return memh;
}

static ucp_mem_attr_t query(ucp_mem_h memh)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS | UCP_MEM_ATTR_FIELD_LENGTH |
                                         UCP_MEM_ATTR_FIELD_MEM_TYPE};

    CHECK_OK(ucp_mem_query(memh, &attr));
    return attr;
}

/* A block at the end of the heap of brk(2). */
static char *grow_heap(void)
{
    char *end = sbrk(0);
    long padding = -(uintptr_t)end & 0xffff;

    CHECK(sbrk(padding + SIZE) == end);
    return end + padding;
}

static void questions(void)
{
    char *block = malloc(SIZE);
    ucp_mem_h memh = map(NULL, UCP_MEM_MAP_ALLOCATE);
    pthread_t thread;

    count("stack", deep, 1);
    count("data", of_program, 1);
    count("heap", grow_heap(), 1);
    count("mapped by the library", query(memh).address, 1);
    CHECK_EQ(pthread_create(&thread, NULL, on_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    count("mapped by the C library", block, 0);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    free(block);
}

/* ---- the same addresses ---- */

/* Memory of the device, then memory that it shares with the host, lie where memory of the host was. */
static void replace(char *block)
{
    int managed;

    for (managed = 0; managed < 2; ++managed) {
        ucs_memory_type_t type = managed ? UCS_MEMORY_TYPE_CUDA_MANAGED : UCS_MEMORY_TYPE_CUDA;
        CUdeviceptr got;
        ucp_mem_h memh;

        fake_cuda_place_next(block);
        got = managed ? managed_memory(SIZE) : device_memory(SIZE);
        CHECK(at(got) == block);
        write_memory(block, 1 + managed, HALF);
        message(block, HALF);
        CHECK(holds(block + HALF, 1 + managed, HALF));
        memh = map(block, 0);
        CHECK_EQ(query(memh).mem_type, type);
        CHECK_OK(ucp_mem_unmap(side.context, memh));
        CHECK_EQ(cuMemFree_v2(got), 0);
    }
}

static void *on_stack(void *block)
{
    char local[64];

    CHECK((char *)block <= local && local < (char *)block + SIZE);
    message(block, 8);
    return NULL;
}

static void replaced(void)
{
    char *block;
    ucp_mem_h memh;
    pthread_attr_t attr;
    pthread_t thread;

    block = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(block != MAP_FAILED);
    host_message(block);
    CHECK_EQ(munmap(block, SIZE), 0);
    replace(block);

    memh = map(NULL, UCP_MEM_MAP_ALLOCATE);
    block = query(memh).address;
    host_message(block);
    CHECK_OK(ucp_mem_unmap(side.context, memh));
    replace(block);

    block = grow_heap();
    host_message(block);
    CHECK(sbrk(-SIZE) == block + SIZE);
    replace(block);

    block = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(block != MAP_FAILED);
    CHECK_EQ(pthread_attr_init(&attr), 0);
    CHECK_EQ(pthread_attr_setstack(&attr, block, SIZE), 0);
    CHECK_EQ(pthread_create(&thread, &attr, on_stack, block), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(munmap(block, SIZE), 0);
    replace(block);
}

int main(int argc, char **argv)
{
    static const ucp_request_param_t none;
    char local[SIZE];

    CHECK(argc == 2);
    memset(local, 0, sizeof(local));
    deep = local;
    mode = argv[1];
    alarm(100);
    if (strcmp(mode, "uninitialised")) {
        use_device(0);
    }
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_MULTI);
    ep = side_connect(&side, side.address);
    if (strcmp(mode, "replaced")) {
        questions();
    } else {
        replaced();
    }
    CHECK_OK(ended(ucp_ep_close_nbx(ep, &none)));
    side_close(&side);
    OK("%s", mode);
    return 0;
}
