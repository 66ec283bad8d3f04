#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

@ITEMS@

/** Most events that one wait reports. */
extern const unsigned ucs_sys_event_set_max_wait_events;

END_C_DECLS
