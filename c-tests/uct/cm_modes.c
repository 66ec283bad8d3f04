/* The tests of cm_connect.c in every mode of async contexts, where upstream's manager fails in some. */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#define CM_MODES \
    UCS_ASYNC_MODE_SIGNAL, UCS_ASYNC_MODE_THREAD_SPINLOCK, UCS_ASYNC_MODE_THREAD_MUTEX, UCS_ASYNC_MODE_POLL
#define CM_IN_CALLBACK 1
#include "uct/cm_connect.c"
