#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/topo/base/topo.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

BEGIN_C_DECLS

@ITEMS@

/** Options of the library that watches memory. */
extern ucm_global_config_t ucm_global_opts;

/**
 * mremap() with events; the new address comes last, where MREMAP_FIXED asks for it.
 *
 * @param[in] old_address Start of the range.
 * @param[in] old_size Its bytes.
 * @param[in] new_size Bytes wanted.
 * @param[in] flags As of the system call.
 * @return As the system call: an address, or the error value with errno set.
 */
void *ucm_mremap(void *old_address, size_t old_size, size_t new_size, int flags, ...);

END_C_DECLS
