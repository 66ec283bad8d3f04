/* The transport cuda_ipc between two processes: device memory of one is written and read by the other, from its own device
 * memory and from the host's. With an argument only what that names: "unreachable" (the driver maps nothing), "limit" (of
 * the cache), "replaced" (allocations), "all". A second one says of which kind the owner's memory is. Run by tests/cuda. */
#include "../cuda_driver.h"

#include <uct/api/uct.h>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 300000, MOST = 256 };

/* Kinds of memory; their handles are bytes or a descriptor. */
static const struct {
    const char *name;
    int steps, pool, handles;
} kinds[] = {{"plain", 0, 0, 0},
             {"steps-by-file", 1, 0, HANDLE_FILE},
             {"steps-by-bytes", 1, 0, HANDLE_FABRIC},
             {"pool-by-file", 0, 1, HANDLE_FILE},
             {"pool-by-bytes", 0, 1, HANDLE_FABRIC}};
static int kind;
static CUmemoryPool pool;

static CUdeviceptr allocate(void)
{
    if (kinds[kind].steps) {
        return memory_in_steps(1, kinds[kind].handles);
    }
    return kinds[kind].pool ? memory_of_pool(pool, LENGTH) : device_memory(LENGTH);
}

static void release(CUdeviceptr memory)
{
    if (kinds[kind].steps) {
        free_steps(memory, 1);
    } else {
        CHECK_EQ(cuMemFree_v2(memory), 0);
    }
}

/* One end. */
typedef struct {
    ucs_async_context_t *async;
    uct_worker_h worker;
    uct_component_h component;
    uct_md_h md;
    uct_md_attr_t md_attr;
    uct_iface_h iface;
    uct_iface_attr_t attr;
} side_t;

/* What the owner of memory tells. */
typedef struct {
    CUdeviceptr address;
    char key[MOST], device[MOST], iface[MOST];
} told_t;

static side_t side;

static void side_open(void)
{
    uct_iface_params_t params = {.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
                                 .open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
                                 .mode.device = {.tl_name = "cuda_ipc", .dev_name = "cuda"}};
    uct_component_h *all;
    uct_component_attr_t attr;
    uct_md_config_t *md_config;
    uct_iface_config_t *config;
    unsigned count, i;

    CHECK_OK(uct_query_components(&all, &count));
    for (i = 0; i < count; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        CHECK_OK(uct_component_query(all[i], &attr));
        if (!strcmp(attr.name, "cuda_ipc")) {
            side.component = all[i];
        }
    }
    uct_release_component_list(all);
    CHECK(side.component != NULL);
    CHECK_OK(uct_md_config_read(side.component, NULL, NULL, &md_config));
    CHECK_OK(uct_md_open(side.component, "cuda_ipc", md_config, &side.md));
    uct_config_release(md_config);
    CHECK_OK(uct_md_query(side.md, &side.md_attr));
    CHECK_OK(ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &side.async));
    CHECK_OK(uct_worker_create(side.async, UCS_THREAD_MODE_SINGLE, &side.worker));
    CHECK_OK(uct_md_iface_config_read(side.md, "cuda_ipc", NULL, NULL, &config));
    CHECK_OK(uct_iface_open(side.md, side.worker, &params, config, &side.iface));
    uct_config_release(config);
    uct_iface_progress_enable(side.iface, UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
    CHECK_OK(uct_iface_query(side.iface, &side.attr));
    CHECK(side.md_attr.rkey_packed_size <= MOST && side.attr.iface_addr_len <= MOST);
}

static void side_close(void)
{
    uct_iface_close(side.iface);
    uct_worker_destroy(side.worker);
    ucs_async_context_destroy(side.async);
    uct_md_close(side.md);
}

/* The memory and what the peer has to know of it. */
static told_t tell(CUdeviceptr address, size_t length, uct_mem_h *memh)
{
    told_t told = {.address = address};

    CHECK_OK(uct_md_mem_reg(side.md, at(address), length, UCT_MD_MEM_ACCESS_ALL, memh));
    CHECK_OK(uct_md_mkey_pack(side.md, *memh, told.key));
    CHECK_OK(uct_iface_get_device_address(side.iface, (void*)told.device));
    CHECK_OK(uct_iface_get_address(side.iface, (void*)told.iface));
    return told;
}

static uct_ep_h connect_to(told_t *told)
{
    uct_ep_params_t params = {.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_DEV_ADDR |
                                            UCT_EP_PARAM_FIELD_IFACE_ADDR,
                              .iface = side.iface,
                              .dev_addr = (void*)told->device,
                              .iface_addr = (void*)told->iface};
    uct_ep_h ep;

    CHECK(uct_iface_is_reachable(side.iface, (void*)told->device, (void*)told->iface));
    CHECK_OK(uct_ep_create(&params, &ep));
    return ep;
}

static ucs_status_t done(ucs_status_t status, uct_completion_t *completion)
{
    if (status != UCS_INPROGRESS) {
        return status;
    }
    while (completion->count > 0) {
        uct_worker_progress(side.worker);
    }
    return completion->status;
}

static ucs_status_t put(uct_ep_h ep, void *from, size_t length, uint64_t to, uct_rkey_t rkey)
{
    uct_completion_t completion = {.count = 1};
    uct_iov_t iov = {.buffer = from, .length = length, .count = 1};

    return done(uct_ep_put_zcopy(ep, &iov, 1, to, rkey, &completion), &completion);
}

static ucs_status_t get(uct_ep_h ep, void *to, size_t length, uint64_t from, uct_rkey_t rkey)
{
    uct_completion_t completion = {.count = 1};
    uct_iov_t iov = {.buffer = to, .length = length, .count = 1};

    return done(uct_ep_get_zcopy(ep, &iov, 1, from, rkey, &completion), &completion);
}

static void fill(char *bytes, unsigned seed)
{
    size_t i;

    for (i = 0; i < LENGTH; ++i) {
        bytes[i] = (char)(i * 7 + i / 256 + seed);
    }
}

static void all(int fd, void *bytes, size_t length, int send)
{
    ssize_t n;

    for (; length > 0; length -= n, bytes = (char*)bytes + n) {
        n = send ? write(fd, bytes, length) : read(fd, bytes, length);
        CHECK(n > 0);
    }
}

/* The process that owns memory: "n" is a new allocation in the place of the old one, "r" reads it out, "w" fills it. */
static void owner(int fd)
{
    static char bytes[LENGTH];
    CUdeviceptr memory, before;
    uct_mem_h memh, refused;
    told_t told;
    char what;

    alarm(60);
    use_device(0);
    side_open();
    if (kinds[kind].pool) {
        pool = pool_with(kinds[kind].handles);
    }
    memory = allocate();
    told = tell(memory, LENGTH, &memh);
    CHECK_EQ(uct_md_mem_reg(side.md, bytes, LENGTH, UCT_MD_MEM_ACCESS_ALL, &refused), UCS_ERR_INVALID_ADDR);
    /* Steps may stand side by side. */
    CHECK_EQ(uct_md_mem_reg(side.md, at(memory), STEP + 1, UCT_MD_MEM_ACCESS_ALL, &refused),
             kinds[kind].steps ? UCS_ERR_UNSUPPORTED : UCS_ERR_INVALID_ADDR);
    CHECK_EQ(cuMemAllocAsync(&before, 100, NULL), 0);
    CHECK_EQ(uct_md_mem_reg(side.md, at(before), 100, UCT_MD_MEM_ACCESS_ALL, &refused), UCS_ERR_UNSUPPORTED);
    CHECK_EQ(cuMemFree_v2(before), 0);
    all(fd, &told, sizeof(told), 1);
    while (read(fd, &what, 1) == 1) {
        switch (what) {
        case 'n':
            CHECK_OK(uct_md_mem_dereg(side.md, memh));
            release(memory);
            before = memory;
            memory = allocate();
            CHECK(kind > 0 || memory == before);
            told = tell(memory, LENGTH, &memh);
            all(fd, &told, sizeof(told), 1);
            break;
        case 'r':
            CHECK_EQ(cuMemcpyDtoH_v2(bytes, memory, LENGTH), 0);
            all(fd, bytes, LENGTH, 1);
            break;
        default:
            all(fd, bytes, LENGTH, 0);
            CHECK_EQ(cuMemcpyHtoD_v2(memory, bytes, LENGTH), 0);
            all(fd, &what, 1, 1);
        }
    }
    CHECK_OK(uct_md_mem_dereg(side.md, memh));
    release(memory);
    side_close();
    _exit(0);
}

static char sent[LENGTH], got[LENGTH];

static void owner_has(int fd, const char *what)
{
    all(fd, "r", 1, 1);
    all(fd, got, LENGTH, 0);
    if (memcmp(sent, got, LENGTH)) {
        FAIL("%s: the owner has other bytes", what);
    }
}

static void owner_gets(int fd)
{
    char answer;

    all(fd, "w", 1, 1);
    all(fd, sent, LENGTH, 1);
    all(fd, &answer, 1, 0);
}

static void copies(int fd, uct_ep_h ep, told_t *told, uct_rkey_t rkey, CUdeviceptr device)
{
    static const size_t cuts[][2] = {{0, LENGTH}, {0, 1}, {LENGTH - 1, 1}, {4097, 100000}, {17, 0}};
    size_t i, from, length;

    for (i = 0; i < sizeof(cuts) / sizeof(*cuts); ++i) {
        from = cuts[i][0];
        length = cuts[i][1];
        /* From the host and from a device. */
        fill(sent, 2 * i);
        owner_gets(fd);
        memset(sent + from, 0x55, length);
        CHECK_OK(put(ep, sent + from, length, told->address + from, rkey));
        owner_has(fd, "a put of the host");
        CHECK_EQ(cuMemcpyHtoD_v2(device, sent, LENGTH), 0);
        fill(sent, 2 * i + 1);
        owner_gets(fd);
        CHECK_EQ(cuMemcpyHtoD_v2(device, sent, LENGTH), 0);
        memset(got, 0x66, LENGTH);
        memset(sent + from, 0x66, length);
        CHECK(length == 0 || cuMemcpyHtoD_v2(device + from, got, length) == 0);
        CHECK_OK(put(ep, at(device + from), length, told->address + from, rkey));
        owner_has(fd, "a put of a device");
        /* To the host and to a device. */
        fill(sent, 100 + i);
        owner_gets(fd);
        memset(got, 0, LENGTH);
        CHECK_OK(get(ep, got + from, length, told->address + from, rkey));
        CHECK(!memcmp(got + from, sent + from, length));
        CHECK(from == 0 || got[from - 1] == 0);
        CHECK_OK(get(ep, at(device + from), length, told->address + from, rkey));
        memset(got, 0, LENGTH);
        CHECK(length == 0 || cuMemcpyDtoH_v2(got + from, device + from, length) == 0);
        CHECK(!memcmp(got + from, sent + from, length));
    }
    OK("copies");
}

static void refusals(uct_ep_h ep, told_t *told, uct_rkey_t rkey, CUdeviceptr device)
{
    uct_completion_t completion = {.count = 1};
    uct_iov_t two[2] = {{.buffer = sent, .length = 1, .count = 1}, {.buffer = sent, .length = 1, .count = 1}};
    told_t mine, damaged = *told;
    uct_rkey_bundle_t bundle;
    uct_mem_h memh;
    uct_ep_h self;
    size_t i;

    CHECK_EQ(put(ep, sent, 2, told->address + LENGTH - 1, rkey), UCS_ERR_INVALID_ADDR);
    CHECK_EQ(put(ep, sent, 1, told->address - 1, rkey), UCS_ERR_INVALID_ADDR);
    CHECK_EQ(get(ep, sent, LENGTH, told->address + 1, rkey), UCS_ERR_INVALID_ADDR);
    CHECK_EQ(put(ep, sent, 1, told->address, 0), UCS_ERR_INVALID_PARAM);
    CHECK_EQ(uct_ep_put_zcopy(ep, two, 2, told->address, rkey, &completion), UCS_ERR_INVALID_PARAM);
    for (i = 0; i < side.md_attr.rkey_packed_size; ++i) {
        damaged.key[i] ^= 0x10;
        CHECK_EQ(uct_rkey_unpack(side.component, damaged.key, &bundle), UCS_ERR_INVALID_PARAM);
        damaged.key[i] ^= 0x10;
    }
    damaged.device[0] ^= 1;
    CHECK(!uct_iface_is_reachable(side.iface, (void*)damaged.device, (void*)damaged.iface));
    damaged.device[0] ^= 1;
    damaged.iface[7] ^= 1;
    CHECK(!uct_iface_is_reachable(side.iface, (void*)damaged.device, (void*)damaged.iface));
    /* Own memory needs no handle; a key goes with its owner alone. */
    mine = tell(device, LENGTH, &memh);
    CHECK_OK(uct_rkey_unpack(side.component, mine.key, &bundle));
    CHECK_EQ(put(ep, sent, 1, device, bundle.rkey), UCS_ERR_INVALID_PARAM);
    self = connect_to(&mine);
    CHECK_EQ(put(self, sent, 1, told->address, rkey), UCS_ERR_INVALID_PARAM);
    fill(sent, 9);
    CHECK_OK(put(self, sent, LENGTH, device, bundle.rkey));
    CHECK_EQ(cuMemcpyDtoH_v2(got, device, LENGTH), 0);
    CHECK(!memcmp(sent, got, LENGTH));
    uct_ep_destroy(self);
    CHECK_OK(uct_rkey_release(side.component, &bundle));
    CHECK_OK(uct_md_mem_dereg(side.md, memh));
    OK("refusals");
}

/* Where a key has what, by its owner's layout (src/uct/cuda/ipc/wire.rs). */
enum { CHECK_AT = 1, BODY_AT = 5, KIND_AT = 21, SERIAL_AT = 22, BYTES_AT = 26, POINTER_AT = 90, ID_AT = 154, EXTENT_AT = 170, LENGTH_AT = 186 };

static void seal(char *key)
{
    uint32_t sum = ~0u;
    size_t i;
    int bit;

    for (i = BODY_AT; i < side.md_attr.rkey_packed_size; ++i) {
        sum ^= (unsigned char)key[i];
        for (bit = 0; bit < 8; ++bit) {
            sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
        }
    }
    sum = ~sum;
    memcpy(key + CHECK_AT, &sum, sizeof(sum));
}

/* A key that no honest owner makes: refused when it is unpacked, or when it is used. */
static void refused(uct_ep_h ep, told_t *told, const char *what)
{
    uct_rkey_bundle_t bundle;
    ucs_status_t status;

    seal(told->key);
    status = uct_rkey_unpack(side.component, told->key, &bundle);
    if (status == UCS_OK) {
        status = put(ep, sent, 1, told->address, bundle.rkey);
        CHECK_OK(uct_rkey_release(side.component, &bundle));
    }
    if (status != UCS_ERR_UNREACHABLE && status != UCS_ERR_INVALID_PARAM && status != UCS_ERR_INVALID_ADDR) {
        FAIL("%s: %s", what, ucs_status_string(status));
    }
}

static void forged(uct_ep_h ep, const told_t *told)
{
    static const char bytes[] = {0, 1, 2, 0x11, 0x12, 0x10, 3, 0x21, (char)0xff};
    told_t other;
    uint64_t number;
    uint32_t serial;
    size_t i;

    for (i = 0; i < sizeof(bytes); ++i) {
        if (bytes[i] != told->key[KIND_AT]) {
            other = *told;
            other.key[KIND_AT] = bytes[i];
            refused(ep, &other, "a handle of another kind");
        }
    }
    /* Descriptors that the owner has for others, and has not. */
    for (serial = 0; told->key[KIND_AT] & 0x10 && serial < 20; ++serial) {
        if (memcmp(told->key + SERIAL_AT, &serial, 4)) {
            other = *told;
            memcpy(other.key + SERIAL_AT, &serial, 4);
            refused(ep, &other, "another descriptor");
        }
    }
    /* NVIDIA's driver opens what it should not, and the copy breaks the context. */
    for (i = 0; fake_cuda_is_stand_in() && !(told->key[KIND_AT] & 0x10) && i < 4; ++i) {
        other = *told;
        other.key[BYTES_AT + i] ^= 0x41;
        refused(ep, &other, "other bytes");
    }
    if ((told->key[KIND_AT] & 0xf) == 2) {
        other = *told;
        memset(other.key + POINTER_AT, 0x77, 64);
        refused(ep, &other, "another pointer");
    }
    if ((told->key[KIND_AT] & 0xf) == 1) {
        other = *told;
        number = 1ull << 40;
        memcpy(other.key + EXTENT_AT, &number, 8);
        /* One that is not mapped yet. */
        other.key[ID_AT] ^= 1;
        refused(ep, &other, "more than the allocation");
    }
    number = ~0ull;
    other = *told;
    memcpy(other.key + EXTENT_AT, &number, 8);
    refused(ep, &other, "more than any device has");
    other = *told;
    memcpy(other.key + LENGTH_AT, &number, 8);
    refused(ep, &other, "a range beyond the end");
    OK("forged keys");
}

/* Another allocation takes the place of one that is mapped here. */
static void replaced(int fd, uct_ep_h ep, CUdeviceptr device)
{
    uct_rkey_bundle_t bundle;
    told_t told;
    int i;

    for (i = 0; i < 5; ++i) {
        all(fd, "n", 1, 1);
        all(fd, &told, sizeof(told), 0);
        CHECK_OK(uct_rkey_unpack(side.component, told.key, &bundle));
        fill(sent, 200 + i);
        CHECK_OK(put(ep, sent, LENGTH, told.address, bundle.rkey));
        owner_has(fd, "a put into a new allocation");
        CHECK_OK(uct_rkey_release(side.component, &bundle));
    }
    OK("allocations that took the place of others");
}

/* A program that sleeps is woken by the ends of copies. */
static void woken(uct_ep_h ep, told_t *told, uct_rkey_t rkey)
{
    struct pollfd poll_fd = {.events = POLLIN};
    uct_completion_t completion;
    uct_iov_t iov = {.buffer = sent, .length = LENGTH, .count = 1};
    ucs_status_t status;
    int round, slept = 0;

    CHECK_OK(uct_iface_event_fd_get(side.iface, &poll_fd.fd));
    for (round = 0; round < 50; ++round) {
        completion = (uct_completion_t){.count = 1};
        CHECK_EQ(uct_ep_put_zcopy(ep, &iov, 1, told->address, rkey, &completion), UCS_INPROGRESS);
        while (completion.count > 0) {
            status = uct_iface_event_arm(side.iface, UCT_EVENT_SEND_COMP);
            if (status == UCS_OK) {
                CHECK_EQ(poll(&poll_fd, 1, 5000), 1);
                ++slept;
            } else {
                CHECK_EQ(status, UCS_ERR_BUSY);
            }
            uct_worker_progress(side.worker);
        }
        CHECK_OK(completion.status);
    }
    /* A device may be done at once. */
    CHECK(slept > 0 || !fake_cuda_is_stand_in() || (getenv("FAKE_CUDA") && strstr(getenv("FAKE_CUDA"), "late=0")));
    OK("wake-ups");
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    CUcontext context, current;
    uct_rkey_bundle_t bundle;
    CUdeviceptr device;
    told_t told;
    uct_ep_h ep;
    int fds[2], status, i;
    pid_t pid;

    alarm(60);
    while (argc > 2 && strcmp(argv[2], kinds[kind].name)) {
        CHECK(++kind < sizeof(kinds) / sizeof(*kinds));
    }
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        unsetenv("FAKE_CUDA");
        owner(fds[1]);
    }
    close(fds[1]);
    context = use_device(0);
    side_open();
    device = device_memory(LENGTH);
    all(fds[0], &told, sizeof(told), 0);
    ep = connect_to(&told);
    CHECK_OK(uct_rkey_unpack(side.component, told.key, &bundle));
    if (!strcmp(only, "all")) {
        only = "";
    }
    if (!strcmp(only, "unreachable")) {
        CHECK_EQ(put(ep, sent, 1, told.address, bundle.rkey), UCS_ERR_UNREACHABLE);
        CHECK_EQ(get(ep, at(device), 1, told.address, bundle.rkey), UCS_ERR_UNREACHABLE);
    } else if (!strcmp(only, "limit")) {
        for (i = 0; i < 4; ++i) {
            CHECK_OK(put(ep, sent, 1, told.address, bundle.rkey));
        }
    } else if (!strcmp(only, "replaced")) {
        replaced(fds[0], ep, device);
    } else {
        copies(fds[0], ep, &told, bundle.rkey, device);
        refusals(ep, &told, bundle.rkey, device);
        forged(ep, &told);
        woken(ep, &told, bundle.rkey);
        replaced(fds[0], ep, device);
        /* The owner ends while its memory is mapped: copies go on, or fail. */
        kill(pid, SIGKILL);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        put(ep, sent, LENGTH, told.address, bundle.rkey);
        OK("the owner's end");
    }
    CHECK_OK(uct_rkey_release(side.component, &bundle));
    uct_ep_destroy(ep);
    close(fds[0]);
    if (*only) {
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
    }
    CHECK_EQ(cuMemFree_v2(device), 0);
    side_close();
    CHECK_EQ(cuCtxGetCurrent(&current), 0);
    CHECK(current == context);
    puts("ok ipc");
    return 0;
}
