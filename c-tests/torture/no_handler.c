/* The deaths of ucp/peer_death.c for endpoints without error handling: a forced close is refused or done, and destroying
 * the worker and the context return, with a peer that is gone and operations that never end. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
#define KILLS       0
#define KILLS_ASIDE 50
#include "ucp/peer_death.c"
