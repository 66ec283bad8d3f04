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

@ITEMS@

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
