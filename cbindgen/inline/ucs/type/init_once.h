#include <ucs/sys/compiler_def.h>
#include <pthread.h>

BEGIN_C_DECLS

@ITEMS@

#define UCS_INIT_ONCE_INITIALIZER {PTHREAD_MUTEX_INITIALIZER, 0}

/**
 * Releases a lock; always 0, so that it can end a condition.
 *
 * @param[in,out] lock The lock, which this thread holds.
 * @return 0.
 */
static inline unsigned ucs_init_once_mutex_unlock(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
    return 0;
}

/** Runs the statement that follows once in a process; others wait for its end. It must not leave the loop. */
#define UCS_INIT_ONCE(_once) \
    for (pthread_mutex_lock(&(_once)->lock); \
         ((_once)->initialized == 0) || ucs_init_once_mutex_unlock(&(_once)->lock); \
         (_once)->initialized = 1)
/** Runs the statement that follows if UCS_INIT_ONCE ran, and allows that again. */
#define UCS_CLEANUP_ONCE(_once) \
    for (pthread_mutex_lock(&(_once)->lock); \
         ((_once)->initialized != 0) || ucs_init_once_mutex_unlock(&(_once)->lock); \
         (_once)->initialized = 0)

END_C_DECLS
