/* What ucx_perftest reaches with a library that only moves the bytes: put before a library, the calls for messages between
 * two processes go through the ring of ring.h, without endpoints, matching and checks; a receive takes the message that is
 * there, or has a request that progress ends with the next one. LIMIT_RING names the memory of the run. */
#define _GNU_SOURCE
#include "ring.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { BATCH = 16, IN_VAIN = 64, REQUESTS = 1024 };

/* A receive that waits: they end in their order, and are given back in it. The program's part is behind. */
typedef struct {
    void *buffer;
    size_t length;
    ucp_tag_recv_nbx_callback_t cb;
    void *user_data;
    _Alignas(64) char program[64];
} request_t;

static struct shared {
    ring_t rings[2];
    _Atomic int ends;
} *shared;
static ring_t *out, *in;
static uint64_t sent, limit = SLOTS, received, posted, ended;
static request_t requests[REQUESTS];
static ucp_am_recv_callback_t handler;
static void *handler_arg;
static unsigned (*progress)(ucp_worker_h);
static void (*give_back)(void *);

static void __attribute__((noinline)) attach(void)
{
    const char *name = getenv("LIMIT_RING");
    int fd = name ? shm_open(name, O_RDWR | O_CREAT, 0600) : -1, end;

    if (fd < 0 || ftruncate(fd, sizeof(*shared)) ||
        (shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) == MAP_FAILED) {
        abort();
    }
    close(fd);
    end = atomic_fetch_add(&shared->ends, 1);
    if (end == 1) {
        shm_unlink(name);
    }
    out = &shared->rings[end], in = &shared->rings[!end];
    progress = (unsigned (*)(ucp_worker_h))dlsym(RTLD_NEXT, "ucp_worker_progress");
    give_back = (void (*)(void *))dlsym(RTLD_NEXT, "ucp_request_free");
}

static inline ucs_status_ptr_t put(const void *bytes, size_t length)
{
    uint64_t number;

    if (shared == NULL) {
        attach();
    }
    if (length > IN_SLOT) {
        return UCS_STATUS_PTR(UCS_ERR_UNSUPPORTED);
    }
    number = ++sent;
    while (number > limit) {
        limit = atomic_load_explicit(&out->done, memory_order_acquire) + SLOTS;
    }
    memcpy(out->slots[number % SLOTS].bytes, bytes, length);
    atomic_store_explicit(&out->slots[number % SLOTS].number, number, memory_order_release);
    return NULL;
}

static inline const char *next(void)
{
    uint64_t number = received + 1;

    return atomic_load_explicit(&in->slots[number % SLOTS].number, memory_order_acquire) == number ?
           in->slots[number % SLOTS].bytes : NULL;
}

static inline void taken(void)
{
    if (++received % (SLOTS / 2) == 0) {
        atomic_store_explicit(&in->done, received, memory_order_release);
    }
}

static inline ucs_status_ptr_t get(void *bytes, size_t length, ucp_tag_recv_nbx_callback_t cb, void *user_data)
{
    const char *slot;
    request_t *request;

    if (shared == NULL) {
        attach();
    }
    if (posted == ended && (slot = next()) != NULL) {
        memcpy(bytes, slot, length);
        taken();
        return NULL;
    }
    request = &requests[posted++ % REQUESTS];
    request->buffer = bytes, request->length = length, request->cb = cb, request->user_data = user_data;
    return request->program;
}

/* Ends the first receive that waits. */
static inline void end(const char *slot)
{
    request_t *request = &requests[ended % REQUESTS];
    ucp_tag_recv_info_t info = {0, request->length};

    memcpy(request->buffer, slot, request->length);
    ++ended;
    if (request->cb != NULL) {
        request->cb(request->program, UCS_OK, &info, request->user_data);
    }
}

/* The request's number, -1 for those of the library behind. */
static inline int64_t own(void *request)
{
    size_t at = (char *)request - (char *)requests;

    return at < sizeof(requests) ? (int64_t)(at / sizeof(request_t)) : -1;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag, const ucp_request_param_t *param)
{
    return put(buffer, count);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count, ucp_tag_t tag, ucp_tag_t mask,
                                  const ucp_request_param_t *param)
{
    return get(buffer, count, param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK ? param->cb.recv : NULL, param->user_data);
}

ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, const ucp_request_param_t *param)
{
    return put(buffer, count);
}

ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void *buffer, size_t count, ucp_datatype_t datatype,
                                    ucp_stream_recv_callback_t cb, size_t *length, unsigned flags)
{
    *length = count;
    return get(buffer, count, NULL, NULL);
}

ucs_status_t ucp_stream_recv_request_test(void *request, size_t *length)
{
    int64_t at = own(request);

    if (at < 0) {
        return UCS_ERR_INVALID_PARAM;
    }
    *length = requests[at].length;
    return ended > at + (posted - 1 - at) / REQUESTS * REQUESTS ? UCS_OK : UCS_INPROGRESS;
}

void ucp_request_free(void *request)
{
    if (own(request) < 0) {
        give_back(request);
    }
}

void ucp_request_release(void *request)
{
    ucp_request_free(request);
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_length, const void *buffer,
                                 size_t count, const ucp_request_param_t *param)
{
    return put(buffer, count);
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, const ucp_am_handler_param_t *param)
{
    handler = param->cb;
    handler_arg = param->arg;
    return UCS_OK;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    static unsigned in_vain;
    static const ucp_am_recv_param_t plain = {0};
    unsigned count = 0;
    const char *slot;

    if (shared == NULL) {
        attach();
    }
    while (count < BATCH && (posted != ended || handler != NULL) && (slot = next()) != NULL) {
        if (posted != ended) {
            end(slot);
        } else {
            handler(handler_arg, NULL, 0, (void *)slot, 8, &plain);
        }
        taken();
        ++count;
    }
    return count || ++in_vain % IN_VAIN ? count : progress(worker);
}
