/* Each function of the driver that the library calls fails in turn, once or always, while messages and remote accesses go
 * through device memory, memory is allocated, and the domain is asked: each operation ends, with its bytes or with an error and
 * a line in the log, and the endpoint goes on. Transports are those of the environment; with the argument "self" the peer is
 * the worker itself. Adds the functions' names to the file that TRIED names. Run by tests/cuda. */
#include "../cuda_driver.h"
#include "../peers.h"

#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <uct/api/uct.h>

/* What a process of the test ends with. */
enum { ALL_WELL = 0, WITH_ERRORS = 3 };

static side_t one, two, *from = &one, *to = &two;
static ucp_ep_h ep, back;
static int errors;

enum { LONGEST = 2 << 20 };

static char *sent, *got;

static ucs_status_t ended(ucs_status_ptr_t request)
{
    ucs_status_t status = side_wait(from, to, request);

    CHECK(status != UCS_INPROGRESS);
    errors += status != UCS_OK;
    return status;
}

/* The request of a peer that may have nothing to wait for. */
static ucs_status_t given_up(side_t *side, ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_cancel(side->worker, request);
    }
    return side_wait(from, to, request);
}

static ucp_request_param_t hint(ucs_memory_type_t type)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = type};
}

static void draw(size_t length)
{
    size_t i;

    for (i = 0; i < length; ++i) {
        sent[i] = (char)(number() >> 32);
    }
}

static void tag(CUdeviceptr a, CUdeviceptr b, size_t length, ucp_request_param_t *param)
{
    ucs_status_ptr_t r, s;
    ucs_status_t status;

    draw(length);
    CHECK_EQ(cuMemcpyHtoD_v2(a, sent, length), 0);
    r = ucp_tag_recv_nbx(to->worker, at(b), length, 7, -1, param);
    s = ucp_tag_send_nbx(ep, at(a), length, 7, param);
    if (UCS_PTR_IS_ERR(r)) {
        /* The message is taken by a receive of the host's. */
        ++errors;
        ucp_request_param_t host = hint(UCS_MEMORY_TYPE_HOST);
        r = UCS_PTR_IS_ERR(s) ? NULL : ucp_tag_recv_nbx(to->worker, got, length, 7, -1, &host);
        if (ended(s) == UCS_OK) {
            CHECK_OK(side_wait(from, to, r));
        } else {
            given_up(to, r);
        }
        return;
    }
    status = ended(s);
    if (status != UCS_OK) {
        CHECK(given_up(to, r) != UCS_OK);
    } else if (ended(r) == UCS_OK) {
        CHECK_EQ(cuMemcpyDtoH_v2(got, b, length), 0);
        CHECK(!memcmp(sent, got, length));
    }
}

static void remote(CUdeviceptr a, CUdeviceptr b, size_t length, ucp_request_param_t *param)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                 UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                   .address = at(b),
                                   .length = length,
                                   .memory_type = UCS_MEMORY_TYPE_CUDA};
    ucp_request_param_t plain = {0};
    ucp_mem_h memh;
    ucp_rkey_h rkey;
    void *packed;
    size_t size;
    int put;

    if (ucp_mem_map(to->context, &params, &memh) != UCS_OK) {
        ++errors;
        return;
    }
    CHECK_OK(ucp_rkey_pack(to->context, memh, &packed, &size));
    CHECK_OK(ucp_ep_rkey_unpack(ep, packed, &rkey));
    ucp_rkey_buffer_release(packed);
    draw(length);
    CHECK_EQ(cuMemcpyHtoD_v2(a, sent, length), 0);
    put = ended(ucp_put_nbx(ep, at(a), length, b, rkey, param)) == UCS_OK;
    /* What the owner could not write, its flush tells. */
    put &= ended(ucp_ep_flush_nbx(ep, &plain)) == UCS_OK;
    if (put) {
        CHECK_EQ(cuMemcpyDtoH_v2(got, b, length), 0);
        CHECK(!memcmp(sent, got, length));
        CHECK_EQ(cuMemcpyHtoD_v2(a, got, 1), 0);
        if (ended(ucp_get_nbx(ep, at(a), length, b, rkey, param)) == UCS_OK) {
            CHECK_EQ(cuMemcpyDtoH_v2(got, a, length), 0);
            CHECK(!memcmp(sent, got, length));
        }
    }
    ucp_rkey_destroy(rkey);
    CHECK_OK(ucp_mem_unmap(to->context, memh));
}

static void allocated(ucs_memory_type_t type)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                                                 UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
                                   .length = 1000,
                                   .flags = UCP_MEM_MAP_ALLOCATE,
                                   .memory_type = type};
    ucp_mem_h memh;

    if (ucp_mem_map(to->context, &params, &memh) != UCS_OK) {
        ++errors;
    } else if (ucp_mem_unmap(to->context, memh) != UCS_OK) {
        ++errors;
    }
}

/* No context is current on this thread. */
static void *without_context(void *arg)
{
    allocated(UCS_MEMORY_TYPE_CUDA);
    return NULL;
}

/* ---- the memory domain and its transport ---- */

static void copies(uct_iface_h iface, uct_worker_h worker, CUdeviceptr device)
{
    uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                                            UCT_EP_PARAM_FIELD_IFACE_ADDR,
                              .iface = iface};
    static char address[64];
    uct_ep_h path;
    int i;

    CHECK_OK(uct_iface_get_address(iface, (void*)address));
    params.dev_addr = (void*)address;
    params.iface_addr = (void*)address;
    CHECK_OK(uct_ep_create(&params, &path));
    for (i = 0; i < 5; ++i) {
        uct_completion_t done = {.count = 1, .status = UCS_OK};
        uct_iov_t iov = {.buffer = sent, .length = 5000, .count = 1};
        struct pollfd woken = {.events = POLLIN};
        ucs_status_t status;

        draw(5000);
        status = uct_ep_put_zcopy(path, &iov, 1, device, 0, &done);
        if (status == UCS_INPROGRESS) {
            CHECK_OK(uct_iface_event_fd_get(iface, &woken.fd));
            while (done.count > 0) {
                if (uct_iface_event_arm(iface, UCT_EVENT_SEND_COMP) == UCS_OK) {
                    CHECK_EQ(poll(&woken, 1, 5000), 1);
                }
                uct_worker_progress(worker);
            }
            status = done.status;
        }
        if (status != UCS_OK) {
            ++errors;
            continue;
        }
        CHECK_EQ(cuMemcpyDtoH_v2(got, device, 5000), 0);
        CHECK(!memcmp(sent, got, 5000));
    }
    uct_ep_destroy(path);
}

static void transport(uct_md_h md, CUdeviceptr device)
{
    uct_iface_params_t params = {.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
                                 .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
                                 .mode.device = {.tl_name = "cuda_copy", .dev_name = "cuda"}};
    ucs_async_context_t *async;
    uct_iface_config_t *config;
    uct_worker_h worker;
    uct_iface_h iface;

    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async));
    CHECK_OK(uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker));
    CHECK_OK(uct_md_iface_config_read(md, "cuda_copy", NULL, NULL, &config));
    CHECK_OK(uct_iface_open(md, worker, &params, config, &iface));
    uct_config_release(config);
    uct_iface_progress_enable(iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    copies(iface, worker, device);
    uct_iface_close(iface);
    uct_worker_destroy(worker);
    ucs_async_context_destroy(async);
}

static void domain(CUdeviceptr device)
{
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_MEM_TYPE | UCT_MD_MEM_ATTR_FIELD_SYS_DEV |
                                            UCT_MD_MEM_ATTR_FIELD_DMABUF_FD};
    uct_component_attr_t component = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *all, found = NULL;
    uct_md_config_t *config;
    unsigned count, i;
    uct_md_h md;

    CHECK_OK(uct_query_components(&all, &count));
    for (i = 0; i < count; ++i) {
        CHECK_OK(uct_component_query(all[i], &component));
        if (!strcmp(component.name, "cuda_cpy")) {
            found = all[i];
        }
    }
    uct_release_component_list(all);
    if (found == NULL) {
        ++errors;
        return;
    }
    CHECK_OK(uct_md_config_read(found, NULL, NULL, &config));
    if (uct_md_open(found, "cuda_cpy", config, &md) == UCS_OK) {
        if (uct_md_mem_query(md, at(device), 100, &attr) != UCS_OK) {
            ++errors;
        } else {
            CHECK(attr.dmabuf_fd < 0 || close(attr.dmabuf_fd) == 0);
        }
        transport(md, device);
        uct_md_close(md);
    } else {
        ++errors;
    }
    uct_config_release(config);
}

static void of_the_host(void)
{
    ucp_request_param_t param = hint(UCS_MEMORY_TYPE_HOST);
    ucs_status_ptr_t r, s;

    draw(LONGEST);
    memset(got, 0, LONGEST);
    r = ucp_tag_recv_nbx(to->worker, got, LONGEST, 9, -1, &param);
    s = ucp_tag_send_nbx(ep, sent, LONGEST, 9, &param);
    CHECK_OK(side_wait(from, to, r));
    CHECK_OK(side_wait(from, to, s));
    CHECK(!memcmp(sent, got, LONGEST));
}

static int run(int alone)
{
    enum { FEATURES = UCP_FEATURE_TAG | UCP_FEATURE_RMA };
    static const size_t lengths[] = {8, 5000, 40000, LONGEST};
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    ucp_request_param_t given = hint(UCS_MEMORY_TYPE_CUDA), none = {0};
    CUdeviceptr a, b, stepped;
    pthread_t thread;
    unsigned i, knows;

    alarm(60);
    use_device(0);
    a = device_memory(LONGEST);
    b = device_memory(LONGEST);
    stepped = memory_in_steps(1, HANDLE_NONE);
    sent = malloc(LONGEST);
    got = malloc(LONGEST);
    CHECK(sent && got);
    side_open(&one, FEATURES, UCS_THREAD_MODE_MULTI);
    if (alone) {
        to = from;
    } else {
        side_open(&two, FEATURES, UCS_THREAD_MODE_MULTI);
    }
    ep = side_connect(from, to->address);
    back = to == from ? ep : side_connect(to, from->address);
    /* A context that could not use the driver takes device memory for the host's, unless it is told otherwise. */
    CHECK_OK(ucp_context_query(from->context, &attr));
    knows = (attr.memory_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA)) != 0;
    CHECK_OK(ucp_context_query(to->context, &attr));
    knows &= (attr.memory_types & UCS_BIT(UCS_MEMORY_TYPE_CUDA)) != 0;
    errors += !knows;
    for (i = 0; i < sizeof(lengths) / sizeof(*lengths); ++i) {
        tag(a, b, lengths[i], &given);
        remote(a, b, lengths[i], &given);
        if (knows) {
            tag(a, b, lengths[i], &none);
        }
    }
    tag(stepped, b, 5000, &given);
    tag(a, stepped, LONGEST, &given);
    allocated(UCS_MEMORY_TYPE_CUDA);
    allocated(UCS_MEMORY_TYPE_CUDA_MANAGED);
    CHECK_EQ(pthread_create(&thread, NULL, without_context, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    domain(a);
    of_the_host();
    CHECK_OK(side_disconnect(from, to, ep, 0));
    if (to != from) {
        CHECK_OK(side_disconnect(from, to, back, 0));
        side_close(to);
    }
    side_close(from);
    return errors ? WITH_ERRORS : ALL_WELL;
}

/* ---- all of them ---- */

/* A process whose driver fails; what it ended with. */
static int failing(char *self, char *alone, const char *function, int call)
{
    char settings[200], log[] = "/tmp/driver_errors.XXXXXX";
    int status, file = mkstemp(log);
    struct stat found;
    pid_t pid;

    CHECK(file >= 0);
    close(file);
    snprintf(settings, sizeof(settings), "fail=%s:%d", function, call);
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setenv("FAKE_CUDA", settings, 1);
        setenv("UCX_LOG_FILE", log, 1);
        execl(self, self, "run", alone, NULL);
        _exit(1);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(stat(log, &found), 0);
    unlink(log);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != ALL_WELL && WEXITSTATUS(status) != WITH_ERRORS)) {
        FAIL("%s fails (%d): wait status 0x%x", function, call, status);
    }
    if (WEXITSTATUS(status) == WITH_ERRORS && found.st_size == 0) {
        FAIL("%s fails (%d): operations failed, and the log does not say why", function, call);
    }
    return WEXITSTATUS(status);
}

/* How often the library calls each function of the driver when nothing fails: the file that the stand-in writes. */
static FILE *calls_of(char *self, char *alone)
{
    char settings[200], counts[] = "/tmp/driver_errors.XXXXXX";
    int status, file = mkstemp(counts);
    FILE *in;
    pid_t pid;

    CHECK(file >= 0);
    snprintf(settings, sizeof(settings), "count=%s", counts);
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        setenv("FAKE_CUDA", settings, 1);
        execl(self, self, "run", alone, NULL);
        _exit(1);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == ALL_WELL);
    in = fopen(counts, "r");
    CHECK(in != NULL);
    close(file);
    unlink(counts);
    return in;
}

int main(int argc, char **argv)
{
    static const int nth[] = {0, 1, 2, 5, 20};
    char *alone = argc > 1 && !strcmp(argv[argc - 1], "self") ? "self" : "two", function[100];
    unsigned k, with_errors, failed = 0;
    FILE *counts, *tried;
    long all, most;

    setenv("UCX_CUDA_COPY_RETAIN_PRIMARY_CTX", "y", 1);
    if (argc > 1 && !strcmp(argv[1], "run")) {
        return run(!strcmp(argv[2], "self"));
    }
    counts = calls_of(argv[0], alone);
    tried = fopen(getenv("TRIED") ? getenv("TRIED") : "/dev/null", "a");
    CHECK(tried != NULL);
    while (fscanf(counts, "%99s %ld %ld", function, &all, &most) == 3) {
        with_errors = 0;
        for (k = 0; k < sizeof(nth) / sizeof(*nth) && most > 0 && nth[k] <= most; ++k) {
            with_errors += failing(argv[0], alone, function, nth[k]) == WITH_ERRORS;
        }
        failed += with_errors > 0;
        if (most > 0) {
            fprintf(tried, "%s\n", function);
            OK("%s", function);
        }
    }
    /* Without copies nothing can have succeeded, whether the driver has words for it or not. */
    CHECK_EQ(failing(argv[0], alone, "cuMemcpyAsync", 0), WITH_ERRORS);
    CHECK_EQ(failing(argv[0], alone, "cuGetErrorString:0,fail=cuMemcpyAsync", 0), WITH_ERRORS);
    fputs("cuGetErrorString\n", tried);
    CHECK(failed >= 6);
    CHECK_EQ(fclose(tried), 0);
    puts("ok driver_errors");
    return 0;
}
