/* What every C test uses: checks that name their line, and the "ok NAME" lines that the runner counts.
 * A failed check prints to stderr and ends the process with status 1. */
#ifndef FERRUCX_CHECK_H
#define FERRUCX_CHECK_H

#include <ucs/type/status.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAIL(...) \
    do { \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
        fprintf(stderr, __VA_ARGS__); \
        fputc('\n', stderr); \
        fflush(NULL); \
        _exit(1); \
    } while (0)

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            FAIL("not true: %s", #condition); \
        } \
    } while (0)

#define CHECK_EQ(actual, expected) \
    do { \
        intmax_t check_actual = (intmax_t)(actual), check_expected = (intmax_t)(expected); \
        if (check_actual != check_expected) { \
            FAIL("%s is %" PRIdMAX " (0x%" PRIxMAX "), expected %s = %" PRIdMAX, #actual, check_actual, \
                 (uintmax_t)check_actual, #expected, check_expected); \
        } \
    } while (0)

#define CHECK_STR(actual, expected) \
    do { \
        const char *check_actual = (actual), *check_expected = (expected); \
        if ((check_actual == NULL) || strcmp(check_actual, check_expected)) { \
            FAIL("%s is \"%s\", expected \"%s\"", #actual, check_actual ? check_actual : "(null)", \
                 check_expected); \
        } \
    } while (0)

#define CHECK_STATUS(call, expected) \
    do { \
        ucs_status_t check_status = (call); \
        if (check_status != (expected)) { \
            FAIL("%s returned %s (%d), expected %s", #call, ucs_status_string(check_status), \
                 (int)check_status, #expected); \
        } \
    } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, UCS_OK)

/* Ends a test whose subject is not there yet; the runner counts it as skipped and shows the reason. */
#define SKIP(...) \
    do { \
        fprintf(stderr, __VA_ARGS__); \
        fflush(NULL); \
        _exit(77); \
    } while (0)

/* Numbers for random scripts, the same in each run (xorshift). */
static uint64_t number_state = 88172645463325252ull;

static inline uint64_t number(void)
{
    number_state ^= number_state << 13;
    number_state ^= number_state >> 7;
    number_state ^= number_state << 17;
    return number_state;
}

/* Descriptors that this process has open, with the one that counts them. */
static inline int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    CHECK(dir != NULL);
    while (readdir(dir) != NULL) {
        ++count;
    }
    closedir(dir);
    return count;
}

/* Names a finished part of the test on stdout. */
#define OK(...) \
    do { \
        printf("ok "); \
        printf(__VA_ARGS__); \
        putchar('\n'); \
        fflush(stdout); \
    } while (0)

#endif
