/* Contexts and workers: parameters, configuration, names, queries, memory of requests, thread modes, wake-up,
 * and four threads on one worker in MULTI mode. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
/* timeout: 60 */
#include <ucp/api/ucp.h>

#include "peers.h"

#include <poll.h>
#include <pthread.h>

static unsigned inits, cleanups;

static void init_request(void *request)
{
    ++inits;
    memset(request, 0x42, 24);
}

static void cleanup_request(void *request)
{
    ++cleanups;
    CHECK_EQ(*(unsigned char *)request, 0x42);
}

static void context_parameters(void)
{
    ucp_params_t params = {.field_mask = 0};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE | UCP_ATTR_FIELD_THREAD_MODE};
    unsigned major, minor, release;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_config_t *config;
    void *requests[100];
    int word, i;

    ucp_get_version(&major, &minor, &release);
    CHECK_EQ(major, 1);
    CHECK(minor >= 13);
    CHECK(!strncmp(ucp_get_version_string(), "1.", 2));
    CHECK_STATUS(ucp_init(&params, NULL, &context), UCS_ERR_INVALID_PARAM);
    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK_OK(ucp_config_modify(config, "TLS", "self"));
    CHECK(ucp_config_modify(config, "NO_SUCH_OPTION", "1") != UCS_OK);
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE | UCP_PARAM_FIELD_REQUEST_INIT |
                        UCP_PARAM_FIELD_REQUEST_CLEANUP;
    params.features = UCP_FEATURE_TAG;
    params.request_size = 24;
    params.request_init = init_request;
    params.request_cleanup = cleanup_request;
    CHECK_OK(ucp_init(&params, config, &context));
    ucp_config_release(config);
    CHECK_OK(ucp_context_query(context, &attr));
    CHECK(attr.request_size > 0);
    CHECK_EQ(attr.request_size % 16, 0);
    CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
    for (i = 0; i < 100; ++i) {
        requests[i] = ucp_tag_recv_nbx(worker, &word, 4, i, -1, &plain);
        CHECK(UCS_PTR_IS_PTR(requests[i]));
        CHECK_EQ(*(unsigned char *)requests[i], 0x42);
        memset((char *)requests[i] + 1, i, 23);
    }
    for (i = 0; i < 100; ++i) {
        CHECK_EQ(((unsigned char *)requests[i])[23], i);
        ucp_request_cancel(worker, requests[i]);
        CHECK_STATUS(ucp_request_check_status(requests[i]), UCS_ERR_CANCELED);
        ucp_request_free(requests[i]);
    }
    CHECK(inits >= 100);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    CHECK_EQ(inits, cleanups);
    OK("context");
}

static void wakeup(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucs_status_ptr_t r, s;
    ucs_status_t status;
    struct pollfd fd = {.events = POLLIN};
    char out = 7, in = 0;
    side_t a, b;
    ucp_ep_h ep;
    int efd;

    side_open(&a, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    CHECK(ucp_worker_get_efd(a.worker, &efd) != UCS_OK);
    side_close(&a);
    side_open(&a, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    side_open(&b, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_get_efd(b.worker, &fd.fd));
    ep = side_connect(&a, b.address);
    r = ucp_tag_recv_nbx(b.worker, &in, 1, 1, -1, &plain);
    do {
        while (ucp_worker_progress(b.worker)) {
        }
        status = ucp_worker_arm(b.worker);
    } while (status == UCS_ERR_BUSY);
    CHECK_OK(status);
    CHECK_EQ(poll(&fd, 1, 0), 0);
    s = ucp_tag_send_nbx(ep, &out, 1, 1, &plain);
    CHECK_OK(side_wait(&a, &a, s));
    CHECK_EQ(poll(&fd, 1, 10000), 1);
    CHECK_OK(side_wait(&b, &b, r));
    CHECK_EQ(in, 7);
    do {
        while (ucp_worker_progress(b.worker)) {
        }
        status = ucp_worker_arm(b.worker);
    } while (status == UCS_ERR_BUSY);
    CHECK_OK(ucp_worker_signal(b.worker));
    CHECK_EQ(poll(&fd, 1, 10000), 1);
    CHECK_OK(ucp_worker_signal(b.worker));
    CHECK_OK(ucp_worker_wait(b.worker));
    CHECK_OK(side_disconnect(&a, &b, ep, 0));
    side_close(&b);
    side_close(&a);
    OK("wake-up");
}

enum { THREADS = 4, MESSAGES = 2000 };
static side_t shared;
static ucp_ep_h shared_ep;

static void *sender(void *arg)
{
    unsigned thread = (uintptr_t)arg, i, value;
    ucp_request_param_t plain = {.op_attr_mask = 0};

    for (i = 0; i < MESSAGES; ++i) {
        ucs_status_ptr_t s, r;
        unsigned out = thread * MESSAGES + i;

        r = ucp_tag_recv_nbx(shared.worker, &value, 4, thread, -1, &plain);
        s = ucp_tag_send_nbx(shared_ep, &out, 4, thread, &plain);
        CHECK_OK(side_wait(&shared, &shared, s));
        CHECK_OK(side_wait(&shared, &shared, r));
        CHECK_EQ(value, out);
    }
    return NULL;
}

static void threads(void)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE};
    pthread_t ids[THREADS];
    uintptr_t i;

    side_open(&shared, UCP_FEATURE_TAG, UCS_THREAD_MODE_MULTI);
    CHECK_OK(ucp_worker_query(shared.worker, &attr));
    CHECK_EQ(attr.thread_mode, UCS_THREAD_MODE_MULTI);
    shared_ep = side_connect(&shared, shared.address);
    for (i = 0; i < THREADS; ++i) {
        CHECK(pthread_create(&ids[i], NULL, sender, (void *)i) == 0);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
    }
    CHECK_OK(side_disconnect(&shared, &shared, shared_ep, 0));
    side_close(&shared);
    OK("four threads");
}

static void addresses(void)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
                              .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY};
    side_t side;

    setenv("UCX_TLS", "all", 1);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_worker_query(side.worker, &attr));
    CHECK(attr.address_length < side.address_length);
    ucp_worker_release_address(side.worker, attr.address);
    side_close(&side);
    OK("addresses");
}

int main(void)
{
    context_parameters();
    wakeup();
    threads();
    setenv("UCX_TLS", "self", 1);
    threads();
    addresses();
    return 0;
}
