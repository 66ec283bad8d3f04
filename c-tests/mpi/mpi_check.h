/* What the MPI programs share: checks that end all ranks, a start that tells which UCX libraries the process
 * has loaded, and the "ok NAME" lines, printed by rank 0 when all ranks are through. */
#ifndef FERRUCX_MPI_CHECK_H
#define FERRUCX_MPI_CHECK_H

#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

#define FAIL(...) \
    do { \
        fprintf(stderr, "rank %d, %s:%d: ", rank, __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
        fflush(NULL); \
        MPI_Abort(MPI_COMM_WORLD, 1); \
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

#include "../bytes.h"

/* Prints each UCX library that is mapped into this process. */
static inline void tell_libraries(void)
{
    char line[4096], last[4096] = "", *path;
    FILE *maps = fopen("/proc/self/maps", "r");

    while ((maps != NULL) && (fgets(line, sizeof(line), maps) != NULL)) {
        path = strchr(line, '/');
        if ((path != NULL) && strstr(path, "/libuc") && strcmp(path, last)) {
            strcpy(last, path);
            printf("library %s", path);
        }
    }
    fclose(maps);
    fflush(stdout);
}

static inline void start(int *argc, char ***argv, int threads)
{
    int provided;

    MPI_Init_thread(argc, argv, threads, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided >= threads);
    tell_libraries();
}

/* A part of the test is over on every rank. */
static inline void part(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
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
