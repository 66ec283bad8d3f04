/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCT_API_VERSION_H
#define FERRUCX_UCT_API_VERSION_H

/** Version of the library. */
#define UCT_VERNO_MAJOR 1

/** Version of the library. */
#define UCT_VERNO_MINOR 22

/** Version of the library. */
#define UCT_VERNO_PATCH 0

#define UCT_VERNO_EXTRA  ""
#define UCT_VERNO_STRING "1.22.0"
/* No revision: the version says all. */
#define UCT_SCM_VERSION ""
#define UCT_SCM_BRANCH  ""

#define UCT_MINOR_BIT (16UL)
#define UCT_MAJOR_BIT (24UL)
/** A version as one number. */
#define UCT_VERSION(_major, _minor) (((_major) << UCT_MAJOR_BIT) | ((_minor) << UCT_MINOR_BIT))
/** The version of this interface as one number. */
#define UCT_API UCT_VERSION(1L, 22L)

#endif
