/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_STATS_STATS_FWD_H
#define FERRUCX_UCS_STATS_STATS_FWD_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** Forms of statistics, which this library does not collect. */
enum ucs_stats_formats_t {
    /** Everything. */
    UCS_STATS_FULL = 0,
    /** Everything, added up. */
    UCS_STATS_FULL_AGG = 1,
    /** The sums. */
    UCS_STATS_SUMMARY = 2,
    /** Number of formats. */
    UCS_STATS_LAST = 3,
};

typedef enum ucs_stats_formats_t ucs_stats_formats_t;

/** A kind of statistics. */
struct ucs_stats_class;

typedef struct ucs_stats_node ucs_stats_node_t;
typedef struct ucs_stats_class ucs_stats_class_t;
typedef struct ucs_stats_filter_node ucs_stats_filter_node_t;

/** A counter of statistics. */
typedef uint64_t ucs_stats_counter_t;

/**
 * The root of the statistics tree: null, as statistics are off.
 *
 * @return NULL.
 */
ucs_stats_node_t *ucs_stats_get_root(void);

/** Names of the forms in which statistics are written; NULL after the last. */
extern const char *ucs_stats_formats_names[];

END_C_DECLS

#endif
