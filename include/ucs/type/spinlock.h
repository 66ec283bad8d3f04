/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_TYPE_SPINLOCK_H
#define FERRUCX_UCS_TYPE_SPINLOCK_H

#include <ucs/async/async_fwd.h>
#include <ucs/type/status.h>
#include <errno.h>
#include <pthread.h>

BEGIN_C_DECLS

/** Flags of a lock. */
enum ucs_spinlock_flag_shared_bits {
    /** It is in memory that processes share. */
    UCS_SPINLOCK_FLAG_SHARED = UCS_BIT(0),
};

typedef struct ucs_spinlock ucs_spinlock_t;
typedef struct ucs_recursive_spinlock ucs_recursive_spinlock_t;

/** A lock that spins. */
struct ucs_spinlock {
    /** The lock of the C library. */
    pthread_spinlock_t lock;
};

/** A lock that its owner may take again. */
struct ucs_recursive_spinlock {
    /** The lock. */
    ucs_spinlock_t super;
    /** How often the owner has it. */
    int count;
    /** The owner. */
    pthread_t owner;
};

/**
 * Ends a lock, which nobody holds.
 *
 * @param[in,out] lock The lock.
 */
void ucs_spinlock_destroy(ucs_spinlock_t *lock);

/**
 * The same for a lock that its owner may take again.
 *
 * @param[in,out] lock The lock.
 */
void ucs_recursive_spinlock_destroy(ucs_recursive_spinlock_t *lock);

/**
 * 1 when a thread holds the lock, else 0.
 *
 * @param[in,out] lock The lock.
 * @return 1 or 0.
 */
int ucs_spinlock_is_held(ucs_spinlock_t *lock);

/**
 * The same for a lock that its owner may take again.
 *
 * @param[in,out] lock The lock.
 * @return 1 or 0.
 */
int ucs_recursive_spinlock_is_held(const ucs_recursive_spinlock_t *lock);

/**
 * Prepares a lock; `flags` of 0, or UCS_SPINLOCK_FLAG_SHARED for one in shared memory.
 *
 * @param[in,out] lock The lock.
 * @param[in] flags 0, or UCS_SPINLOCK_FLAG_SHARED for a lock in shared memory.
 * @return UCS_OK or UCS_ERR_IO_ERROR.
 */
static inline ucs_status_t ucs_spinlock_init(ucs_spinlock_t *lock, int flags)
{
    const int shared = (flags & UCS_SPINLOCK_FLAG_SHARED) ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
    return (pthread_spin_init(&lock->lock, shared) == 0) ? UCS_OK : UCS_ERR_IO_ERROR;
}

/**
 * Takes a lock; waits for it without sleeping.
 *
 * @param[in,out] lock The lock.
 */
static inline void ucs_spin_lock(ucs_spinlock_t *lock)
{
    (void)pthread_spin_lock(&lock->lock);
}

/**
 * 1 when the lock was taken, 0 when another thread has it.
 *
 * @param[in,out] lock The lock.
 * @return 1 or 0.
 */
static inline int ucs_spin_try_lock(ucs_spinlock_t *lock)
{
    return pthread_spin_trylock(&lock->lock) == 0;
}

/**
 * Gives a lock back, which this thread holds.
 *
 * @param[in,out] lock The lock.
 */
static inline void ucs_spin_unlock(ucs_spinlock_t *lock)
{
    (void)pthread_spin_unlock(&lock->lock);
}

/**
 * Prepares a lock that its owner may take again.
 *
 * @param[in,out] lock The lock.
 * @param[in] flags 0, or UCS_SPINLOCK_FLAG_SHARED for a lock in shared memory.
 * @return UCS_OK or UCS_ERR_IO_ERROR.
 */
static inline ucs_status_t ucs_recursive_spinlock_init(ucs_recursive_spinlock_t *lock, int flags)
{
    lock->owner = UCS_ASYNC_PTHREAD_ID_NULL;
    lock->count = 0;
    return ucs_spinlock_init(&lock->super, flags);
}

/**
 * Tells whether a thread holds the lock.
 *
 * @param[in,out] lock The lock.
 * @param[in] self The thread.
 * @return Nonzero or 0.
 */
static inline int ucs_recursive_spin_is_owner(const ucs_recursive_spinlock_t *lock, pthread_t self)
{
    return lock->owner == self;
}

/**
 * Takes a lock that its owner may take again; waits for it without sleeping.
 *
 * @param[in,out] lock The lock.
 */
static inline void ucs_recursive_spin_lock(ucs_recursive_spinlock_t *lock)
{
    const pthread_t me = pthread_self();
    if (!ucs_recursive_spin_is_owner(lock, me)) {
        ucs_spin_lock(&lock->super);
        lock->owner = me;
    }
    lock->count++;
}

/**
 * 1 when the lock was taken, 0 when another thread has it.
 *
 * @param[in,out] lock The lock.
 * @return 1 or 0.
 */
static inline int ucs_recursive_spin_trylock(ucs_recursive_spinlock_t *lock)
{
    const pthread_t me = pthread_self();
    if (!ucs_recursive_spin_is_owner(lock, me)) {
        if (!ucs_spin_try_lock(&lock->super)) {
            return 0;
        }
        lock->owner = me;
    }
    lock->count++;
    return 1;
}

/**
 * Gives a lock back, which this thread holds, as often as it was taken.
 *
 * @param[in,out] lock The lock.
 */
static inline void ucs_recursive_spin_unlock(ucs_recursive_spinlock_t *lock)
{
    if (--lock->count == 0) {
        lock->owner = UCS_ASYNC_PTHREAD_ID_NULL;
        ucs_spin_unlock(&lock->super);
    }
}

END_C_DECLS

#endif
