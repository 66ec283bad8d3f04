/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_PROFILE_PROFILE_DEFS_H
#define FERRUCX_UCS_PROFILE_PROFILE_DEFS_H

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

/** Times are added up for each place. A mode is a mask of bits with these numbers. */
#define UCS_PROFILE_MODE_ACCUM 0

/** Each event is recorded. */
#define UCS_PROFILE_MODE_LOG 1

#define UCS_PROFILE_MODE_LAST 2

/** Kinds of events. */
enum ucs_profile_type_t {
    /** A place was passed. */
    UCS_PROFILE_TYPE_SAMPLE = 0,
    /** A piece of code begins. */
    UCS_PROFILE_TYPE_SCOPE_BEGIN = 1,
    /** It ends. */
    UCS_PROFILE_TYPE_SCOPE_END = 2,
    /** A request begins. */
    UCS_PROFILE_TYPE_REQUEST_NEW = 3,
    /** It makes progress. */
    UCS_PROFILE_TYPE_REQUEST_EVENT = 4,
    /** It ends. */
    UCS_PROFILE_TYPE_REQUEST_FREE = 5,
    /** Number of kinds. */
    UCS_PROFILE_TYPE_LAST = 6,
};

typedef enum ucs_profile_type_t ucs_profile_type_t;

/** A profile. */
struct ucs_profile_context;

typedef struct ucs_profile_context ucs_profile_context_t;
typedef struct ucs_profile_block_header_t ucs_profile_block_header_t;
typedef struct ucs_profile_header ucs_profile_header_t;
typedef struct ucs_profile_location ucs_profile_location_t;
typedef struct ucs_profile_thread_header ucs_profile_thread_header_t;
typedef struct ucs_profile_thread_location ucs_profile_thread_location_t;
typedef struct ucs_profile_record ucs_profile_record_t;

/** Where a block of a file is. */
struct UCS_S_PACKED ucs_profile_block_header_t {
    /** Bytes from the start of the file. */
    uint64_t offset;
    /** Its bytes. */
    uint64_t size;
};

/** The head of a file. */
struct UCS_S_PACKED ucs_profile_header {
    /** UCS_PROFILE_FILE_VERSION. */
    uint32_t version;
    /** Reserved. */
    uint32_t feature_flags;
    /** The library's file. */
    char ucs_path[1024];
    /** Command line of the program. */
    char cmdline[1024];
    /** Name of the host. */
    char hostname[64];
    /** Number of the process. */
    uint32_t pid;
    /** Bits of the modes. */
    uint32_t mode;
    /** Text: the UCX variables of the environment. */
    ucs_profile_block_header_t env_vars;
    /** Places. */
    ucs_profile_block_header_t locations;
    /** For each thread: its header, its sums for all places, its records. */
    ucs_profile_block_header_t threads;
    /** Ticks of the clock in a second. */
    uint64_t one_second;
};

/** A place in the code. */
struct UCS_S_PACKED ucs_profile_location {
    /** Source file. */
    char file[64];
    /** Function. */
    char function[64];
    /** Name of the place. */
    char name[32];
    /** Line in the file. */
    int line;
    /** A `ucs_profile_type_t`. */
    uint8_t type;
};

/** A thread. */
struct UCS_S_PACKED ucs_profile_thread_header {
    /** Number of the thread. */
    uint32_t tid;
    /** Ticks when it began to record. */
    uint64_t start_time;
    /** Ticks when it ended. */
    uint64_t end_time;
    /** Number of its records. */
    uint64_t num_records;
};

/** What a thread did at a place. */
struct UCS_S_PACKED ucs_profile_thread_location {
    /** Ticks since the place before it. */
    uint64_t total_time;
    /** How often. */
    size_t count;
};

/** An event. */
struct UCS_S_PACKED ucs_profile_record {
    /** Ticks of the event. */
    uint64_t timestamp;
    /** Number that was given with the event. */
    uint64_t param64;
    /** Number that was given with the event. */
    uint32_t param32;
    /** Number of the place. */
    uint32_t location;
};

/** Number of a place. */
typedef short ucs_profile_loc_id_t;

/**
 * Makes a profile. `profile_mode` has a bit for each mode; without any nothing is recorded. UCS_ERR_INVALID_PARAM for
 * others.
 *
 * @param[in] profile_mode A bit for each mode; 0 records nothing.
 * @param[in] file_name Name of the file, NUL-terminated.
 * @param[in] max_file_size Upper limit of the records, bytes.
 * @param[out] ctx_p The profile.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM for other modes.
 */
ucs_status_t ucs_profile_init(unsigned int profile_mode,
                              const char *file_name,
                              size_t max_file_size,
                              ucs_profile_context_t **ctx_p);

/**
 * Writes a profile and ends it.
 *
 * @param[in] ctx The profile; not to be used afterwards.
 */
void ucs_profile_cleanup(ucs_profile_context_t *ctx);

/**
 * Writes a profile and begins it anew.
 *
 * @param[in,out] ctx The profile.
 */
void ucs_profile_dump(ucs_profile_context_t *ctx);

/**
 * How many threads a profile file has, from the sizes of its parts.
 *
 * @param[in] total_num_records Records of all threads.
 * @param[in] header Head of the file.
 * @return Their number.
 */
unsigned int ucs_profile_calc_num_threads(size_t total_num_records,
                                          const ucs_profile_header_t *header);

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

#endif
