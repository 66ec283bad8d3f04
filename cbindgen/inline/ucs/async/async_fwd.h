#include <ucs/config/types.h>
#include <ucs/sys/event_set.h>
#include <ucs/time/time_def.h>
#include <ucs/type/status.h>
#include <pthread.h>

BEGIN_C_DECLS

/** No thread. */
#define UCS_ASYNC_PTHREAD_ID_NULL ((pthread_t)-1)

@ITEMS@

END_C_DECLS
