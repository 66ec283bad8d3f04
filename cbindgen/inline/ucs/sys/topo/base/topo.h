#include <ucs/datastruct/list.h>
#include <ucs/memory/numa.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/status.h>
#include <limits.h>
#include <stdio.h>

BEGIN_C_DECLS

/** System devices that can be known at a time. */
#define UCS_SYS_DEVICE_ID_MAX UINT8_MAX
/** No device, or one that is not known. */
#define UCS_SYS_DEVICE_ID_UNKNOWN UINT8_MAX
/** A device without a user value. */
#define UCS_SYS_DEVICE_USER_VALUE_EMPTY UINTPTR_MAX

@ITEMS@

/** The distance of devices that stand nowhere in particular. */
extern const ucs_sys_dev_distance_t ucs_topo_default_distance;
/** The distance of what cannot reach each other. */
extern const ucs_sys_dev_distance_t ucs_topo_max_distance;


END_C_DECLS
