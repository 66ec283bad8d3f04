/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_PROFILE_PROFILE_ON_H
#define FERRUCX_UCS_PROFILE_PROFILE_ON_H

#include <ucs/profile/profile_defs.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/preprocessor.h>

BEGIN_C_DECLS

/* Profiling by the names that clients write, switched on. */

#define UCS_PROFILE_SAMPLE          UCS_PROFILE_SAMPLE_ALWAYS
#define UCS_PROFILE_CODE            UCS_PROFILE_CODE_ALWAYS
#define UCS_PROFILE_FUNC            UCS_PROFILE_FUNC_ALWAYS
#define UCS_PROFILE_FUNC_VOID       UCS_PROFILE_FUNC_VOID_ALWAYS
#define UCS_PROFILE_NAMED_CALL      UCS_PROFILE_NAMED_CALL_ALWAYS
#define UCS_PROFILE_CALL            UCS_PROFILE_CALL_ALWAYS
#define UCS_PROFILE_NAMED_CALL_VOID UCS_PROFILE_NAMED_CALL_VOID_ALWAYS
#define UCS_PROFILE_CALL_VOID       UCS_PROFILE_CALL_VOID_ALWAYS
#define UCS_PROFILE_REQUEST_EVENT   UCS_PROFILE_REQUEST_EVENT_ALWAYS

/** A new request; a statement. */
#define UCS_PROFILE_REQUEST_NEW(_req, _name, _param32) \
    UCS_PROFILE_CTX_RECORD_ALWAYS(ucs_profile_default_ctx, UCS_PROFILE_TYPE_REQUEST_NEW, (_name), \
                                  (_param32), (uintptr_t)(_req));
/** Progress of a request, unless it failed; a statement. */
#define UCS_PROFILE_REQUEST_EVENT_CHECK_STATUS(_req, _name, _param32, _status) \
    if ((_status) >= UCS_OK) { \
        UCS_PROFILE_REQUEST_EVENT((_req), (_name), (_param32)); \
    }
/** The end of a request; a statement. */
#define UCS_PROFILE_REQUEST_FREE(_req) \
    UCS_PROFILE_CTX_RECORD_ALWAYS(ucs_profile_default_ctx, UCS_PROFILE_TYPE_REQUEST_FREE, "", 0, \
                                  (uintptr_t)(_req));

END_C_DECLS

#endif
