/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_CONFIG_PARSER_H
#define FERRUCX_UCS_CONFIG_PARSER_H

#include <ucs/config/types.h>
#include <ucs/datastruct/list.h>
#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stddef.h>
#include <stdio.h>

BEGIN_C_DECLS

/** What every environment variable of the library starts with. */
#define UCS_DEFAULT_ENV_PREFIX "UCX_"

enum ucs_config_table_flags_t {
    UCS_CONFIG_TABLE_FLAG_LOADED = UCS_BIT(0),
};

typedef enum ucs_config_table_flags_t ucs_config_table_flags_t;

typedef struct ucs_config_parser ucs_config_parser_t;
typedef struct ucs_config_array ucs_config_array_t;
typedef struct ucs_config_field ucs_config_field_t;
typedef struct ucs_config_key_field_t ucs_config_key_field_t;
typedef struct ucs_config_key_value_param_t ucs_config_key_value_param_t;
typedef struct ucs_config_cached_key ucs_config_cached_key_t;
typedef struct ucs_ib_port_spec ucs_ib_port_spec_t;
typedef struct ucs_range_spec ucs_range_spec_t;
typedef struct ucs_config_global_list_entry ucs_config_global_list_entry_t;
typedef struct ucs_config_bw_spec ucs_config_bw_spec_t;

struct ucs_config_parser {
    int (*read)(const char*, void*, const void*);
    int (*write)(char*, size_t, const void*, const void*);
    ucs_status_t (*clone)(const void*, void*, const void*);
    void (*release)(void*, const void*);
    void (*help)(char*, size_t, const void*);
    void (*doc)(ucs_string_buffer_t*, const void*);
    const void *arg;
};

struct ucs_config_array {
    size_t elem_size;
    ucs_config_parser_t parser;
};

struct ucs_config_field {
    const char *name;
    const char *dfl_value;
    const char *doc;
    size_t offset;
    ucs_config_parser_t parser;
};

struct ucs_config_key_field_t {
    const char *name;
    const char *doc;
    size_t offset;
};

struct ucs_config_key_value_param_t {
    ucs_config_parser_t parser;
    const ucs_config_key_field_t *keys;
};

struct ucs_config_cached_key {
    char *key;
    char *value;
    int used;
    ucs_list_link_t list;
};

struct ucs_ib_port_spec {
    char *device_name;
    unsigned int port_num;
};

struct ucs_range_spec {
    unsigned int first;
    unsigned int last;
};

struct ucs_config_global_list_entry {
    const char *name;
    const char *prefix;
    ucs_config_field_t *table;
    size_t size;
    ucs_list_link_t list;
    uint8_t flags;
};

struct ucs_config_bw_spec {
    char *name;
    double bw;
};

/** All registered tables, for printing. */
extern ucs_list_link_t ucs_config_global_list;

END_C_DECLS

#endif
