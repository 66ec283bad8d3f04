/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_STATS_LIBSTATS_H
#define FERRUCX_UCS_STATS_LIBSTATS_H

#include <ucs/datastruct/list.h>
#include <ucs/stats/stats_fwd.h>
#include <ucs/sys/math.h>
#include <ucs/type/status.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

BEGIN_C_DECLS

/** The port of a server of statistics. */
#define UCS_STATS_DEFAULT_UDP_PORT 37873
/** Longest name, without its NUL. */
#define UCS_STAT_NAME_MAX 39

/* For printf. */
#define UCS_STATS_NODE_FMT                 "%s%s"
#define UCS_STATS_NODE_ARG(_node)          (_node)->cls->name, (_node)->name
#define UCS_STATS_INDENT(_is_sum, _indent) ((_is_sum) ? 0 : (2 * (_indent))), ""
/** Nonzero while a mask has counters above a number. */
#define UCS_STATS_IS_LAST_COUNTER(_counters_bits, _current) \
    ((_counters_bits) > ((2ull << (_current)) - 1))

/** A kind of statistics, with the names of its counters. */
struct ucs_stats_class {
    /** Name, NUL-terminated. */
    const char *name;
    /** Number of counters. */
    unsigned num_counters;
    /** Number of the class. */
    unsigned class_id;
    /** Name of each counter. */
    __extension__ const char *counter_names[];
};

/** Write nodes that have ended. */
#define UCS_STATS_SERIALIZE_INACTVIVE UCS_BIT(0)

/** Write binary data. */
#define UCS_STATS_SERIALIZE_BINARY UCS_BIT(1)

/** Compress them. */
#define UCS_STATS_SERIALIZE_COMPRESS UCS_BIT(2)

/** Children of a node. */
enum ucs_stats_children_sel {
    /** Those that have ended. */
    UCS_STATS_INACTIVE_CHILDREN = 0,
    /** Those that live. */
    UCS_STATS_ACTIVE_CHILDREN = 1,
    /** Number of choices. */
    UCS_STATS_CHILDREN_LAST = 2,
};

typedef enum ucs_stats_children_sel ucs_stats_children_sel_t;

/** Sends statistics. */
struct ucs_stats_client;

/** Collects statistics of other processes. */
struct ucs_stats_server;

typedef struct ucs_stats_server *ucs_stats_server_h;
typedef struct ucs_stats_client *ucs_stats_client_h;

/** Statistics of one object. */
struct ucs_stats_node {
    /** Kind of the statistics. */
    ucs_stats_class_t *cls;
    /** The node above. */
    ucs_stats_node_t *parent;
    /** Name, NUL-terminated. */
    char name[40];
    /** Its place among the parent's children. */
    ucs_list_link_t list;
    /** Ended and living children. */
    ucs_list_link_t children[2];
    /** Its place among those of the same classes. */
    ucs_list_link_t type_list;
    /** What is printed of it. */
    ucs_stats_filter_node_t *filter_node;
    /** As many as the class has. */
    ucs_stats_counter_t counters[1];
};

/** What is printed of the nodes of the same classes. */
struct ucs_stats_filter_node {
    /** The node above. */
    ucs_stats_filter_node_t *parent;
    /** Its place among the parent's children. */
    ucs_list_link_t list;
    /** The nodes below. */
    ucs_list_link_t children;
    /** The nodes. */
    ucs_list_link_t type_list_head;
    /** How many. */
    int type_list_len;
    /** Nonzero to print them. */
    int ref_count;
    /** The counters to print. */
    uint64_t counters_bitmask;
};

END_C_DECLS

#endif
