/* Memory of a GPU that an RDMA device registers, by a dmabuf or by its address, and accesses: on the stand-ins for libibverbs and
 * for NVIDIA's driver, whose device memory no processor reaches. The argument says what the domain is expected to take:
 * "dmabuf", "address", "both" or "none". Run by tests/cuda. */
#include "../bytes.h"
#include "../cuda_driver.h"
#include "../transport.h"
#include "../verbs/stand_in.h"

/* No release installs a header for these. */
enum { DOMAIN_FLAGS = 1 << 2, REG_TYPES = 1 << 3, DETECT_TYPES = 1 << 6, ACCESS_TYPES = 1 << 8, DMABUF_TYPES = 1 << 9 };

typedef struct {
    uint64_t field_mask, max_alloc;
    size_t max_reg;
    uint64_t flags, reg_mem_types, reg_nonblock_mem_types, cache_mem_types, gva_mem_types, detect_mem_types,
        alloc_mem_types, access_mem_types, dmabuf_mem_types;
} domain_attr_t;

enum { WITH_FLAGS = 1 << 0, WITH_FILE = 1 << 1, WITH_OFFSET = 1 << 2 };

typedef struct {
    uint64_t field_mask, flags;
    int dmabuf_fd;
    size_t dmabuf_offset;
    void *rest;
} registration_t;

ucs_status_t uct_md_query_v2(uct_md_h md, domain_attr_t *attr);
ucs_status_t uct_md_mem_reg_v2(uct_md_h md, void *address, size_t length, const registration_t *params, uct_mem_h *memh);

enum { SIZE = 3 << 20, AT = 12345, LENGTH = 1 << 20, ACCESS = UCT_MD_MEM_ACCESS_RMA | UCT_MD_MEM_FLAG_HIDE_ERRORS };

static transport_t t;
static uct_ep_h ep;
static uct_md_h gpus;
static int by_dmabuf, by_address;
static char bytes[SIZE];

static void open_gpus(void)
{
    uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME};
    uct_component_h *all;
    uct_md_config_t *config;
    unsigned count, i;

    CHECK_OK(uct_query_components(&all, &count));
    for (i = 0; i < count; ++i) {
        CHECK_OK(uct_component_query(all[i], &attr));
        if (!strcmp(attr.name, "cuda_cpy")) {
            CHECK_OK(uct_md_config_read(all[i], NULL, NULL, &config));
            CHECK_OK(uct_md_open(all[i], "cuda_cpy", config, &gpus));
            uct_config_release(config);
        }
    }
    uct_release_component_list(all);
    CHECK(gpus != NULL);
}

/* A dmabuf that holds the memory, which the caller closes, and where the memory begins in it. */
static uct_md_mem_attr_t dmabuf_of(char *address, size_t length)
{
    uct_md_mem_attr_t attr = {.field_mask = UCT_MD_MEM_ATTR_FIELD_DMABUF_FD | UCT_MD_MEM_ATTR_FIELD_DMABUF_OFFSET};

    CHECK_OK(uct_md_mem_query(gpus, address, length, &attr));
    CHECK(attr.dmabuf_fd >= 0);
    return attr;
}

static ucs_status_t reg(char *address, size_t length, uint64_t fields, int file, size_t offset, uct_mem_h *memh)
{
    registration_t params = {.field_mask = WITH_FLAGS | fields, .flags = ACCESS, .dmabuf_fd = file,
                             .dmabuf_offset = offset};

    return uct_md_mem_reg_v2(t.md, address, length, &params, memh);
}

enum { FILE_AND_OFFSET = WITH_FILE | WITH_OFFSET };

/* Registers by the way that is there. The descriptor is not needed afterwards. */
static uct_mem_h registered(char *address, size_t length)
{
    uct_md_mem_attr_t told;
    uct_mem_h memh;

    if (!by_dmabuf) {
        CHECK_OK(uct_md_mem_reg(t.md, address, length, ACCESS, &memh));
        return memh;
    }
    told = dmabuf_of(address, length);
    CHECK_OK(reg(address, length, FILE_AND_OFFSET, told.dmabuf_fd, told.dmabuf_offset, &memh));
    CHECK_EQ(close(told.dmabuf_fd), 0);
    return memh;
}

static void attributes(void)
{
    domain_attr_t attr = {.field_mask = DOMAIN_FLAGS | REG_TYPES | DETECT_TYPES | ACCESS_TYPES | DMABUF_TYPES};

    CHECK_OK(uct_md_query_v2(t.md, &attr));
    CHECK_EQ(!!(attr.flags & UCT_MD_FLAG_REG_DMABUF), by_dmabuf);
    CHECK_EQ(attr.reg_mem_types, UCS_BIT(UCS_MEMORY_TYPE_HOST) | (by_address ? UCS_BIT(UCS_MEMORY_TYPE_CUDA) : 0));
    CHECK_EQ(attr.access_mem_types, UCS_BIT(UCS_MEMORY_TYPE_HOST));
    CHECK_EQ(attr.detect_mem_types, 0);
    CHECK_EQ(attr.dmabuf_mem_types, 0);
    CHECK_EQ(!!(t.md_attr.cap.flags & UCT_MD_FLAG_REG_DMABUF), by_dmabuf);
    CHECK_OK(uct_md_query_v2(gpus, &attr));
    CHECK_EQ(attr.dmabuf_mem_types, UCS_BIT(UCS_MEMORY_TYPE_CUDA));
    CHECK(!(attr.flags & UCT_MD_FLAG_REG_DMABUF));
    OK("attributes");
}

/* What cannot be registered is a status, and is not half registered. */
static void refusals(char *memory)
{
    long live = *setting("live");
    uct_mem_h memh = NULL;
    uct_md_mem_attr_t told = dmabuf_of(memory, SIZE);
    ucs_status_t status = uct_md_mem_reg(t.md, memory, LENGTH, ACCESS, &memh);

    if (by_address) {
        CHECK_OK(status);
        CHECK_OK(uct_md_mem_dereg(t.md, memh));
    } else {
        CHECK(UCS_STATUS_IS_ERR(status));
    }
    /* No descriptor: as if there were no such members. */
    CHECK_EQ(reg(memory, LENGTH, FILE_AND_OFFSET, UCT_DMABUF_FD_INVALID, 77, &memh), status);
    if (status == UCS_OK) {
        CHECK_OK(uct_md_mem_dereg(t.md, memh));
    }
    if (by_dmabuf) {
        /* Behind the end, another place in the page, no descriptor, no dmabuf. */
        CHECK(UCS_STATUS_IS_ERR(reg(memory, SIZE, FILE_AND_OFFSET, told.dmabuf_fd, 4096, &memh)));
        CHECK(UCS_STATUS_IS_ERR(reg(memory + 1, LENGTH, FILE_AND_OFFSET, told.dmabuf_fd, 0, &memh)));
        CHECK(UCS_STATUS_IS_ERR(reg(memory, LENGTH, FILE_AND_OFFSET, 9999, 0, &memh)));
        CHECK(UCS_STATUS_IS_ERR(reg(memory, LENGTH, FILE_AND_OFFSET, -2, 0, &memh)));
        *setting("max_reg") = LENGTH - 1;
        CHECK(UCS_STATUS_IS_ERR(reg(memory, LENGTH, FILE_AND_OFFSET, told.dmabuf_fd, 0, &memh)));
        *setting("max_reg") = 0;
        /* The offset is 0 where it is not given. */
        CHECK_OK(reg(memory, LENGTH, WITH_FILE, told.dmabuf_fd, 4096, &memh));
        CHECK_OK(uct_md_mem_dereg(t.md, memh));
    } else if (*setting("dmabuf") == 0) {
        CHECK(UCS_STATUS_IS_ERR(reg(memory, LENGTH, FILE_AND_OFFSET, told.dmabuf_fd, 0, &memh)));
    } else {
        /* The variable decides what the domain offers. */
        CHECK_OK(reg(memory, LENGTH, FILE_AND_OFFSET, told.dmabuf_fd, 0, &memh));
        CHECK_OK(uct_md_mem_dereg(t.md, memh));
    }
    CHECK_EQ(close(told.dmabuf_fd), 0);
    CHECK_EQ(*setting("live"), live);
    CHECK_EQ(reg(memory, 0, FILE_AND_OFFSET, 9999, 0, &memh), UCS_ERR_INVALID_PARAM);
    OK("refusals");
}

static uct_completion_t done;

static void on_done(uct_completion_t *completion)
{
}

/* One access of the device, to its end. */
static void access_memory(int put, char *local, uct_mem_h memh, char *remote, uct_rkey_t rkey, size_t length)
{
    uct_iov_t iov = {.buffer = local, .length = length, .memh = memh, .count = 1};
    ucs_status_t status;

    done = (uct_completion_t){.func = on_done, .count = 1};
    do {
        status = put ? uct_ep_put_zcopy(ep, &iov, 1, (uintptr_t)remote, rkey, &done) :
                       uct_ep_get_zcopy(ep, &iov, 1, (uintptr_t)remote, rkey, &done);
        uct_worker_progress(t.worker);
    } while (status == UCS_ERR_NO_RESOURCE);
    CHECK_EQ(status, UCS_INPROGRESS);
    PROGRESS_UNTIL(&t, done.count == 0);
    CHECK_OK(done.status);
}

static void holds(char *memory, size_t length, uint64_t seed)
{
    CHECK_EQ(cuMemcpyDtoH_v2(bytes, (uintptr_t)memory, length), 0);
    CHECK_EQ(wrong_at(bytes, length, seed), length);
}

static void store(char *memory, size_t length, uint64_t seed)
{
    fill(bytes, length, seed);
    CHECK_EQ(cuMemcpyHtoD_v2((uintptr_t)memory, bytes, length), 0);
}

/* From one memory of the GPU into another, and back by a read; and between it and memory of the host. */
static void accesses(char *from, char *to)
{
    long copies = fake_cuda_calls("cuMemcpyAsync"), before = *setting("data0");
    uct_mem_h here = registered(from + AT, LENGTH), there = registered(to + AT, LENGTH), host;
    char *memory = malloc(LENGTH), *packed = malloc(t.md_attr.rkey_packed_size);
    uct_rkey_bundle_t key;

    CHECK(memory != NULL && packed != NULL);
    CHECK_OK(uct_md_mkey_pack(t.md, there, packed));
    CHECK_OK(uct_rkey_unpack(t.component, packed, &key));
    store(from + AT, LENGTH, 1);
    access_memory(1, from + AT, here, to + AT, key.rkey, LENGTH);
    holds(to + AT, LENGTH, 1);
    store(to + AT, LENGTH, 2);
    access_memory(0, from + AT, here, to + AT, key.rkey, LENGTH);
    holds(from + AT, LENGTH, 2);
    CHECK_OK(uct_md_mem_reg(t.md, memory, LENGTH, ACCESS, &host));
    memset(memory, 0, LENGTH);
    access_memory(0, memory, host, to + AT, key.rkey, LENGTH);
    CHECK_EQ(wrong_at(memory, LENGTH, 2), LENGTH);
    fill(memory, LENGTH, 3);
    access_memory(1, memory, host, to + AT, key.rkey, LENGTH);
    holds(to + AT, LENGTH, 3);
    /* With what connects the endpoint. */
    CHECK(*setting("data0") - before >= 4 * LENGTH);
    CHECK_EQ(fake_cuda_calls("cuMemcpyAsync"), copies);
    /* Memory that is freed stays with who has it registered, until that ends. */
    CHECK_EQ(cuMemFree_v2((uintptr_t)to), 0);
    memset(memory, 0, LENGTH);
    access_memory(0, memory, host, to + AT, key.rkey, LENGTH);
    CHECK_EQ(wrong_at(memory, LENGTH, 3), LENGTH);
    CHECK_OK(uct_rkey_release(t.component, &key));
    CHECK_OK(uct_md_mem_dereg(t.md, host));
    CHECK_OK(uct_md_mem_dereg(t.md, here));
    CHECK_OK(uct_md_mem_dereg(t.md, there));
    free(memory);
    free(packed);
    OK("accesses");
}

int main(int argc, char **argv)
{
    char *from, *to;

    CHECK(argc == 2);
    by_dmabuf = !strcmp(argv[1], "dmabuf") || !strcmp(argv[1], "both");
    by_address = !strcmp(argv[1], "address") || !strcmp(argv[1], "both");
    use_device(0);
    open_gpus();
    transport_open(&t, "rc_verbs", NULL, 0);
    ep = transport_connect(&t, NULL);
    from = at(device_memory(SIZE));
    to = at(device_memory(SIZE));
    attributes();
    refusals(from);
    if (by_dmabuf || by_address) {
        accesses(from, to);
    } else {
        CHECK_EQ(cuMemFree_v2((uintptr_t)to), 0);
    }
    CHECK_EQ(cuMemFree_v2((uintptr_t)from), 0);
    uct_ep_destroy(ep);
    transport_close(&t);
    uct_md_close(gpus);
    puts("ok device memory");
    return 0;
}
