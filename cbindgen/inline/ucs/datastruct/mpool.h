#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

@ITEMS@

/**
 * Makes a pool. UCS_ERR_INVALID_PARAM for sizes that are not possible.
 *
 * @param[in] params Sizes and functions; read during the call only.
 * @param[out] mp The pool.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for sizes that are not possible; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_mpool_init(const ucs_mpool_params_t *params, ucs_mpool_t *mp);

END_C_DECLS
