/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_CONFIG_PARSER_H
#define FERRUCX_UCS_CONFIG_PARSER_H

#include <ucs/config/types.h>
#include <ucs/datastruct/list.h>
#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/stubs.h>
#include <ucs/type/status.h>
#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

BEGIN_C_DECLS

/* Options of a client: a table says for each member of a structure what it is called, its default, a description and
 * how it is read. The variable of an option is the prefix of the environment, that of the table, and its name. */

/** Name of the files that options are read from. */
#define UCX_CONFIG_FILE_NAME "ucx.conf"
/** Prefix of variables. */
#define UCS_DEFAULT_ENV_PREFIX "UCX_"
/** Most values of an array. */
#define UCS_CONFIG_ARRAY_MAX 128
/** The word in an allow-list that allows everything. */
#define UCS_CONFIG_PARSER_ALL "all"

/** State of a table. */
enum ucs_config_table_flags_t {
    /** It was read. */
    UCS_CONFIG_TABLE_FLAG_LOADED = UCS_BIT(0),
};

typedef enum ucs_config_table_flags_t ucs_config_table_flags_t;

typedef struct ucs_config_parser ucs_config_parser_t;
typedef struct ucs_config_field ucs_config_field_t;
typedef struct ucs_config_array ucs_config_array_t;
typedef struct ucs_config_key_field_t ucs_config_key_field_t;
typedef struct ucs_config_key_value_param_t ucs_config_key_value_param_t;
typedef struct ucs_config_cached_key ucs_config_cached_key_t;
typedef struct ucs_ib_port_spec ucs_ib_port_spec_t;
typedef struct ucs_range_spec ucs_range_spec_t;
typedef struct ucs_config_global_list_entry ucs_config_global_list_entry_t;
typedef struct ucs_config_bw_spec ucs_config_bw_spec_t;

/** How values of one type are read, written, copied and freed. */
struct ucs_config_parser {
    /** Reads a value from a text; 1, or 0 for a text that is not of the type. */
    int (*read)(const char*, void*, const void*);
    /** Writes a value as text, cut to fit; the characters of the whole. */
    int (*write)(char*, size_t, const void*, const void*);
    /** Copies a value. */
    ucs_status_t (*clone)(const void*, void*, const void*);
    /** Frees what a value owns. */
    void (*release)(void*, const void*);
    /** Writes what texts are accepted. */
    void (*help)(char*, size_t, const void*);
    /** Appends a description of the values, or is the description. */
    void (*doc)(ucs_string_buffer_t*, const void*);
    /** Last argument of these functions. */
    const void *arg;
};

/** One option of a table. */
struct ucs_config_field {
    /** Name behind the prefix of its table. */
    const char *name;
    /** Default as text. */
    const char *dfl_value;
    /** Appends a description of the values, or is the description. */
    const char *doc;
    /** Where the value is in the structure, bytes. */
    size_t offset;
    /** Type of the value. */
    ucs_config_parser_t parser;
};

/** An array of values of one type. */
struct ucs_config_array {
    /** Bytes of an element. */
    size_t elem_size;
    /** Type of the value. */
    ucs_config_parser_t parser;
};

/** One key of an option that holds keys and values. */
struct ucs_config_key_field_t {
    /** The key. */
    const char *name;
    /** Appends a description of the values, or is the description. */
    const char *doc;
    /** Where the value is in the structure, bytes. */
    size_t offset;
};

/** The keys of an option, and how their values are read. */
struct ucs_config_key_value_param_t {
    /** Type of the value. */
    ucs_config_parser_t parser;
    /** The keys, ended by one without a name. */
    const ucs_config_key_field_t *keys;
};

/** A line of a configuration file. */
struct ucs_config_cached_key {
    /** Name of the key. */
    char *key;
    /** Text of the value. */
    char *value;
    /** Nonzero when somebody has read it. */
    int used;
    /** Link of the list. */
    ucs_list_link_t list;
};

/** A port of an InfiniBand device. */
struct ucs_ib_port_spec {
    /** Name of the device. */
    char *device_name;
    /** Number of the port. */
    unsigned int port_num;
};

/** A range of numbers, both ends included. */
struct ucs_range_spec {
    /** First number of the range. */
    unsigned int first;
    /** Last number of the range. */
    unsigned int last;
};

/** A table that is known to the printer. */
struct ucs_config_global_list_entry {
    /** What it is called in a title. */
    const char *name;
    /** Prefix of the options. */
    const char *prefix;
    /** The options. */
    ucs_config_field_t *table;
    /** Bytes of the structure that it fills. */
    size_t size;
    /** Link of the list. */
    ucs_list_link_t list;
    /** Bits of `ucs_config_table_flags_t`. */
    uint8_t flags;
};

/** A bandwidth, of a named device or of any. */
struct ucs_config_bw_spec {
    /** The device. */
    char *name;
    /** Bytes a second. */
    double bw;
};

/**
 * Reads a string.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_string(const char *buf, void *dest, const void *arg);

/**
 * Writes a string.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_string(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies a string.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_string(const void *src, void *dest, const void *arg);

/**
 * Frees a string.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_string(void *ptr, const void *arg);

/**
 * Reads a whole number.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_int(const char *buf, void *dest, const void *arg);

/**
 * Writes a whole number.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_int(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies a whole number.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_int(const void *src, void *dest, const void *arg);

/**
 * Reads a whole number without a sign.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_uint(const char *buf, void *dest, const void *arg);

/**
 * Writes a whole number without a sign.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_uint(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies a whole number without a sign.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_uint(const void *src, void *dest, const void *arg);

/**
 * Reads a long whole number without a sign.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_ulong(const char *buf, void *dest, const void *arg);

/**
 * Writes a long whole number without a sign.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_ulong(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies a long whole number.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_ulong(const void *src, void *dest, const void *arg);

/**
 * Reads a number above 0, or "auto".
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_pos_double(const char *buf, void *dest, const void *arg);

/**
 * Writes a number above 0, or "auto".
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_pos_double(char *buf,
                                  size_t max,
                                  const void *src,
                                  const void *arg);

/**
 * Reads a number.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_double(const char *buf, void *dest, const void *arg);

/**
 * Writes a number.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_double(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies a number.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_double(const void *src, void *dest, const void *arg);

/**
 * Reads a hexadecimal number, or "auto".
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_hex(const char *buf, void *dest, const void *arg);

/**
 * Writes a hexadecimal number, or "auto".
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_hex(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads yes or no.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_bool(const char *buf, void *dest, const void *arg);

/**
 * Writes yes or no.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_bool(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads yes, no or try.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_ternary(const char *buf, void *dest, const void *arg);

/**
 * Reads yes, no, try or auto.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_ternary_auto(const char *buf, void *dest, const void *arg);

/**
 * Writes yes, no, try or auto.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_ternary_auto(char *buf,
                                    size_t max,
                                    const void *src,
                                    const void *arg);

/**
 * Reads on or off.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_on_off(const char *buf, void *dest, const void *arg);

/**
 * Reads on, off or auto.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_on_off_auto(const char *buf, void *dest, const void *arg);

/**
 * Writes on, off or auto.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_on_off_auto(char *buf,
                                   size_t max,
                                   const void *src,
                                   const void *arg);

/**
 * Reads a name, as its number.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_enum(const char *buf, void *dest, const void *arg);

/**
 * Writes a name.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_enum(char *buf, size_t max, const void *src, const void *arg);

/**
 * What texts are accepted: a name.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_enum(char *buf, size_t max, const void *arg);

/**
 * Reads a number or a name.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_uint_enum(const char *buf, void *dest, const void *arg);

/**
 * Writes a number or a name.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_uint_enum(char *buf, size_t max, const void *src, const void *arg);

/**
 * What texts are accepted: a number or a name.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_uint_enum(char *buf, size_t max, const void *arg);

/**
 * Reads names, as bits.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_bitmap(const char *buf, void *dest, const void *arg);

/**
 * Writes names.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_bitmap(char *buf, size_t max, const void *src, const void *arg);

/**
 * What texts are accepted: names.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_bitmap(char *buf, size_t max, const void *arg);

/**
 * Reads how many low bits a mask has.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_bitmask(const char *buf, void *dest, const void *arg);

/**
 * Writes how many bits a mask has.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_bitmask(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads a time, in seconds.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_time(const char *buf, void *dest, const void *arg);

/**
 * Writes a time, in seconds.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_time(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads a time, in ticks.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_time_units(const char *buf, void *dest, const void *arg);

/**
 * Writes a time in ticks.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_time_units(char *buf,
                                  size_t max,
                                  const void *src,
                                  const void *arg);

/**
 * Reads bytes a second.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_bw(const char *buf, void *dest, const void *arg);

/**
 * Writes bytes a second.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_bw(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads a device and its bandwidth.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_bw_spec(const char *buf, void *dest, const void *arg);

/**
 * Writes a device and its bandwidth.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_bw_spec(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies a device and its bandwidth.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_bw_spec(const void *src, void *dest, const void *arg);

/**
 * Frees the name of a device.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_bw_spec(void *ptr, const void *arg);

/**
 * Reads a signal.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_signo(const char *buf, void *dest, const void *arg);

/**
 * Writes a signal.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_signo(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads bytes.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_memunits(const char *buf, void *dest, const void *arg);

/**
 * Writes bytes.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_memunits(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads the same, or "inf" or "auto".
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_ulunits(const char *buf, void *dest, const void *arg);

/**
 * Writes the same, or "inf" or "auto".
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_ulunits(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads a range of numbers.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_range_spec(const char *buf, void *dest, const void *arg);

/**
 * Writes a range of numbers.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_range_spec(char *buf,
                                  size_t max,
                                  const void *src,
                                  const void *arg);

/**
 * Copies a range.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_range_spec(const void *src, void *dest, const void *arg);

/**
 * Reads an array with commas.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_array(const char *buf, void *dest, const void *arg);

/**
 * Writes an array with commas.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_array(char *buf, size_t max, const void *src, const void *arg);

/**
 * Reads an array with colons.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_path_array(const char *buf, void *dest, const void *arg);

/**
 * Writes an array with colons.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_path_array(char *buf,
                                  size_t max,
                                  const void *src,
                                  const void *arg);

/**
 * Copies an array.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_array(const void *src, void *dest, const void *arg);

/**
 * Frees an array.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_array(void *ptr, const void *arg);

/**
 * What texts are accepted: an array with commas.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_array(char *buf, size_t max, const void *arg);

/**
 * What texts are accepted: an array with colons.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_path_array(char *buf, size_t max, const void *arg);

/**
 * Reads what is allowed.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_allow_list(const char *buf, void *dest, const void *arg);

/**
 * Writes what is allowed.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_allow_list(char *buf,
                                  size_t max,
                                  const void *src,
                                  const void *arg);

/**
 * Copies what is allowed.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_allow_list(const void *src, void *dest, const void *arg);

/**
 * Frees a list of what is allowed.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_allow_list(void *ptr, const void *arg);

/**
 * What texts are accepted: what is allowed.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_allow_list(char *buf, size_t max, const void *arg);

/**
 * The same, where `x[1-3]` stands for three names.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_allow_list_with_ranges(const char *buf,
                                             void *dest,
                                             const void *arg);

/**
 * What texts are accepted: what is allowed, with ranges.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_allow_list_with_ranges(char *buf, size_t max, const void *arg);

/**
 * Fills a structure with the defaults of its table; the text has those that differ.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_table(const char *buf, void *dest, const void *arg);

/**
 * Copies the structure of a table.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_table(const void *src, void *dest, const void *arg);

/**
 * Frees what the structure of a table owns.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_table(void *ptr, const void *arg);

/**
 * What texts are accepted: none, as it is a table.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_table(char *buf, size_t max, const void *arg);

/**
 * Reads a value for each key.
 *
 * @param[in] buf Text, NUL-terminated.
 * @param[out] dest Place for the value; written on success only.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return 1, or 0 for a text that is not of the type.
 */
int ucs_config_sscanf_key_value(const char *buf, void *dest, const void *arg);

/**
 * Writes the value of each key.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] src The value.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return Characters of the whole text, at least 1; 0 when an argument is NULL.
 */
int ucs_config_sprintf_key_value(char *buf, size_t max, const void *src, const void *arg);

/**
 * Copies the value of each key.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_key_value(const void *src, void *dest, const void *arg);

/**
 * Frees the value of each key.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_key_value(void *ptr, const void *arg);

/**
 * What texts are accepted: keys and values.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_key_value(char *buf, size_t max, const void *arg);

/**
 * Appends a line for each key.
 *
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_doc_key_value(ucs_string_buffer_t *strb, const void *arg);

/**
 * Copies the level and the name of a component's log.
 *
 * @param[in] src The value.
 * @param[out] dest Place for the copy.
 * @param[in] arg What the type needs, as the table of options gives it.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_clone_log_comp(const void *src, void *dest, const void *arg);

/**
 * Frees nothing.
 *
 * @param[in] ptr The value; not to be used afterwards.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_release_nop(void *ptr, const void *arg);

/**
 * Says nothing of a type's values.
 *
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_doc_nop(ucs_string_buffer_t *strb, const void *arg);

/**
 * What texts are accepted: the string `arg`.
 *
 * @param[out] buf Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `buf`.
 * @param[in] arg What the type needs, as the table of options gives it.
 */
void ucs_config_help_generic(char *buf, size_t max, const void *arg);

/**
 * Fills a structure with the defaults of its table.
 *
 * @param[out] opts Structure that the table of options describes.
 * @param[in] fields Table of options, ended by an entry without a name.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when a default cannot be read.
 */
ucs_status_t ucs_config_parser_set_default_values(void *opts, ucs_config_field_t *fields);

/**
 * Reads a file of variables; with `override` it counts over others.
 *
 * @param[in] dir_path Folder of the file, NUL-terminated.
 * @param[in] file_name Name of the file, NUL-terminated.
 * @param[in] override Nonzero: its values replace those of files that were read before.
 */
void ucs_config_parse_config_file(const char *dir_path,
                                  const char *file_name,
                                  int override);

/** Reads the files of variables where that was not done yet. */
void ucs_config_parse_config_files(void);

/**
 * Copies a structure with all it owns.
 *
 * @param[in] src The structure.
 * @param[out] dst Place for the copy.
 * @param[in] fields Table of options, ended by an entry without a name.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when an argument is NULL; UCS_ERR_NO_MEMORY.
 */
ucs_status_t ucs_config_parser_clone_opts(const void *src,
                                          void *dst,
                                          ucs_config_field_t *fields);

/**
 * Frees what a structure owns.
 *
 * @param[in,out] opts The structure; what it owns is not to be used afterwards.
 * @param[in] fields Table of options, ended by an entry without a name.
 */
void ucs_config_parser_release_opts(void *opts, ucs_config_field_t *fields);

/**
 * Prints the options of a structure. `table_prefix`, `title` and `filter` may be NULL; `filter` selects names that
 * contain it.
 *
 * Releases before 1.19 do not pass a filter, and what is in its place is not a pointer; so it counts only when it
 * points at an argument of the program.
 *
 * @param[in] stream Open for writing.
 * @param[in] title Line before the options, NUL-terminated; NULL for none.
 * @param[in] opts Structure that the table of options describes.
 * @param[in] fields Table of options, ended by an entry without a name.
 * @param[in] table_prefix Prefix of the table, NUL-terminated; NULL for none.
 * @param[in] prefix Prefix of the variables, NUL-terminated.
 * @param[in] flags What to print.
 * @param[in] filter Part of the names to print, NUL-terminated; NULL for all.
 */
void ucs_config_parser_print_opts(FILE *stream,
                                  const char *title,
                                  const void *opts,
                                  ucs_config_field_t *fields,
                                  const char *table_prefix,
                                  const char *prefix,
                                  ucs_config_print_flags_t flags,
                                  const char *filter);

/**
 * Prints the tables of a list with the values that the environment gives them; for `ucs_config_global_list` those of
 * the library first. `prefix` is `UCX_`, or `<application>_UCX_`, or the client's own.
 *
 * `filter` is as for `ucs_config_parser_print_opts`.
 *
 * @param[in] stream Open for writing.
 * @param[in] prefix Prefix of the variables, such as `UCX_`, NUL-terminated.
 * @param[in] flags What to print.
 * @param[in] config_list List of tables.
 * @param[in] filter Part of the names to print, NUL-terminated; NULL for all.
 */
void ucs_config_parser_print_all_opts(FILE *stream,
                                      const char *prefix,
                                      ucs_config_print_flags_t flags,
                                      ucs_list_link_t *config_list,
                                      const char *filter);

/**
 * Writes the text of an option.
 *
 * @param[in] opts Structure that the table of options describes.
 * @param[in] fields Table of options, ended by an entry without a name.
 * @param[in] name Name of an option, NUL-terminated.
 * @param[out] value Gets the text with its NUL, cut to fit.
 * @param[in] max Bytes of `value`.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none of this name.
 */
ucs_status_t ucs_config_parser_get_value(void *opts,
                                         ucs_config_field_t *fields,
                                         const char *name,
                                         char *value,
                                         size_t max);

/**
 * Warns once for each prefix of variables with it that nobody has read.
 *
 * @param[in] env_prefix Prefix of the variables, such as `UCX_`, NUL-terminated.
 */
void ucs_config_parser_print_env_vars_once(const char *env_prefix);

/**
 * What a size of a configuration means: `auto_size` for "auto", at most `max_size`.
 *
 * @param[in] config_size The value of the option.
 * @param[in] auto_size What "auto" means.
 * @param[in] max_size Upper limit.
 * @return Bytes.
 */
size_t ucs_config_memunits_get(size_t config_size, size_t auto_size, size_t max_size);

/**
 * Number of the first pattern that a text matches, -1 when there is none.
 *
 * @param[in] config_names The patterns.
 * @param[in] str The text, NUL-terminated.
 * @return Number of the pattern, or -1.
 */
int ucs_config_names_search(const ucs_config_names_array_t *config_names,
                            const char *str);

/**
 * Appends the variables of the environment that were read, with a delimiter behind each.
 *
 * @param[in,out] env_strb Gets the text behind what it holds.
 * @param[in] delimiter Text between two, NUL-terminated.
 */
void ucs_config_parser_get_env_vars(ucs_string_buffer_t *env_strb, const char *delimiter);

/** Forgets the files of variables. */
void ucs_config_parser_cleanup(void);

/**
 * 1 when a table has an option of this name, behind `prefix`, else 0.
 *
 * @param[in] fields Table of options, ended by an entry without a name.
 * @param[in] prefix Prefix of the table, NUL-terminated; NULL for none.
 * @param[in] name Name of an option, NUL-terminated.
 * @return 1 or 0.
 */
int ucs_config_parser_has_field(const ucs_config_field_t *fields,
                                const char *prefix,
                                const char *name);

/**
 * 1 when a table of the library or of `ucs_config_global_list` has an option of this name, else 0.
 *
 *
 * @param[in] name Name of an option, NUL-terminated.
 * @return 1 or 0.
 */
int ucs_config_global_list_has_field(const char *name);

/**
 * 1 when a list allows nothing, else 0.
 *
 * @param[in] allow_list The list.
 * @return 1 or 0.
 */
int ucs_config_is_allow_list_empty(const ucs_config_allow_list_t *allow_list);

/**
 * 1 when none of several lists allows anything, else 0.
 *
 * @param[in] allow_lists The lists.
 * @param[in] count Their number.
 * @return 1 or 0.
 */
int ucs_config_are_all_allow_lists_empty(const ucs_config_allow_list_t *allow_lists,
                                         size_t count);

/**
 * Fills a structure: defaults, then what files and the environment say.
 *
 * @param[out] opts Structure that the table of the entry describes.
 * @param[in] entry The table with its prefix.
 * @param[in] env_prefix Prefix of the variables, such as `UCX_`, NUL-terminated.
 * @param[in] ignore_errors Nonzero: the default stays where a value cannot be read.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM when a value cannot be read.
 */
ucs_status_t ucs_config_parser_fill_opts(void *opts, ucs_config_global_list_entry_t *entry,
                                         const char *env_prefix, int ignore_errors);
/**
 * Changes an option by its name.
 *
 * @param[in,out] opts Structure that the table of options describes.
 * @param[in] fields Table of options, ended by an entry without a name.
 * @param[in] prefix Prefix of the table, with which the name begins; NULL for none.
 * @param[in] name Name of an option, NUL-terminated.
 * @param[in] value Text of the value, NUL-terminated.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none of this name; UCS_ERR_INVALID_PARAM for a text that
 *   cannot be read.
 */
ucs_status_t ucs_config_parser_set_value(void *opts, ucs_config_field_t *fields, const char *prefix,
                                         const char *name, const char *value);

/** Offset of an option that has no member any more: its variable is accepted and has no effect. */
#define UCS_CONFIG_DEPRECATED_FIELD_OFFSET SIZE_MAX
/** What UINT_ENUM stores for name number `_value`. */
#define UCS_CONFIG_UINT_ENUM_INDEX(_value) (UINT_MAX - (_value))
/** What POS_DOUBLE and BW store for "auto". */
#define UCS_CONFIG_DBL_AUTO            ((double)-2)
#define UCS_CONFIG_DBL_IS_AUTO(_value) (UCS_CONFIG_DBL_AUTO == (ssize_t)(_value))

/** Tables that programs register for printing. */
extern ucs_list_link_t ucs_config_global_list;

/** An entry without a table. */
#define UCS_CONFIG_EMPTY_GLOBAL_LIST_ENTRY {"", "", NULL, 0, {NULL, NULL}, 0}
/** Defines the entry of a table, as a static variable. */
#define UCS_CONFIG_DECLARE_TABLE(_table, _name, _prefix, _type) \
    static ucs_config_global_list_entry_t _table##_config_entry = \
            {(_name), (_prefix), (_table), sizeof(_type), {NULL, NULL}, 0};
/** The address of that entry. */
#define UCS_CONFIG_GET_TABLE(_table) (&_table##_config_entry)
/** Puts it into a list, and takes it out. */
#define UCS_CONFIG_ADD_TABLE(_table, _list) ucs_list_add_tail(_list, &UCS_CONFIG_GET_TABLE(_table)->list)
#define UCS_CONFIG_REMOVE_TABLE(_table)     ucs_list_del(&UCS_CONFIG_GET_TABLE(_table)->list)
/** Has an entry in a list while the object with this code is loaded. */
#define UCS_CONFIG_REGISTER_TABLE_ENTRY(_entry, _list) \
    UCS_STATIC_INIT \
    { \
        ucs_list_add_tail(_list, &(_entry)->list); \
    } \
    UCS_STATIC_CLEANUP \
    { \
        ucs_list_del(&(_entry)->list); \
    }
/** Both: an entry that is in a list while the object is loaded. */
#define UCS_CONFIG_REGISTER_TABLE(_table, _name, _prefix, _type, _list) \
    UCS_CONFIG_DECLARE_TABLE(_table, _name, _prefix, _type) \
    UCS_CONFIG_REGISTER_TABLE_ENTRY(UCS_CONFIG_GET_TABLE(_table), _list)

/** An array type: declared, and defined with the size of a value and how a value is read. */
#define UCS_CONFIG_DECLARE_ARRAY(_name) extern ucs_config_array_t ucs_config_array_##_name;
#define UCS_CONFIG_DEFINE_ARRAY(_name, _elem_size, ...) \
    ucs_config_array_t ucs_config_array_##_name = {(_elem_size), __VA_ARGS__};
/** Arrays of strings. */
extern ucs_config_array_t ucs_config_array_string;

/* How a member is read, by its type. */

#define UCS_CONFIG_TYPE_FROM(_read, _write, _clone, _release, _help, _arg) \
    {ucs_config_sscanf_##_read, ucs_config_sprintf_##_write, ucs_config_clone_##_clone, \
     ucs_config_release_##_release, ucs_config_help_##_help, ucs_config_doc_nop, _arg}

/** char* */
#define UCS_CONFIG_TYPE_STRING \
    UCS_CONFIG_TYPE_FROM(string, string, string, string, generic, \
                         "string")
/** int */
#define UCS_CONFIG_TYPE_INT \
    UCS_CONFIG_TYPE_FROM(int, int, int, nop, generic, \
                         "integer")
/** unsigned */
#define UCS_CONFIG_TYPE_UINT \
    UCS_CONFIG_TYPE_FROM(uint, uint, uint, nop, generic, \
                         "unsigned integer")
/** unsigned long */
#define UCS_CONFIG_TYPE_ULONG \
    UCS_CONFIG_TYPE_FROM(ulong, ulong, ulong, nop, generic, \
                         "unsigned long")
/** unsigned long */
#define UCS_CONFIG_TYPE_ULUNITS \
    UCS_CONFIG_TYPE_FROM(ulunits, ulunits, ulong, nop, generic, \
                         "unsigned long: <number>, \"inf\", or \"auto\"")
/** double */
#define UCS_CONFIG_TYPE_DOUBLE \
    UCS_CONFIG_TYPE_FROM(double, double, double, nop, generic, \
                         "floating point number")
/** double */
#define UCS_CONFIG_TYPE_POS_DOUBLE \
    UCS_CONFIG_TYPE_FROM(pos_double, pos_double, double, nop, generic, \
                         "positive floating point number or \"auto\"")
/** unsigned */
#define UCS_CONFIG_TYPE_HEX \
    UCS_CONFIG_TYPE_FROM(hex, hex, uint, nop, generic, \
                         "hex representation of a number or \"auto\"")
/** int */
#define UCS_CONFIG_TYPE_BOOL \
    UCS_CONFIG_TYPE_FROM(bool, bool, int, nop, generic, \
                         "<y|n>")
/** ucs_ternary_auto_value_t */
#define UCS_CONFIG_TYPE_TERNARY \
    UCS_CONFIG_TYPE_FROM(ternary, ternary_auto, int, nop, generic, \
                         "<yes|no|try>")
/** ucs_ternary_auto_value_t */
#define UCS_CONFIG_TYPE_TERNARY_AUTO \
    UCS_CONFIG_TYPE_FROM(ternary_auto, ternary_auto, int, nop, generic, \
                         "<yes|no|try|auto>")
/** ucs_on_off_auto_value_t */
#define UCS_CONFIG_TYPE_ON_OFF \
    UCS_CONFIG_TYPE_FROM(on_off, on_off_auto, int, nop, generic, \
                         "<on|off>")
/** ucs_on_off_auto_value_t */
#define UCS_CONFIG_TYPE_ON_OFF_AUTO \
    UCS_CONFIG_TYPE_FROM(on_off_auto, on_off_auto, int, nop, generic, \
                         "<on|off|auto>")
/** unsigned */
#define UCS_CONFIG_TYPE_BITMASK \
    UCS_CONFIG_TYPE_FROM(bitmask, bitmask, uint, nop, generic, \
                         "bit count")
/** double, in seconds */
#define UCS_CONFIG_TYPE_TIME \
    UCS_CONFIG_TYPE_FROM(time, time, double, nop, generic, \
                         "time value: <number>[m|s|ms|us|ns]")
/** unsigned long, in ticks */
#define UCS_CONFIG_TYPE_TIME_UNITS \
    UCS_CONFIG_TYPE_FROM(time_units, time_units, ulong, nop, generic, \
                         "time value: <number>[m|s|ms|us|ns], \"inf\", or \"auto\"")
/** double, in bytes a second */
#define UCS_CONFIG_TYPE_BW \
    UCS_CONFIG_TYPE_FROM(bw, bw, double, nop, generic, \
                         "bandwidth value: <number>[T|G|M|K]B|b[[p|/]s] or \"auto\"")
/** ucs_config_bw_spec_t */
#define UCS_CONFIG_TYPE_BW_SPEC \
    UCS_CONFIG_TYPE_FROM(bw_spec, bw_spec, bw_spec, bw_spec, generic, \
                         "device_name:<number>[T|G|M|K]B|b[[p|/]s] or device_name:auto")
/** int */
#define UCS_CONFIG_TYPE_SIGNO \
    UCS_CONFIG_TYPE_FROM(signo, signo, int, nop, generic, \
                         "system signal (number or SIGxxx)")
/** size_t */
#define UCS_CONFIG_TYPE_MEMUNITS \
    UCS_CONFIG_TYPE_FROM(memunits, memunits, ulong, nop, generic, \
                         "memory units: <number>[b|kb|mb|gb], \"inf\", or \"auto\"")
/** ucs_range_spec_t */
#define UCS_CONFIG_TYPE_RANGE_SPEC \
    UCS_CONFIG_TYPE_FROM(range_spec, range_spec, range_spec, nop, generic, \
                         "numbers range: <number>-<number>")
/** unsigned; `t` lists the names of its values and ends with NULL. */
#define UCS_CONFIG_TYPE_ENUM(t) \
    UCS_CONFIG_TYPE_FROM(enum, enum, uint, nop, enum, t)
/** The same, or a number. */
#define UCS_CONFIG_TYPE_UINT_ENUM(t) \
    UCS_CONFIG_TYPE_FROM(uint_enum, uint_enum, uint, nop, uint_enum, t)
/** unsigned: the bits of some of the names. */
#define UCS_CONFIG_TYPE_BITMAP(t) \
    UCS_CONFIG_TYPE_FROM(bitmap, bitmap, uint, nop, bitmap, t)
/** ucs_log_component_config_t: the level. */
#define UCS_CONFIG_TYPE_LOG_COMP \
    UCS_CONFIG_TYPE_FROM(enum, enum, log_comp, nop, enum, ucs_log_level_names)
/** UCS_CONFIG_ARRAY_FIELD: values of an array type `a`, with commas between. */
#define UCS_CONFIG_TYPE_ARRAY(a) \
    UCS_CONFIG_TYPE_FROM(array, array, array, array, array, &ucs_config_array_##a)
/** UCS_CONFIG_STRING_ARRAY_FIELD: paths, with colons between. */
#define UCS_CONFIG_TYPE_PATH_ARRAY \
    UCS_CONFIG_TYPE_FROM(path_array, path_array, array, array, path_array, &ucs_config_array_string)
/** ucs_config_allow_list_t. */
#define UCS_CONFIG_TYPE_ALLOW_LIST \
    UCS_CONFIG_TYPE_FROM(allow_list, allow_list, allow_list, allow_list, allow_list, &ucs_config_array_string)
/** The same; a name may have a range of numbers in brackets. */
#define UCS_CONFIG_TYPE_ALLOW_LIST_WITH_RANGES \
    UCS_CONFIG_TYPE_FROM(allow_list_with_ranges, allow_list, allow_list, allow_list, allow_list_with_ranges, &ucs_config_array_string)
/** UCS_CONFIG_STRING_ARRAY_FIELD: strings, with commas between. */
#define UCS_CONFIG_TYPE_STRING_ARRAY UCS_CONFIG_TYPE_ARRAY(string)
/** The members of another table, at the offset. */
#define UCS_CONFIG_TYPE_TABLE(t) \
    {ucs_config_sscanf_table, NULL, ucs_config_clone_table, ucs_config_release_table, \
     ucs_config_help_table, ucs_config_doc_nop, t}
/** Values of one type by the keys that follow, each a `ucs_config_key_field_t`. */
#define UCS_CONFIG_TYPE_KEY_VALUE(_value, ...) \
    {ucs_config_sscanf_key_value, ucs_config_sprintf_key_value, ucs_config_clone_key_value, \
     ucs_config_release_key_value, ucs_config_help_key_value, ucs_config_doc_key_value, \
     (const ucs_config_key_value_param_t[]){{_value, (const ucs_config_key_field_t[]){__VA_ARGS__}}}}
/** An option at UCS_CONFIG_DEPRECATED_FIELD_OFFSET. */
#define UCS_CONFIG_TYPE_DEPRECATED \
    {(ucs_field_type(ucs_config_parser_t, read))ucs_empty_function_do_assert, \
     (ucs_field_type(ucs_config_parser_t, write))ucs_empty_function_do_assert, \
     (ucs_field_type(ucs_config_parser_t, clone))ucs_empty_function_do_assert, \
     (ucs_field_type(ucs_config_parser_t, release))ucs_empty_function_do_assert, \
     (ucs_field_type(ucs_config_parser_t, help))ucs_empty_function_do_assert, ucs_config_doc_nop, ""}

END_C_DECLS

#endif
