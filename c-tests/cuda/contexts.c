/* Memory of several devices and of several contexts: primary ones, one that the program has made, while this or that one is
 * current, or none. Messages, puts and gets between all of them come whole, and what is current stays so. Prints what each
 * call answered, on this library and on upstream's. With an argument, also what upstream cannot on the stand-in: a thread
 * without a context, and a context that ends while the library has streams in it. Run by tests/cuda with two devices. */
#include "../cuda_driver.h"
#include "../peers.h"

#include <pthread.h>

enum { LONGEST = 2 << 20, PRIMARY = 2, PLACES = 4 };

static const char *names[PLACES] = {"host", "device 0", "device 1", "own context"};
static const size_t lengths[] = {8, 5000, 40000, LONGEST};

static side_t side;
static ucp_ep_h ep;
static CUcontext contexts[PLACES];
static char *memory[PLACES][2], sent[LONGEST], got[LONGEST];

static const char *text(ucs_status_t status)
{
    return ucs_status_string(status);
}

/* A context is current while memory is accessed for the test. */
static void store(int place, char *to, const char *from, size_t length)
{
    CUcontext before;

    if (place == 0) {
        memcpy(to, from, length);
        return;
    }
    CHECK_EQ(cuCtxGetCurrent(&before), 0);
    CHECK_EQ(cuCtxSetCurrent(contexts[place]), 0);
    CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)to, from, length), 0);
    CHECK_EQ(cuCtxSetCurrent(before), 0);
}

static void load(int place, char *to, const char *from, size_t length)
{
    CUcontext before;

    if (place == 0) {
        memcpy(to, from, length);
        return;
    }
    CHECK_EQ(cuCtxGetCurrent(&before), 0);
    CHECK_EQ(cuCtxSetCurrent(contexts[place]), 0);
    CHECK_EQ(cuMemcpyDtoH_v2(to, (uintptr_t)from, length), 0);
    CHECK_EQ(cuCtxSetCurrent(before), 0);
}

static void allocate(int place)
{
    int i;

    for (i = 0; i < 2; ++i) {
        memory[place][i] = place == 0 ? malloc(LONGEST) : at(device_memory(LONGEST));
        CHECK(memory[place][i] != NULL);
    }
}

static ucs_status_t ended(ucs_status_ptr_t request)
{
    return request_wait(side.worker, side.worker, request);
}

static void draw(size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        sent[i] = (char)(number() >> 32);
    }
}

static void is_current(CUcontext context)
{
    CUcontext current;

    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
}

static void message(int from, int to, size_t length, CUcontext current)
{
    static const ucp_request_param_t none;
    ucs_status_ptr_t s, r;

    draw(length);
    store(from, memory[from][0], sent, length);
    r = ucp_tag_recv_nbx(side.worker, memory[to][1], length, 1, -1, &none);
    s = ucp_tag_send_nbx(ep, memory[from][0], length, 1, &none);
    printf("    %zu bytes, %s to %s: %s,", length, names[from], names[to], text(ended(s)));
    printf(" %s", text(ended(r)));
    is_current(current);
    load(to, got, memory[to][1], length);
    CHECK(!memcmp(sent, got, length));
    putchar('\n');
    fflush(stdout);
}

static void access_memory(int here, int there, size_t length, CUcontext current)
{
    static const ucp_request_param_t none;
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory[there][1],
                                   .length = LONGEST};
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    size_t size;

    CHECK_OK(ucp_mem_map(side.context, &params, &memh));
    CHECK_OK(ucp_rkey_pack(side.context, memh, &packed, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    draw(length);
    store(here, memory[here][0], sent, length);
    printf("    %zu bytes, %s here and %s there: put %s,", length, names[here], names[there],
           text(ended(ucp_put_nbx(ep, memory[here][0], length, (uintptr_t)memory[there][1], rkey, &none))));
    printf(" flush %s,", text(ended(ucp_ep_flush_nbx(ep, &none))));
    is_current(current);
    load(there, got, memory[there][1], length);
    CHECK(!memcmp(sent, got, length));
    draw(length);
    store(there, memory[there][1], sent, length);
    printf(" get %s", text(ended(ucp_get_nbx(ep, memory[here][0], length, (uintptr_t)memory[there][1], rkey, &none))));
    is_current(current);
    load(here, got, memory[here][0], length);
    CHECK(!memcmp(sent, got, length));
    ucp_rkey_destroy(rkey);
    printf(", unmap %s\n", text(ucp_mem_unmap(side.context, memh)));
    fflush(stdout);
}

static void all(const char *current)
{
    CUcontext context;
    int from, to;
    size_t i;

    CHECK_EQ(cuCtxGetCurrent(&context), 0);
    printf("current: %s\n", current);
    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
        for (from = 0; from < PLACES; ++from) {
            for (to = 0; to < PLACES; ++to) {
                message(from, to, lengths[i], context);
                access_memory(from, to, lengths[i], context);
            }
        }
    }
}

/* Nobody has made a context current on this thread. */
static void *without_context(void *arg)
{
    all("none");
    return NULL;
}

static void own_context(void)
{
    CHECK_EQ(cuCtxCreate_v2(&contexts[3], 0, 1), 0);
    allocate(3);
    CHECK_EQ(cuCtxPopCurrent_v2(NULL), 0);
}

int main(int argc, char **argv)
{
    static const ucp_request_param_t none;
    pthread_t thread;
    int place, round;

    alarm(100);
    allocate(0);
    for (place = 1; place <= PRIMARY; ++place) {
        contexts[place] = use_device(place - 1);
        allocate(place);
    }
    own_context();
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_RMA, UCS_THREAD_MODE_MULTI);
    ep = side_connect(&side, side.address);
    for (place = 1; place < PLACES; ++place) {
        CHECK_EQ(cuCtxSetCurrent(contexts[place]), 0);
        all(names[place]);
    }
    if (argc > 1) {
        CHECK_EQ(pthread_create(&thread, NULL, without_context, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(cuCtxSetCurrent(contexts[1]), 0);
        for (round = 0; round < 3; ++round) {
            CHECK_EQ(cuCtxDestroy_v2(contexts[3]), 0);
            own_context();
            is_current(contexts[1]);
            all("device 0, and another own context");
        }
    }
    CHECK_OK(ended(ucp_ep_close_nbx(ep, &none)));
    side_close(&side);
    puts("ok contexts");
    return 0;
}
