/* The old forms of puts, gets and flushes, on memory of another process: blocking, without a request, with a
 * callback, of every size class, over every kind of transport; each is read back and compared. A get or long put by the
 * kernel's copy never ends within the call: Charm++ notes what it was for after the call. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "window.h"

#include <sys/uio.h>

enum { SIZE = 1 << 20, LONG_PUT = 70000 };

static const size_t sizes[] = {0, 1, 8, 100, 4097, 70000, SIZE};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static window_t window;
static char *local;
static unsigned calls;
static ucs_status_t told;
static int by_kernel;

static void ended(void *request, ucs_status_t status)
{
    ++calls;
    told = status;
    CHECK_STATUS(ucp_request_check_status(request), status);
}

/* OK, or begun: the end is a flush. */
static void begun(ucs_status_t status)
{
    if (status != UCS_INPROGRESS) {
        CHECK_OK(status);
    }
}

/* A request calls back once; what ended at once does not. */
static void called_back(ucs_status_ptr_t request)
{
    int pending = UCS_PTR_IS_PTR(request);

    CHECK_OK(window_wait(&window, request));
    CHECK_EQ(calls, pending);
    CHECK_STATUS(told, UCS_OK);
    calls = 0;
}

/* The same of an access that the kernel may perform. */
static void called_back_later(ucs_status_ptr_t request, int later)
{
    if (by_kernel && later) {
        CHECK(UCS_PTR_IS_PTR(request));
        CHECK_EQ(calls, 0);
    }
    called_back(request);
}

static void blocking(size_t length, unsigned seed)
{
    uint64_t to = window.address + (SIZE - length) / 2;

    fill(local, length, seed);
    CHECK_OK(ucp_put(window.ep, local, length, to, window.rkey));
    CHECK_OK(ucp_ep_flush(window.ep));
    memset(local, 0, length);
    CHECK_OK(ucp_get(window.ep, local, length, to, window.rkey));
    CHECK_PATTERN(local, length, seed);
}

static void without_request(size_t length, unsigned seed)
{
    uint64_t to = window.address + (SIZE - length);

    fill(local, length, seed);
    begun(ucp_put_nbi(window.ep, local, length, to, window.rkey));
    CHECK_OK(ucp_worker_flush(window.side.worker));
    memset(local, 0, length);
    begun(ucp_get_nbi(window.ep, local, length, to, window.rkey));
    CHECK_OK(ucp_worker_flush(window.side.worker));
    CHECK_PATTERN(local, length, seed);
}

static void with_callback(size_t length, unsigned seed)
{
    uint64_t to = window.address;

    fill(local, length, seed);
    called_back_later(ucp_put_nb(window.ep, local, length, to, window.rkey, ended), length >= LONG_PUT);
    called_back(ucp_ep_flush_nb(window.ep, 0, ended));
    memset(local, 0, length);
    called_back_later(ucp_get_nb(window.ep, local, length, to, window.rkey, ended), length > 0);
    CHECK_PATTERN(local, length, seed);
    fill(local, length, seed + 1);
    CHECK_OK(window_wait(&window, ucp_put_nb(window.ep, local, length, to, window.rkey, ended)));
    calls = 0;
    called_back(ucp_worker_flush_nb(window.side.worker, 0, ended));
    CHECK_OK(window_wait(&window, ucp_get_nb(window.ep, local, length, to, window.rkey, ended)));
    calls = 0;
    CHECK_PATTERN(local, length, seed + 1);
}

/* Many without a request, to places of their own, between fences; then one flush for all. */
static void many(void)
{
    enum { COUNT = 500, PIECE = 1000 };
    unsigned i;

    for (i = 0; i < COUNT; ++i) {
        fill(local + i * PIECE, PIECE, i);
        begun(ucp_put_nbi(window.ep, local + i * PIECE, PIECE, window.address + i * PIECE, window.rkey));
        if (i % 100 == 0) {
            CHECK_OK(ucp_worker_fence(window.side.worker));
        }
    }
    CHECK_OK(ucp_worker_flush(window.side.worker));
    memset(local, 0, COUNT * PIECE);
    for (i = 0; i < COUNT; ++i) {
        begun(ucp_get_nbi(window.ep, local + i * PIECE, PIECE, window.address + i * PIECE, window.rkey));
    }
    CHECK_OK(ucp_ep_flush(window.ep));
    for (i = 0; i < COUNT; ++i) {
        CHECK_PATTERN(local + i * PIECE, PIECE, i);
    }
}

/* Emulators do not. */
static int copies_by_kernel(void)
{
    char from = 1, to = 0;
    struct iovec remote = {&from, 1}, here = {&to, 1};

    return (process_vm_readv(getpid(), &here, 1, &remote, 1, 0) == 1) && (to == 1);
}

static void run(const char *tls, int allocate)
{
    unsigned i;

    setenv("UCX_TLS", tls, 1);
    by_kernel = (strstr(tls, "cma") != NULL) && !allocate && copies_by_kernel();
    window_open(&window, UCP_FEATURE_RMA, SIZE, allocate);
    for (i = 0; i < SIZES; ++i) {
        blocking(sizes[i], i);
        without_request(sizes[i], i + 10);
        with_callback(sizes[i], i + 20);
    }
    many();
    window_close(&window);
    OK("%s, %s memory", tls, allocate ? "the library's" : "the caller's");
}

int main(void)
{
    local = malloc(SIZE);
    CHECK(local != NULL);
    run("posix", 1);
    run("sysv", 1);
    run("tcp", 0);
    run("posix,cma", 0);
    run("posix,cma,tcp", 0);
    run("posix,tcp", 0);
    free(local);
    return 0;
}
