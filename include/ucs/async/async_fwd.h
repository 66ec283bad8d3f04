/* Written from the Rust sources by `make headers`: change those, not this file. */
#ifndef FERRUCX_UCS_ASYNC_ASYNC_FWD_H
#define FERRUCX_UCS_ASYNC_ASYNC_FWD_H

#include <ucs/config/types.h>
#include <ucs/sys/event_set.h>
#include <ucs/time/time_def.h>
#include <ucs/type/status.h>
#include <pthread.h>

BEGIN_C_DECLS

/** No thread. */
#define UCS_ASYNC_PTHREAD_ID_NULL ((pthread_t)-1)

/** What handlers of descriptors and timers belong to. */
struct ucs_async_context;

typedef struct ucs_async_context ucs_async_context_t;

/** Called on events of a descriptor or a timer. */
typedef void (*ucs_async_event_cb_t)(int id, ucs_event_set_types_t events, void *arg);

END_C_DECLS

#endif
