/* How near the two processors are at the moment: nanoseconds that a cache line takes one way between two
 * processes. On a virtual machine this changes within seconds, and every figure of shared memory with it. */
#define _GNU_SOURCE
#include "clock.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>

enum { ROUNDS = 4000, REPEATS = 9, LINE = 16 };

int main(void)
{
    _Atomic uint64_t *lines = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double each[REPEATS];
    uint64_t n = 0;
    int i, k;
    pid_t child;

    if (lines == MAP_FAILED) {
        return 1;
    }
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(0);
        for (n = 1; n <= (uint64_t)ROUNDS * REPEATS; ++n) {
            while (atomic_load_explicit(&lines[0], memory_order_acquire) != n) {
            }
            atomic_store_explicit(&lines[LINE], n, memory_order_release);
        }
        _exit(0);
    }
    pin(1);
    for (k = 0; k < REPEATS; ++k) {
        double start = now_us();

        for (i = 0; i < ROUNDS; ++i) {
            atomic_store_explicit(&lines[0], ++n, memory_order_release);
            while (atomic_load_explicit(&lines[LINE], memory_order_acquire) != n) {
            }
        }
        each[k] = (now_us() - start) / ROUNDS / 2 * 1000;
    }
    waitpid(child, NULL, 0);
    printf("line %.1f\n", median(each, REPEATS));
    return 0;
}
