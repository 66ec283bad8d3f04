/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_SYS_EVENT_SET_H
#define FERRUCX_UCS_SYS_EVENT_SET_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

enum ucs_event_set_type_t {
    UCS_EVENT_SET_EVREAD = UCS_BIT(0),
    UCS_EVENT_SET_EVWRITE = UCS_BIT(1),
    UCS_EVENT_SET_EVERR = UCS_BIT(2),
    UCS_EVENT_SET_EDGE_TRIGGERED = UCS_BIT(3),
};

typedef enum ucs_event_set_type_t ucs_event_set_type_t;

struct ucs_sys_event_set;

typedef struct ucs_sys_event_set ucs_sys_event_set_t;

typedef uint8_t ucs_event_set_types_t;

typedef void (*ucs_event_set_handler_t)(void *callback_data,
                                        ucs_event_set_types_t events,
                                        void *arg);

/** Most events that one wait reports. */
extern const unsigned ucs_sys_event_set_max_wait_events;

END_C_DECLS

#endif
