/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCP_API_UCP_VERSION_H
#define FERRUCX_UCP_API_UCP_VERSION_H

/** Where the major number stands in a version. */
#define UCP_VERSION_MAJOR_SHIFT 24

/** Where the minor number stands in a version. */
#define UCP_VERSION_MINOR_SHIFT 16

/** Version of this interface. */
#define UCP_API_MAJOR 1

/** Version of this interface. */
#define UCP_API_MINOR 22

/** A version as one number. */
#define UCP_VERSION(_major, _minor) \
    (((_major) << UCP_VERSION_MAJOR_SHIFT) | ((_minor) << UCP_VERSION_MINOR_SHIFT))
/** The version of this interface as one number. */
#define UCP_API_VERSION UCP_VERSION(UCP_API_MAJOR, UCP_API_MINOR)

#endif
