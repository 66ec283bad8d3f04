/* What a copy of the driver's takes while another process uses the device too: two processes copy in turns, each waits for the
 * end of its copy. Prints for each kind of copy the microseconds in turns, and those of one process while the other has
 * nothing to do. "overlap" are copies by cuMemcpyBatchAsync() that shall run beside computations, where the driver has it. */
#include "../../c-tests/cuda_driver.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
int cuStreamCreate(CUstream *stream, unsigned flags);
int cuStreamSynchronize(CUstream stream);

enum { COPIES = 100, MOST = 16 << 20, IN_STREAM_ORDER = 1, OVERLAP = 1 };

/* CUmemcpyAttributes of CUDA 12.8. */
typedef struct {
    unsigned order;
    unsigned source[2], destination[2];
    unsigned flags;
} how_t;

typedef int (*batch_t)(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count, how_t *how, size_t *first, size_t hows,
                       size_t *failed, CUstream stream);

static volatile int *turn;
static int me;
static CUstream stream;
static batch_t batch;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static double copy(CUdeviceptr to, CUdeviceptr from, size_t length, int overlaps)
{
    how_t how = {.order = IN_STREAM_ORDER, .flags = OVERLAP};
    size_t first = 0, failed;
    double start = now();

    CHECK_EQ(overlaps ? batch(&to, &from, &length, 1, &how, &first, 1, &failed, stream) :
                        cuMemcpyAsync(to, from, length, stream), 0);
    CHECK_EQ(cuStreamSynchronize(stream), 0);
    return now() - start;
}

static void take_turn(void)
{
    while (*turn != me) {
    }
}

static void measure(const char *name, CUdeviceptr to, CUdeviceptr from, size_t length, int overlaps)
{
    double in_turns = 0, alone = 0;
    int i;

    if (overlaps && !batch) {
        return;
    }
    for (i = 0; i < COPIES; ++i) {
        take_turn();
        in_turns += copy(to, from, length, overlaps);
        *turn = !me;
    }
    take_turn();
    for (i = 0; i < COPIES && !me; ++i) {
        alone += copy(to, from, length, overlaps);
    }
    if (!me) {
        printf("%s %zu%s\t%.2f\t%.2f\n", name, length, overlaps ? " overlap" : "", in_turns / COPIES, alone / COPIES);
        fflush(stdout);
    }
    *turn = !me;
}

int main(void)
{
    static const size_t lengths[] = {8, 4096, 65536, 1 << 20, MOST};
    CUdeviceptr device, other, managed, others, pinned, plain;
    void *memory;
    size_t i;
    int overlaps, status;

    turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(turn != MAP_FAILED);
    me = fork() == 0;
    alarm(60);
    use_device(0);
    batch = (batch_t)dlsym(RTLD_DEFAULT, "cuMemcpyBatchAsync");
    CHECK_EQ(cuStreamCreate(&stream, 1), 0);
    CHECK_EQ(cuMemHostAlloc(&memory, MOST, 0), 0);
    memset(memory, 1, MOST);
    pinned = (uintptr_t)memory;
    memory = malloc(MOST);
    CHECK(memory != NULL);
    memset(memory, 1, MOST);
    plain = (uintptr_t)memory;
    device = device_memory(MOST);
    other = device_memory(MOST);
    CHECK_EQ(cuMemAllocManaged(&managed, MOST, 1), 0);
    CHECK_EQ(cuMemAllocManaged(&others, MOST, 1), 0);
    copy(managed, device, MOST, 0);
    copy(others, device, MOST, 0);
    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
        for (overlaps = 0; overlaps < 2; ++overlaps) {
            measure("host to device", device, plain, lengths[i], overlaps);
            measure("pinned to device", device, pinned, lengths[i], overlaps);
            measure("device to host", plain, device, lengths[i], overlaps);
            measure("device to pinned", pinned, device, lengths[i], overlaps);
            measure("device to device", other, device, lengths[i], overlaps);
            measure("managed to pinned", pinned, managed, lengths[i], overlaps);
            measure("managed to device", device, managed, lengths[i], overlaps);
            measure("pinned to managed", managed, pinned, lengths[i], overlaps);
            measure("device to managed", managed, device, lengths[i], overlaps);
            measure("managed to managed", others, managed, lengths[i], overlaps);
        }
    }
    if (!me) {
        CHECK(wait(&status) > 0 && status == 0);
    }
    return 0;
}
