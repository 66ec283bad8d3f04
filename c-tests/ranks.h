/* Shared by programs that a launcher starts as several ranks: checks that end all ranks, a list of the UCX libraries
 * that are loaded, and the "ok NAME" lines, which rank 0 prints when all ranks have finished. The library that joins
 * the ranks provides `everybody_stops` and `everybody_meets` (c-tests/mpi/mpi_check.h, c-tests/shmem/shmem_check.h). */
#ifndef FERRUCX_RANKS_H
#define FERRUCX_RANKS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

static void everybody_stops(void);
static void everybody_meets(void);

#define FAIL(...) \
    do { \
        fprintf(stderr, "rank %d, %s:%d: ", rank, __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
        fflush(NULL); \
        everybody_stops(); \
    } while (0)

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            FAIL("not true: %s", #condition); \
        } \
    } while (0)

#define CHECK_EQ(actual, expected) \
    do { \
        long long check_actual = (actual), check_expected = (expected); \
        if (check_actual != check_expected) { \
            FAIL("%s is %lld, expected %s = %lld", #actual, check_actual, #expected, check_expected); \
        } \
    } while (0)

#include "bytes.h"

/* Prints each UCX library that is mapped into this process. */
static inline void tell_libraries(void)
{
    char line[4096], last[4096] = "", *path;
    FILE *maps = fopen("/proc/self/maps", "r");

    while ((maps != NULL) && (fgets(line, sizeof(line), maps) != NULL)) {
        path = strchr(line, '/');
        if ((path != NULL) && strstr(path, "/libuc") && strcmp(path, last)) {
            strcpy(last, path);
            printf("library %d %s", (int)getpid(), path);
        }
    }
    fclose(maps);
    fflush(stdout);
}

/* A part of the test is over on every rank. */
static inline void part(const char *name)
{
    everybody_meets();
    if (rank == 0) {
        printf("ok %s\n", name);
        fflush(stdout);
    }
}

static inline void *room(size_t length)
{
    void *buffer = malloc(length + 1);

    CHECK(buffer != NULL);
    memset(buffer, 0xee, length + 1);
    return buffer;
}

#endif
