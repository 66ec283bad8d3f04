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

@ITEMS@

END_C_DECLS
