@ITEMS@

/** A version as one number. */
#define UCP_VERSION(_major, _minor) \
    (((_major) << UCP_VERSION_MAJOR_SHIFT) | ((_minor) << UCP_VERSION_MINOR_SHIFT))
/** The version of this interface as one number. */
#define UCP_API_VERSION UCP_VERSION(UCP_API_MAJOR, UCP_API_MINOR)
