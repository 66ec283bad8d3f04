#include <ucs/config/global_opts.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/time/time_def.h>
#include <ucs/type/status.h>
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

BEGIN_C_DECLS

/** Deepest nesting of profiled code. */
#define UCS_PROFILE_STACK_MAX 64
/** Version of the files that are written, and the oldest that is read. */
#define UCS_PROFILE_FILE_VERSION     3u
#define UCS_PROFILE_FILE_MIN_VERSION 3u
/* Numbers of a place in the code before it is known, and where nothing is recorded. */
#define UCS_PROFILE_LOC_ID_UNKNOWN  -1
#define UCS_PROFILE_LOC_ID_DISABLED 0

@ITEMS@

/**
 * Records an event. The macros call it; `loc_id_p` keeps the number of the place, for NULL the profile is the
 * default one.
 *
 * @param[in] ctx The profile.
 * @param[in] type Kind of event.
 * @param[in] name Name of the place, NUL-terminated.
 * @param[in] param32 Number to record.
 * @param[in] param64 Number to record.
 * @param[in] file Source file, NUL-terminated.
 * @param[in] line Line in it.
 * @param[in] function Function, NUL-terminated.
 * @param[in,out] loc_id_p Keeps the number of the place.
 */
void ucs_profile_record(ucs_profile_context_t *ctx, ucs_profile_type_t type, const char *name,
                        uint32_t param32, uint64_t param64, const char *file, int line,
                        const char *function, volatile ucs_profile_loc_id_t *loc_id_p);


/** Names of the modes, by value; NULL after the last. */
extern const char *ucs_profile_mode_names[];
/** The profile that UCX_PROFILE_MODE asks for; NULL without. */
extern ucs_profile_context_t *ucs_profile_default_ctx;

/* The macros below record what happens at the place where they stand; a name is a string that stays. */

/** One event with two numbers; a statement. */
#define UCS_PROFILE_CTX_RECORD_ALWAYS(_ctx, _type, _name, _param32, _param64) \
    { \
        static volatile ucs_profile_loc_id_t ucs_profile_place = UCS_PROFILE_LOC_ID_UNKNOWN; \
        if (ucs_profile_place != UCS_PROFILE_LOC_ID_DISABLED) { \
            ucs_profile_record(_ctx, _type, _name, _param32, _param64, __FILE__, __LINE__, __func__, \
                               &ucs_profile_place); \
        } \
    }

/** Beginning and end of a piece of code; a statement. */
#define UCS_PROFILE_CTX_CODE_ALWAYS(_ctx, _name, _code) \
    { \
        UCS_PROFILE_CTX_RECORD_ALWAYS(_ctx, UCS_PROFILE_TYPE_SCOPE_BEGIN, "", 0, 0); \
        ucs_compiler_fence(); \
        _code; \
        ucs_compiler_fence(); \
        UCS_PROFILE_CTX_RECORD_ALWAYS(_ctx, UCS_PROFILE_TYPE_SCOPE_END, _name, 0, 0); \
    }

/**
 * Head of a function that is profiled; its body follows. `_arglist` has the names of the arguments in parentheses,
 * their declarations follow.
 */
#define UCS_PROFILE_CTX_FUNC_ALWAYS(_ctx, _ret_type, _name, _arglist, ...) \
    static UCS_F_ALWAYS_INLINE _ret_type _name##_inner(__VA_ARGS__); \
    _ret_type _name(__VA_ARGS__) \
    { \
        _ret_type ucs_profile_result; \
        UCS_PROFILE_CTX_CODE_ALWAYS(_ctx, #_name, ucs_profile_result = _name##_inner _arglist); \
        return ucs_profile_result; \
    } \
    static UCS_F_ALWAYS_INLINE _ret_type _name##_inner(__VA_ARGS__)
/** The same, for a function without a result. */
#define UCS_PROFILE_CTX_FUNC_VOID_ALWAYS(_ctx, _name, _arglist, ...) \
    static UCS_F_ALWAYS_INLINE void _name##_inner(__VA_ARGS__); \
    void _name(__VA_ARGS__) \
    { \
        UCS_PROFILE_CTX_CODE_ALWAYS(_ctx, #_name, _name##_inner _arglist); \
    } \
    static UCS_F_ALWAYS_INLINE void _name##_inner(__VA_ARGS__)

/** A call under a name; its result. */
#define UCS_PROFILE_CTX_NAMED_CALL_ALWAYS(_ctx, _name, _func, ...) \
    __extension__ ({ \
        ucs_typeof(_func(__VA_ARGS__)) ucs_profile_result; \
        UCS_PROFILE_CTX_CODE_ALWAYS(_ctx, _name, ucs_profile_result = _func(__VA_ARGS__)); \
        ucs_profile_result; \
    })

/* The same for the profile of the environment. */
#define UCS_PROFILE_SAMPLE_ALWAYS(_name) \
    UCS_PROFILE_CTX_RECORD_ALWAYS(ucs_profile_default_ctx, UCS_PROFILE_TYPE_SAMPLE, (_name), 0, 0)
#define UCS_PROFILE_CODE_ALWAYS(_name, _code) \
    UCS_PROFILE_CTX_CODE_ALWAYS(ucs_profile_default_ctx, _name, _code)
#define UCS_PROFILE_FUNC_ALWAYS(_ret_type, _name, _arglist, ...) \
    UCS_PROFILE_CTX_FUNC_ALWAYS(ucs_profile_default_ctx, _ret_type, _name, _arglist, ##__VA_ARGS__)
#define UCS_PROFILE_FUNC_VOID_ALWAYS(_name, _arglist, ...) \
    UCS_PROFILE_CTX_FUNC_VOID_ALWAYS(ucs_profile_default_ctx, _name, _arglist, ##__VA_ARGS__)
#define UCS_PROFILE_NAMED_CALL_ALWAYS(_name, _func, ...) \
    UCS_PROFILE_CTX_NAMED_CALL_ALWAYS(ucs_profile_default_ctx, _name, _func, ##__VA_ARGS__)
#define UCS_PROFILE_CALL_ALWAYS(_func, ...) \
    UCS_PROFILE_NAMED_CALL_ALWAYS(#_func, _func, ##__VA_ARGS__)
#define UCS_PROFILE_NAMED_CALL_VOID_ALWAYS(_name, _func, ...) \
    UCS_PROFILE_CODE_ALWAYS(_name, _func(__VA_ARGS__))
#define UCS_PROFILE_CALL_VOID_ALWAYS(_func, ...) \
    UCS_PROFILE_NAMED_CALL_VOID_ALWAYS(#_func, _func, ##__VA_ARGS__)
/** Progress of a request; a statement. */
#define UCS_PROFILE_REQUEST_EVENT_ALWAYS(_req, _name, _param32) \
    UCS_PROFILE_CTX_RECORD_ALWAYS(ucs_profile_default_ctx, UCS_PROFILE_TYPE_REQUEST_EVENT, (_name), \
                                  (_param32), (uintptr_t)(_req));

END_C_DECLS
