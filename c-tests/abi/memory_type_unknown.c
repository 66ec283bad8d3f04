/* UCS_MEMORY_TYPE_UNKNOWN is one behind the last type a release knows: 5, 6, 9, 10 in turn, and 5, 6 and 9
 * mean something else later. UCT calls carry no version, so each of these values and any nonsense is an
 * answer, never a crash; where an allocation works, it is host memory. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
#include <uct/api/uct.h>

#include "transport.h"

int main(void)
{
    static const unsigned values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 31, 32, 63, 64, 255, 0x7fffffff, 0xffffffff};
    uct_alloc_method_t methods[] = {UCT_ALLOC_METHOD_MD, UCT_ALLOC_METHOD_MMAP, UCT_ALLOC_METHOD_HEAP};
    uct_allocated_memory_t memory;
    uct_mem_alloc_params_t params;
    ucs_memory_type_t found;
    ucs_status_t status;
    char buffer[64];
    transport_t t;
    unsigned i, m;

    transport_open(&t, "posix", NULL, 0);
    memset(buffer, 7, sizeof(buffer));
    for (i = 0; i < sizeof(values) / sizeof(values[0]); ++i) {
        for (m = 0; m < sizeof(methods) / sizeof(methods[0]); ++m) {
            memset(&params, 0, sizeof(params));
            params.field_mask = UCT_MEM_ALLOC_PARAM_FIELD_FLAGS | UCT_MEM_ALLOC_PARAM_FIELD_MEM_TYPE |
                                UCT_MEM_ALLOC_PARAM_FIELD_MDS;
            params.flags = UCT_MD_MEM_ACCESS_ALL;
            params.mem_type = (ucs_memory_type_t)values[i];
            params.mds.mds = &t.md;
            params.mds.count = 1;
            status = uct_mem_alloc(4096, &methods[m], 1, &params, &memory);
            if (status == UCS_OK) {
                CHECK_EQ(memory.mem_type, UCS_MEMORY_TYPE_HOST);
                memset(memory.address, 1, 4096);
                CHECK_OK(uct_mem_free(&memory));
            } else {
                CHECK((status == UCS_ERR_NO_MEMORY) || (status == UCS_ERR_UNSUPPORTED) ||
                      (status == UCS_ERR_INVALID_PARAM));
            }
        }
    }
    OK("allocation with each value");

    /* A domain that knows no device memory says so, or host: never a value only one release understands. */
    found = UCS_MEMORY_TYPE_HOST;
    status = uct_md_detect_memory_type(t.md, buffer, sizeof(buffer), &found);
    CHECK((status == UCS_ERR_UNSUPPORTED) || ((status == UCS_OK) && (found == UCS_MEMORY_TYPE_HOST)));
    OK("detection");
    transport_close(&t);
    return 0;
}
