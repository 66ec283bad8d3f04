/* The tests of cm_unauthenticated.c after the descriptors of the process ran out. */
/* env: UCX_LOG_LEVEL=diag UCX_TCP_CM_FAILURE=diag */
/* timeout: 60 */
/* valgrind: no, it keeps descriptors of its own and has its own idea of their limit */
#define CM_DESCRIPTORS
#include "uct/cm_unauthenticated.c"
