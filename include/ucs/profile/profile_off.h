/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_PROFILE_PROFILE_OFF_H
#define FERRUCX_UCS_PROFILE_PROFILE_OFF_H

#include <ucs/profile/profile_defs.h>
#include <ucs/sys/compiler_def.h>

/* Profiling by the names that clients write, switched off: the code alone is left. */

#define UCS_PROFILE_SAMPLE(...)                     UCS_EMPTY_STATEMENT
#define UCS_PROFILE_CODE(_name, _code)              _code
#define UCS_PROFILE_FUNC(_ret_type, _name, _arglist, ...) _ret_type _name(__VA_ARGS__)
#define UCS_PROFILE_FUNC_VOID(_name, _arglist, ...) void _name(__VA_ARGS__)
#define UCS_PROFILE_NAMED_CALL(_name, _func, ...)   _func(__VA_ARGS__)
#define UCS_PROFILE_CALL(_func, ...)                _func(__VA_ARGS__)
#define UCS_PROFILE_NAMED_CALL_VOID                 UCS_PROFILE_NAMED_CALL
#define UCS_PROFILE_CALL_VOID                       UCS_PROFILE_CALL
#define UCS_PROFILE_REQUEST_NEW(...)                UCS_EMPTY_STATEMENT
#define UCS_PROFILE_REQUEST_EVENT(...)              UCS_EMPTY_STATEMENT
#define UCS_PROFILE_REQUEST_EVENT_CHECK_STATUS(...) UCS_EMPTY_STATEMENT
#define UCS_PROFILE_REQUEST_FREE(...)               UCS_EMPTY_STATEMENT

#endif
