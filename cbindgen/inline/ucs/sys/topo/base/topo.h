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


END_C_DECLS
