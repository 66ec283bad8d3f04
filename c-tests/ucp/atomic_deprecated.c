/* The old forms of atomics, on memory of another process: blocking, posted and fetching, 4 and 8 bytes, every
 * operation, against a model; over every kind of transport. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#include <ucp/api/ucp.h>

#include "atomics.h"
#include "window.h"

enum { WORDS = 16 };

static window_t window;
static uint64_t model[WORDS]; /* 4-byte words use the low half */
static unsigned calls;

static void ended(void *request, ucs_status_t status)
{
    ++calls;
    CHECK_STATUS(status, UCS_OK);
}

static uint64_t place(unsigned i)
{
    return window.address + i * 8;
}

/* Reads a word back after everything landed. */
static void landed(unsigned i)
{
    uint64_t now = 0;

    CHECK_OK(ucp_ep_flush(window.ep));
    CHECK_OK(ucp_get(window.ep, &now, 8, place(i), window.rkey));
    CHECK_EQ(now, model[i]);
}

static void blocking32(void)
{
    uint32_t old;

    model[0] = 0xfffffffe;
    CHECK_OK(ucp_put(window.ep, &model[0], 8, place(0), window.rkey));
    CHECK_OK(ucp_ep_flush(window.ep));
    CHECK_OK(ucp_atomic_add32(window.ep, 1, place(0), window.rkey));
    model[0] = 0xffffffff;
    landed(0);
    CHECK_OK(ucp_atomic_fadd32(window.ep, 3, place(0), window.rkey, &old));
    CHECK_EQ(old, 0xffffffff);
    model[0] = 2; /* no carry into the next word */
    landed(0);
    CHECK_OK(ucp_atomic_swap32(window.ep, 0x80000001, place(0), window.rkey, &old));
    CHECK_EQ(old, 2);
    model[0] = 0x80000001;
    landed(0);
    CHECK_OK(ucp_atomic_cswap32(window.ep, 7, 9, place(0), window.rkey, &old));
    CHECK_EQ(old, 0x80000001);
    landed(0);
    CHECK_OK(ucp_atomic_cswap32(window.ep, 0x80000001, 9, place(0), window.rkey, &old));
    CHECK_EQ(old, 0x80000001);
    model[0] = 9;
    landed(0);
}

static void blocking64(void)
{
    uint64_t old;

    model[1] = UINT64_MAX;
    CHECK_OK(ucp_put(window.ep, &model[1], 8, place(1), window.rkey));
    CHECK_OK(ucp_ep_flush(window.ep));
    CHECK_OK(ucp_atomic_add64(window.ep, 5, place(1), window.rkey));
    model[1] = 4;
    landed(1);
    CHECK_OK(ucp_atomic_fadd64(window.ep, UINT64_C(1) << 40, place(1), window.rkey, &old));
    CHECK_EQ(old, 4);
    model[1] += UINT64_C(1) << 40;
    landed(1);
    CHECK_OK(ucp_atomic_swap64(window.ep, UINT64_C(0x8000000000000001), place(1), window.rkey, &old));
    CHECK_EQ(old, model[1]);
    model[1] = UINT64_C(0x8000000000000001);
    landed(1);
    CHECK_OK(ucp_atomic_cswap64(window.ep, 1, 2, place(1), window.rkey, &old));
    CHECK_EQ(old, model[1]);
    landed(1);
    CHECK_OK(ucp_atomic_cswap64(window.ep, model[1], 2, place(1), window.rkey, &old));
    CHECK_EQ(old, model[1]);
    model[1] = 2;
    landed(1);
}

static uint64_t mask_of(size_t size)
{
    return (size == 8) ? UINT64_MAX : UINT32_MAX;
}

/* The old operations by today's names. */
static const ucp_atomic_op_t posted[] = {[UCP_ATOMIC_POST_OP_ADD] = UCP_ATOMIC_OP_ADD,
                                         [UCP_ATOMIC_POST_OP_AND] = UCP_ATOMIC_OP_AND,
                                         [UCP_ATOMIC_POST_OP_OR] = UCP_ATOMIC_OP_OR,
                                         [UCP_ATOMIC_POST_OP_XOR] = UCP_ATOMIC_OP_XOR};
static const ucp_atomic_op_t fetched[] = {[UCP_ATOMIC_FETCH_OP_FADD] = UCP_ATOMIC_OP_ADD,
                                          [UCP_ATOMIC_FETCH_OP_SWAP] = UCP_ATOMIC_OP_SWAP,
                                          [UCP_ATOMIC_FETCH_OP_CSWAP] = UCP_ATOMIC_OP_CSWAP,
                                          [UCP_ATOMIC_FETCH_OP_FAND] = UCP_ATOMIC_OP_AND,
                                          [UCP_ATOMIC_FETCH_OP_FOR] = UCP_ATOMIC_OP_OR,
                                          [UCP_ATOMIC_FETCH_OP_FXOR] = UCP_ATOMIC_OP_XOR};

static void random_ones(void)
{
    unsigned i;

    for (i = 0; i < WORDS; ++i) {
        model[i] = 0;
        CHECK_OK(ucp_put(window.ep, &model[i], 8, place(i), window.rkey));
    }
    CHECK_OK(ucp_worker_flush(window.side.worker));
    for (i = 0; i < 400; ++i) {
        unsigned word = number() % WORDS;
        size_t size = (word % 2) ? 8 : 4;
        uint64_t old = model[word], value = number() & mask_of(size);

        if (i % 2) {
            ucp_atomic_post_op_t op = number() % UCP_ATOMIC_POST_OP_LAST;

            CHECK_OK(ucp_atomic_post(window.ep, op, value, size, place(word), window.rkey));
            model[word] = atomic_model(posted[op], old, value, 0) & mask_of(size);
            landed(word);
        } else {
            ucp_atomic_fetch_op_t op = number() % UCP_ATOMIC_FETCH_OP_LAST;
            uint64_t result = number(), other = result & mask_of(size);
            ucs_status_ptr_t request;
            unsigned before = calls;
            int pending;

            if (number() % 2) {
                value = old;
            }
            request = ucp_atomic_fetch_nb(window.ep, op, value, &result, size, place(word), window.rkey, ended);
            pending = UCS_PTR_IS_PTR(request);
            CHECK_OK(window_wait(&window, request));
            CHECK_EQ(calls - before, pending);
            CHECK_EQ(result & mask_of(size), old);
            model[word] = atomic_model(fetched[op], old, value, other) & mask_of(size);
            landed(word);
        }
    }
}

static void run(const char *tls, int allocate)
{
    setenv("UCX_TLS", tls, 1);
    window_open(&window, ALL_FEATURES, WORDS * 8, allocate);
    blocking32();
    blocking64();
    random_ones();
    window_close(&window);
    OK("%s, %s memory", tls, allocate ? "the library's" : "the caller's");
}

int main(void)
{
    run("posix", 1);
    run("sysv", 1);
    run("tcp", 0);
    run("posix,cma,tcp", 0);
    return 0;
}
