/* The cost of an operation does not grow with the number of its kind: each is timed with 1000 and with many others,
 * and may take twelve times as long with those (caches end, machines are busy); a linear search would take forty
 * times. benches/curves counts instructions of this and more. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
/* valgrind: no, it measures times */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "peers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { FEW = 1000, MANY = 40000, MOST_TIMES = 12, TRIES = 4, PAGE = 4096 };

static const ucp_request_param_t plain;
static uint64_t byte;

/* Seconds of one operation with `n` of them. */
typedef double (*operation_t)(size_t n);

static void ended(side_t *side, ucs_status_ptr_t request)
{
    CHECK_OK(side_wait(side, side, request));
}

/* Receives with masks of which the last one matches, and messages that come before receives with masks. */
static double masks(size_t n)
{
    void **requests = malloc(n * sizeof(*requests)), *last;
    double begun, took;
    side_t side;
    ucp_ep_h ep;
    size_t i;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_recv_nbx(side.worker, &byte, 8, (i + 1) << 32, ~0xffffffffull, &plain);
    }
    begun = now();
    for (i = 0; i < FEW; ++i) {
        last = ucp_tag_recv_nbx(side.worker, &byte, 8, 5, ~0xffffffffull, &plain);
        ended(&side, ucp_tag_send_nbx(ep, &byte, 8, 7, &plain));
        ended(&side, last);
    }
    took = (now() - begun) / FEW;
    for (i = 0; i < n; ++i) {
        ucp_request_cancel(side.worker, requests[i]);
        ucp_request_free(requests[i]);
    }
    for (i = 0; i < n; ++i) {
        ended(&side, ucp_tag_send_nbx(ep, &byte, 8, i << 32, &plain));
    }
    begun = now();
    for (i = 0; i < n; ++i) {
        ended(&side, ucp_tag_recv_nbx(side.worker, &byte, 8, (n - 1 - i) << 32, ~0xffffffffull, &plain));
    }
    took += (now() - begun) / n;
    ended(&side, ucp_ep_close_nbx(ep, &plain));
    side_close(&side);
    free(requests);
    return took;
}

/* Synchronous sends that are received backwards: answers come in an order of their own. */
static double answers(size_t n)
{
    void **requests = malloc(n * sizeof(*requests));
    double begun = now(), took;
    side_t side;
    ucp_ep_h ep;
    size_t i;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    for (i = 0; i < n; ++i) {
        requests[i] = ucp_tag_send_sync_nbx(ep, &byte, 8, i, &plain);
    }
    begun = now();
    for (i = 0; i < n; ++i) {
        ended(&side, ucp_tag_recv_nbx(side.worker, &byte, 8, n - 1 - i, -1, &plain));
    }
    for (i = 0; i < n; ++i) {
        ended(&side, requests[i]);
    }
    took = (now() - begun) / n;
    ended(&side, ucp_ep_close_nbx(ep, &plain));
    side_close(&side);
    free(requests);
    return took;
}

/* Endpoints that end with their worker. */
static double ends(size_t n)
{
    double begun;
    side_t side;
    size_t i;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < n; ++i) {
        side_connect(&side, side.address);
    }
    begun = now();
    side_close(&side);
    return (now() - begun) / n;
}

static size_t failed;

static void fail(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    ++failed;
}

/* Endpoints whose peer is killed. */
static double failures(size_t n)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {fail, NULL}};
    pair_t pair = pair_start();
    char address[ADDRESS_ROOM];
    double begun;
    side_t side;
    ucp_ep_h ep;
    size_t i;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_swap_addresses(&side, &pair, address);
    if (pair_is_child(&pair)) {
        for (;;) {
            ucp_worker_progress(side.worker);
        }
    }
    params.address = (const ucp_address_t *)address;
    for (i = 0; i < n; ++i) {
        CHECK_OK(ucp_ep_create(side.worker, &params, &ep));
        ended(&side, ucp_tag_send_nbx(ep, &byte, 8, 1, &plain));
    }
    failed = 0;
    kill(pair.child, SIGKILL);
    do {
        begun = now();
        ucp_worker_progress(side.worker);
    } while (failed == 0);
    while (failed < n) {
        ucp_worker_progress(side.worker);
    }
    begun = now() - begun;
    side_close(&side);
    CHECK(waitpid(pair.child, NULL, 0) == pair.child);
    close(pair.fd);
    return begun / n;
}

/* Regions in mappings of their own, some with another protection, as the kernel joins equal ones. */
static double regions(size_t n)
{
    char *memory = mmap(NULL, 2 * n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = PAGE};
    double begun;
    side_t side;
    ucp_ep_h ep;
    size_t i;

    CHECK(memory != MAP_FAILED);
    for (i = 0; i < n; ++i) {
        CHECK(mprotect(memory + (2 * i + 1) * PAGE, PAGE, PROT_NONE) == 0);
    }
    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, side.address);
    begun = now();
    for (i = 0; i < n; ++i) {
        ucp_mem_h memh;
        ucp_rkey_h rkey;
        size_t length;
        void *packed;

        params.address = memory + 2 * i * PAGE;
        CHECK_OK(ucp_mem_map(side.context, &params, &memh));
        CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &length));
        CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
        ucp_rkey_buffer_release(packed);
        ended(&side, ucp_put_nbx(ep, &byte, 8, (uintptr_t)params.address, rkey, &plain));
        ucp_rkey_destroy(rkey);
        CHECK_OK(ucp_mem_unmap(side.context, memh));
    }
    begun = (now() - begun) / n;
    ended(&side, ucp_ep_close_nbx(ep, &plain));
    side_close(&side);
    CHECK(munmap(memory, 2 * n * PAGE) == 0);
    return begun;
}

/* The kernel tells of single mappings from Linux 6.11 on; before, its list has to be read. */
static int tells_of_mappings(void)
{
    struct {
        uint64_t size, flags, address, rest[10];
    } query = {.size = 104, .address = (uintptr_t)&plain};
    int fd = open("/proc/self/maps", O_RDONLY), answer = ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104), &query);

    close(fd);
    return answer == 0;
}

static void bound(const char *name, const char *tls, operation_t operation, size_t most)
{
    double few = 1, many = 1;
    unsigned i;

    setenv("UCX_TLS", tls, 1);
    for (i = 0; i < TRIES; ++i) {
        double now_few = operation(FEW), now_many = operation(most);

        few = (now_few < few) ? now_few : few;
        many = (now_many < many) ? now_many : many;
        if (many < MOST_TIMES * few) {
            OK("%s over %s", name, tls);
            return;
        }
    }
    FAIL("%s over %s: %.2f us among %d, %.2f us among %d", name, tls, few * 1e6, FEW, many * 1e6, (int)most);
}

int main(void)
{
    bound("masks", "self", masks, MANY);
    bound("answers", "self", answers, MANY);
    bound("ends", "self", ends, MANY);
    bound("ends", "posix", ends, MANY);
    bound("failures", "posix", failures, MANY);
    bound("failures", "tcp", failures, MANY);
    if (tells_of_mappings()) {
        /* A process has 65530 mappings by default. */
        bound("regions", "self", regions, 30000);
    }
    return 0;
}
