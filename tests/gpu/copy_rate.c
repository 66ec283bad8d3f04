/* What the driver's copies reach by themselves: one process, one stream, each copy followed by a wait for it. Prints, for
 * the kinds "HtoD", "DtoH" and "DtoD" and each length of the arguments, the microseconds of a copy. */
#include "../../c-tests/cuda_driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
int cuStreamCreate(CUstream *stream, unsigned flags);
int cuStreamSynchronize(CUstream stream);

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"HtoD", "DtoH", "DtoD"};
    CUdeviceptr host, ends[3][2];
    CUstream stream;
    size_t most = 0, length, copies, i;
    void *pinned;
    double start;
    int arg, kind;

    use_device(0);
    for (arg = 1; arg < argc; ++arg) {
        length = strtoull(argv[arg], NULL, 0);
        most = length > most ? length : most;
    }
    CHECK_EQ(cuMemHostAlloc(&pinned, most, 0), 0);
    host = (uintptr_t)pinned;
    ends[0][0] = ends[1][1] = ends[2][0] = device_memory(most);
    ends[0][1] = ends[1][0] = host;
    ends[2][1] = device_memory(most);
    CHECK_EQ(cuStreamCreate(&stream, 1), 0);
    for (arg = 1; arg < argc; ++arg) {
        length = strtoull(argv[arg], NULL, 0);
        for (kind = 0; kind < 3; ++kind) {
            copies = length < (1 << 20) ? 2000 : length < (64 << 20) ? 200 : 20;
            for (i = 0, start = 0; i < copies + copies / 10 + 1; ++i) {
                if (i == copies / 10 + 1) {
                    start = now();
                }
                CHECK_EQ(cuMemcpyAsync(ends[kind][0], ends[kind][1], length, stream), 0);
                CHECK_EQ(cuStreamSynchronize(stream), 0);
            }
            printf("%s %zu %.3f\n", names[kind], length, (now() - start) / copies * 1e6);
        }
    }
    return 0;
}
