/* uct_allocated_memory_t had 40 bytes until 1.18 and has no mask: a program of that time passes 40 bytes, and byte 41
 * is not part of it. Checked for every allocation method with a canary right behind. */
#include <uct/api/uct.h>

#include "transport.h"

enum { OLD_SIZE = 40 };

static void check_canary(const unsigned char *storage, size_t size)
{
    size_t i;
    for (i = OLD_SIZE; i < size; ++i) {
        if (storage[i] != 0xa5) {
            FAIL("byte %zu behind the structure of 40 bytes was written", i);
        }
    }
}

static void allocate(transport_t *t, uct_alloc_method_t method, const char *name)
{
    union {
        unsigned char bytes[128];
        uct_allocated_memory_t memory;
    } storage;
    uct_mem_alloc_params_t params;
    ucs_status_t status;

    memset(&storage, 0xa5, sizeof(storage));
    memset(&params, 0, sizeof(params));
    params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_MDS |
                        UCT_MEM_ALLOC_PARAM_FIELD_ADDRESS | UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                        UCT_MEM_ALLOC_PARAM_FIELD_NAME;
    params.flags = UCT_MD_MEM_ACCESS_ALL;
    params.mds.mds = &t->md;
    params.mds.count = 1;
    params.mem_type = UCS_MEMORY_TYPE_HOST;
    params.name = "canary";
    status = uct_mem_alloc(100000, &method, 1, &params, &storage.memory);
    check_canary(storage.bytes, sizeof(storage));
    if (status == UCS_OK) {
        CHECK(storage.memory.length >= 100000);
        CHECK_EQ(storage.memory.method, method);
        CHECK_EQ(storage.memory.mem_type, UCS_MEMORY_TYPE_HOST);
        memset(storage.memory.address, 1, 100000);
        CHECK_OK(uct_mem_free(&storage.memory));
        check_canary(storage.bytes, sizeof(storage));
    } else if ((method == UCT_ALLOC_METHOD_HEAP) || (method == UCT_ALLOC_METHOD_MMAP) ||
               ((method == UCT_ALLOC_METHOD_MD) && (t->md_attr.cap.flags & UCT_MD_FLAG_ALLOC))) {
        FAIL("method %s: %s", name, ucs_status_string(status));
    }
    OK("method %s", name);
}

int main(void)
{
    union {
        unsigned char bytes[128];
        uct_allocated_memory_t memory;
    } storage;
    transport_t t;

    _Static_assert(offsetof(uct_allocated_memory_t, memh) == 32, "the last member of 1.11");
    transport_open(&t, "posix", NULL, 0);
    allocate(&t, UCT_ALLOC_METHOD_MD, "md");
    allocate(&t, UCT_ALLOC_METHOD_HEAP, "heap");
    allocate(&t, UCT_ALLOC_METHOD_MMAP, "mmap");
    allocate(&t, UCT_ALLOC_METHOD_THP, "thp");
    allocate(&t, UCT_ALLOC_METHOD_HUGE, "huge");

    memset(&storage, 0xa5, sizeof(storage));
    CHECK_OK(uct_iface_mem_alloc(t.iface, 4096, UCT_MD_MEM_ACCESS_ALL, "canary", &storage.memory));
    check_canary(storage.bytes, sizeof(storage));
    uct_iface_mem_free(&storage.memory);
    check_canary(storage.bytes, sizeof(storage));
    OK("interface allocation");
    transport_close(&t);
    return 0;
}
