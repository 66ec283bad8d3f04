/* The cache of memory types: ranges that a client inserts, updates, looks up and removes. */
/* headers: ours 1.22.0 */
/* oracle: 1.22.0 */
#include "check.h"

#include <ucs/memory/memtype_cache.h>

/* No address is followed. */
static char *const base = (char*)0x7f0000000000ul;

static void update(size_t at, size_t size, ucs_memory_type_t type, ucs_sys_device_t device, uint8_t flags)
{
    ucs_memtype_cache_update(base + at, size, type, device, flags);
}

static void show(size_t at, size_t size)
{
    ucs_memory_info_t info;
    ucs_status_t      status = ucs_memtype_cache_lookup(base + at, size, &info);

    printf("%zu+%zu: %s", at, size, ucs_status_string(status));
    if ((status == UCS_OK) && (info.base_address == NULL)) {
        printf(", type %d, device %d, length %zd", info.type, info.sys_dev, info.alloc_length);
    } else if (status == UCS_OK) {
        printf(", type %d, device %d, %td+%zu", info.type, info.sys_dev, (char*)info.base_address - base,
               info.alloc_length);
    }
    printf("\n");
}

int main(void)
{
    static const size_t asked[] = {0,     2048,  5000,  7000,  8192,  8288,  8496,  9216,  12287, 12288,
                                   20480, 21504, 21520, 29952, 30000, 30032, 31000, 40000, 40096, 40304};

    CHECK(ucs_memtype_cache_global_instance == NULL);
    CHECK(!ucs_memtype_cache_is_empty());
    show(0, 16);
    CHECK(ucs_memtype_cache_global_instance != NULL);
    CHECK(ucs_memtype_cache_is_empty());
    /* libfabric's provider for UCX does this when it starts. */
    CHECK_STATUS(ucs_memtype_cache_lookup(NULL, 0, NULL), UCS_ERR_NO_ELEM);

    update(0, 4096, UCS_MEMORY_TYPE_CUDA, 3, 1);
    update(2048, 4096, UCS_MEMORY_TYPE_CUDA, 3, 1);
    CHECK(!ucs_memtype_cache_is_empty());
    update(8192, 4096, UCS_MEMORY_TYPE_CUDA, 3, 1);
    update(12288, 4096, UCS_MEMORY_TYPE_CUDA, 3, 1);
    update(8192, 4096, UCS_MEMORY_TYPE_CUDA, 3, 0);
    update(9216, 1024, UCS_MEMORY_TYPE_CUDA, 4, 0);
    update(8192 + 100, 200, UCS_MEMORY_TYPE_ROCM, 4, 0);
    update(20480, 4096, UCS_MEMORY_TYPE_UNKNOWN, 4, 0);
    update(20480 + 1024, 16, UCS_MEMORY_TYPE_CUDA, 4, 0);
    update(30000, 16, UCS_MEMORY_TYPE_CUDA, 1, 1);
    update(30032, 16, UCS_MEMORY_TYPE_CUDA, 1, 1);
    update(29952, 4096, UCS_MEMORY_TYPE_CUDA, 1, 1);
    update(40000, 4096, UCS_MEMORY_TYPE_HOST, 4, 0);
    update(50000, 0, UCS_MEMORY_TYPE_CUDA, 4, 0);
    ucs_memtype_cache_remove(base + 40100, 200);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); ++i) {
        show(asked[i], 16);
        show(asked[i], 1);
        show(asked[i], 2048);
        show(asked[i], 0);
    }
    show(50000, 1);
    ucs_memtype_cache_remove(base, 1 << 20);
    CHECK(ucs_memtype_cache_is_empty());
    ucs_memtype_cache_cleanup();
    CHECK(ucs_memtype_cache_global_instance == NULL);
    return 0;
}
