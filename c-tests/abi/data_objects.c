/* A program that is not position independent owns copies of the library's data objects (COPY relocations).
 * Program and library then have to see one object each, and nothing may be written past the size that the
 * program knows. */
/* cflags: -fno-pie -no-pie */
/* oracle: 1.13.1 1.22.0 */
#include <ucs/config/global_opts.h>
#include <ucs/datastruct/list.h>
#include <ucs/memory/memory_type.h>
#include <ucm/api/ucm.h>
#include <uct/api/uct.h>

#include <dlfcn.h>

#include "check.h"

extern char __executable_start, _end;
extern ucs_list_link_t ucs_config_global_list; /* as ucs/config/parser.h has it */

/* `object` is the program's own copy, and a lookup by name from outside finds the same. */
#define CHECK_COPY(object) \
    do { \
        const char *address = (const char *)&(object); \
        CHECK((address >= &__executable_start) && (address < &_end)); \
        CHECK(dlsym(RTLD_DEFAULT, #object) == (const void *)address); \
    } while (0)

int main(void)
{
    CHECK_COPY(ucs_global_opts);
    CHECK_COPY(ucs_memory_type_names);
    CHECK_COPY(ucs_memory_type_descs);
    CHECK_COPY(uct_device_type_names);
    CHECK_COPY(ucs_config_global_list);
    CHECK_COPY(ucm_global_opts);
    OK("one object each");

    CHECK_STR(ucs_memory_type_names[UCS_MEMORY_TYPE_HOST], "host");
    CHECK_STR(ucs_memory_type_names[UCS_MEMORY_TYPE_CUDA], "cuda");
    CHECK_STR(ucs_memory_type_names[UCS_MEMORY_TYPE_CUDA_MANAGED], "cuda-managed");
    CHECK_STR(ucs_memory_type_names[UCS_MEMORY_TYPE_ROCM], "rocm");
    CHECK_STR(ucs_memory_type_names[UCS_MEMORY_TYPE_ROCM_MANAGED], "rocm-managed");
    CHECK(ucs_memory_type_descs[UCS_MEMORY_TYPE_HOST] != NULL);
    OK("memory type names");

    CHECK_STR(uct_device_type_names[UCT_DEVICE_TYPE_NET], "network");
    CHECK_STR(uct_device_type_names[UCT_DEVICE_TYPE_SHM], "intra-node");
    CHECK_STR(uct_device_type_names[UCT_DEVICE_TYPE_ACC], "accelerator");
    CHECK_STR(uct_device_type_names[UCT_DEVICE_TYPE_SELF], "loopback");
    OK("device type names");

    /* The list is a ring through the program's copy of its head, or client tables would be lost. */
    {
        ucs_list_link_t *link = &ucs_config_global_list;
        int length = 0;
        do {
            CHECK(link->next->prev == link);
            link = link->next;
            CHECK(++length < 1000);
        } while (link != &ucs_config_global_list);
    }
    OK("list of configuration tables");

    /* What a program writes into the options' stable prefix has to be where macros of all releases look. */
    CHECK_EQ((const char *)&ucs_global_opts.log_component.log_level - (const char *)&ucs_global_opts, 0);
    CHECK_EQ((const char *)&ucs_global_opts.log_print_enable - (const char *)&ucs_global_opts, 72);
    CHECK_EQ(ucs_global_opts.log_component.log_level, UCS_LOG_LEVEL_WARN);
    CHECK_EQ(ucs_global_opts.log_print_enable, 0);
    OK("global options");
    return 0;
}
