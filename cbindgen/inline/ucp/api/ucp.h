#include <ucp/api/ucp_compat.h>
#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>
#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/thread_mode.h>
#include <stdio.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Datatype of contiguous elements of `_elem_size` bytes. */
#define ucp_dt_make_contig(_elem_size) \
    ((((ucp_datatype_t)(_elem_size)) << UCP_DATATYPE_SHIFT) | UCP_DATATYPE_CONTIG)
/** Datatype of an array of `ucp_dt_iov_t`. */
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)
/** Datatype of a scatter-gather list: see `ucp_dt_local_sgl_t`. */
#define ucp_dt_make_sgl() ((ucp_datatype_t)UCP_DATATYPE_SGL)

@ITEMS@

/**
 * Creates a context: the library as one application uses it. `config` may be NULL for the defaults of the
 * environment. Passes on the version this program was compiled with; see `ucp_init_version`.
 */
static inline ucs_status_t
ucp_init(const ucp_params_t *params, const ucp_config_t *config, ucp_context_h *context_p)
{
    return ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, params, config, context_p);
}

END_C_DECLS
