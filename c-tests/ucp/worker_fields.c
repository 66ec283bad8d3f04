/* Workers: every parameter and attribute, addresses with and without transports of this host, and wake-up: on a
 * descriptor of the worker or of the caller, level- or edge-triggered, with and without events. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self,tcp */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "peers.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

static ucp_context_h context;

static ucp_worker_h create(ucp_worker_params_t *params)
{
    ucp_worker_h worker;

    CHECK_OK(ucp_worker_create(context, params, &worker));
    return worker;
}

static void thread_modes(void)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE};
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};
    ucp_worker_h worker;
    int mode;

    for (mode = UCS_THREAD_MODE_SINGLE; mode <= UCS_THREAD_MODE_MULTI; ++mode) {
        params.thread_mode = mode;
        worker = create(&params);
        attr.thread_mode = 55;
        CHECK_OK(ucp_worker_query(worker, &attr));
        printf("thread mode %d: %d\n", mode, attr.thread_mode);
        ucp_worker_destroy(worker);
    }
    params.field_mask = 0;
    worker = create(&params);
    CHECK_OK(ucp_worker_query(worker, &attr));
    CHECK_EQ(attr.thread_mode, UCS_THREAD_MODE_SINGLE);
    ucp_worker_destroy(worker);
}

static void fields(void)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_USER_DATA | UCP_WORKER_PARAM_FIELD_FLAGS |
                                                UCP_WORKER_PARAM_FIELD_NAME | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT |
                                                UCP_WORKER_PARAM_FIELD_CLIENT_ID | UCP_WORKER_PARAM_FIELD_CPU_MASK,
                                  .user_data = &context,
                                  .flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK,
                                  .name = "a name that is longer than the field that tells it",
                                  .am_alignment = 64,
                                  .client_id = 7};
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_NAME | UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER |
                                            UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING};
    cpu_set_t before, after;
    ucp_worker_h worker;

    /* a processor that is there, and one that is not: only a wish */
    CHECK(sched_getaffinity(0, sizeof(before), &before) == 0);
    memset(&params.cpu_mask, 0, sizeof(params.cpu_mask));
    params.cpu_mask.ucs_bits[0] = 1;
    worker = create(&params);
    CHECK_OK(ucp_worker_query(worker, &attr));
    printf("name '%s'\n", attr.name);
    CHECK(attr.max_am_header > 0);
    CHECK_EQ(attr.max_debug_string, 200);
    ucp_worker_destroy(worker);
    params.cpu_mask.ucs_bits[0] = 0;
    params.cpu_mask.ucs_bits[15] = 1;
    worker = create(&params);
    ucp_worker_destroy(worker);
    CHECK(sched_getaffinity(0, sizeof(after), &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
    /* a name of its own, different for each */
    params.field_mask = 0;
    worker = create(&params);
    CHECK_OK(ucp_worker_query(worker, &attr));
    CHECK(attr.name[0] != 0);
    ucp_worker_destroy(worker);
    OK("fields");
}

static void addresses(void)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS};
    ucp_worker_address_attr_t of = {.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID};
    ucp_worker_h worker[2] = {create(&params), create(&params)};
    ucp_address_t *full, *net, *old;
    size_t full_length, old_length;
    uint64_t uid;

    attr.address_flags = 0;
    CHECK_OK(ucp_worker_query(worker[0], &attr));
    full = attr.address;
    full_length = attr.address_length;
    CHECK_OK(ucp_worker_get_address(worker[0], &old, &old_length));
    CHECK_EQ(full_length, old_length);
    attr.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
    CHECK_OK(ucp_worker_query(worker[0], &attr));
    net = attr.address;
    CHECK(attr.address_length < full_length);
    /* whichever it is, it names its worker */
    CHECK_OK(ucp_worker_address_query(full, &of));
    uid = of.worker_uid;
    CHECK_OK(ucp_worker_address_query(net, &of));
    CHECK(of.worker_uid == uid);
    of.field_mask = 0;
    of.worker_uid = 1;
    CHECK_OK(ucp_worker_address_query(net, &of));
    CHECK_EQ(of.worker_uid, 1);
    ucp_worker_release_address(worker[0], full);
    ucp_worker_release_address(worker[0], net);
    ucp_worker_release_address(worker[0], old);
    of.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
    CHECK_OK(ucp_worker_get_address(worker[1], &old, &old_length));
    CHECK_OK(ucp_worker_address_query(old, &of));
    CHECK(of.worker_uid != uid);
    ucp_worker_release_address(worker[1], old);
    ucp_worker_destroy(worker[0]);
    ucp_worker_destroy(worker[1]);
    OK("addresses");
}

/* Ready descriptors, and the word that came with one. */
static int ready(int epoll, void **word)
{
    struct epoll_event event = {.data.ptr = NULL};
    int count = epoll_wait(epoll, &event, 1, 0);

    *word = event.data.ptr;
    return count;
}

/* Progresses until nothing is left to do and the worker is armed. */
static void armed(ucp_worker_h worker)
{
    ucs_status_t status;

    do {
        while (ucp_worker_progress(worker)) {
        }
        status = ucp_worker_arm(worker);
    } while (status == UCS_ERR_BUSY);
    CHECK_OK(status);
}

static void own_descriptor(void)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_h worker = create(&params);
    struct pollfd fd = {.events = POLLIN};

    CHECK_OK(ucp_worker_get_efd(worker, &fd.fd));
    armed(worker);
    CHECK_EQ(poll(&fd, 1, 0), 0);
    CHECK_OK(ucp_worker_signal(worker));
    CHECK_EQ(poll(&fd, 1, 0), 1);
    CHECK_EQ(poll(&fd, 1, 0), 1);
    CHECK_STATUS(ucp_worker_arm(worker), UCS_ERR_BUSY);
    CHECK_EQ(poll(&fd, 1, 0), 0);
    CHECK_OK(ucp_worker_arm(worker));
    CHECK_OK(ucp_worker_signal(worker));
    CHECK_OK(ucp_worker_wait(worker)); /* does not sleep */
    ucp_worker_destroy(worker);
    OK("own descriptor");
}

static void callers_descriptor(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD | UCP_WORKER_PARAM_FIELD_USER_DATA,
                                  .event_fd = epoll,
                                  .user_data = &context};
    ucp_worker_h worker = create(&params);
    void *word;
    int fd;

    CHECK_STATUS(ucp_worker_get_efd(worker, &fd), UCS_ERR_UNSUPPORTED);
    /* nobody asked for anything yet, and still it reports */
    CHECK_OK(ucp_worker_signal(worker));
    CHECK_EQ(ready(epoll, &word), 1);
    CHECK(word == &context);
    armed(worker);
    CHECK_EQ(ready(epoll, &word), 0);
    CHECK_OK(ucp_worker_signal(worker));
    CHECK_OK(ucp_worker_wait(worker));
    ucp_worker_destroy(worker);
    CHECK_EQ(ready(epoll, &word), 0);
    close(epoll);
    OK("the caller's descriptor");
}

static void by_edge(void)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_EVENTS,
                                  .events = UCP_WAKEUP_EDGE | UCP_WAKEUP_RX | UCP_WAKEUP_TX};
    ucp_worker_h worker = create(&params);
    void *word;
    int fd;

    CHECK_OK(ucp_worker_get_efd(worker, &fd));
    armed(worker);
    CHECK_OK(ucp_worker_signal(worker));
    CHECK_EQ(ready(fd, &word), 1);
    CHECK_EQ(ready(fd, &word), 0); /* told once */
    CHECK_STATUS(ucp_worker_arm(worker), UCS_ERR_BUSY);
    CHECK_OK(ucp_worker_arm(worker));
    CHECK_OK(ucp_worker_signal(worker));
    CHECK_EQ(ready(fd, &word), 1);
    ucp_worker_destroy(worker);
    OK("by edge");
}

/* A message wakes a worker that expects its kind of event. */
static void events(unsigned mask, int wakes)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_worker_h from = create(&params), to;
    struct pollfd fd = {.events = POLLIN};
    ucs_status_ptr_t request[2];
    ucp_ep_params_t ep_params;
    ucp_address_t *address;
    char out = 3, in = 0;
    size_t length;
    ucp_ep_h ep;

    params.field_mask = UCP_WORKER_PARAM_FIELD_EVENTS;
    params.events = mask;
    to = create(&params);
    CHECK_OK(ucp_worker_get_efd(to, &fd.fd));
    CHECK_OK(ucp_worker_get_address(to, &address, &length));
    ep_params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ep_params.address = address;
    CHECK_OK(ucp_ep_create(from, &ep_params, &ep));
    ucp_worker_release_address(to, address);
    request[0] = ucp_tag_recv_nbx(to, &in, 1, 1, -1, &plain);
    CHECK(UCS_PTR_IS_PTR(request[0]));
    armed(to);
    request[1] = ucp_tag_send_nbx(ep, &out, 1, 1, &plain);
    if (wakes) {
        double start = now();

        while (poll(&fd, 1, 0) != 1) {
            ucp_worker_progress(from);
            CHECK(now() - start < 30);
        }
    }
    while ((ucp_request_check_status(request[0]) == UCS_INPROGRESS) ||
           (UCS_PTR_IS_PTR(request[1]) && (ucp_request_check_status(request[1]) == UCS_INPROGRESS))) {
        ucp_worker_progress(from);
        ucp_worker_progress(to);
    }
    CHECK_EQ(in, 3);
    ucp_request_free(request[0]);
    if (UCS_PTR_IS_PTR(request[1])) {
        ucp_request_free(request[1]);
    }
    /* a signal wakes whatever is expected */
    armed(to);
    CHECK_OK(ucp_worker_signal(to));
    CHECK_EQ(poll(&fd, 1, 0), 1);
    request[0] = ucp_ep_close_nb(ep, UCP_EP_CLOSE_MODE_FLUSH);
    if (UCS_PTR_IS_PTR(request[0])) {
        while (ucp_request_check_status(request[0]) == UCS_INPROGRESS) {
            ucp_worker_progress(from);
            ucp_worker_progress(to);
        }
        ucp_request_free(request[0]);
    }
    ucp_worker_destroy(from);
    ucp_worker_destroy(to);
    OK("events %#x", mask);
}

/* A word that changes ends the wait, and one that does not ends it too, in time. */
static void memory_words(void)
{
    ucp_worker_params_t params = {.field_mask = 0};
    ucp_worker_h worker = create(&params);
    volatile uint64_t word = 0;
    unsigned i;

    for (i = 0; i < 10; ++i) {
        word = i;
        ucp_worker_wait_mem(worker, (void *)&word);
        CHECK_EQ(word, i);
    }
    ucp_worker_destroy(worker);
    OK("memory words");
}

int main(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP};

    CHECK_OK(ucp_init(&params, NULL, &context));
    thread_modes();
    fields();
    addresses();
    own_descriptor();
    callers_descriptor();
    by_edge();
    events(UCP_WAKEUP_RX, 1);
    events(UCP_WAKEUP_TAG_RECV, 1);
    events(UCP_WAKEUP_RX | UCP_WAKEUP_EDGE, 1);
    events(UCP_WAKEUP_RMA | UCP_WAKEUP_AMO | UCP_WAKEUP_TAG_SEND | UCP_WAKEUP_TAG_RECV | UCP_WAKEUP_TX |
           UCP_WAKEUP_RX, 1);
    events(0, 0);
    memory_words();
    ucp_cleanup(context);
    return 0;
}
