/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
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

/**
 * Called on events of a descriptor or a timer.
 *
 * @param[in] id The descriptor, or the timer's number.
 * @param[in] events What happened; 0 for a timer.
 * @param[in] arg As it was given with the handler.
 */
typedef void (*ucs_async_event_cb_t)(int id, ucs_event_set_types_t events, void *arg);

/**
 * Calls `cb` when `event_fd` has one of `events`.
 *
 * @param[in] mode Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
 * @param[in] event_fd Descriptor to watch.
 * @param[in] events Bits of `ucs_event_set_types_t`.
 * @param[in] cb Called on events.
 * @param[in] arg Its last argument.
 * @param[in] async Context of `ucs_async_context_create`; NULL for the library's own.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_async_set_event_handler(ucs_async_mode_t mode,
                                         int event_fd,
                                         ucs_event_set_types_t events,
                                         ucs_async_event_cb_t cb,
                                         void *arg,
                                         ucs_async_context_t *async);

/**
 * Calls `cb` every `interval` ticks of `ucs_get_time`; the handler's id is from 1000000 on.
 *
 *
 * @param[in] mode Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
 * @param[in] interval Ticks of `ucs_get_time`.
 * @param[in] cb Called each time.
 * @param[in] arg Its last argument.
 * @param[in] async Context of `ucs_async_context_create`; NULL for the library's own.
 * @param[out] timer_id_p The timer's number.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_async_add_timer(ucs_async_mode_t mode,
                                 ucs_time_t interval,
                                 ucs_async_event_cb_t cb,
                                 void *arg,
                                 ucs_async_context_t *async,
                                 int *timer_id_p);

/**
 * Removes a handler, also from inside its callback; with `sync`, waits for a callback on another
 * thread. `UCS_ERR_NO_ELEM` for an unknown id.
 *
 * @param[in] id The descriptor, or the timer's number.
 * @param[in] sync Nonzero: waits for a callback on another thread.
 * @return UCS_OK; UCS_ERR_NO_ELEM for an unknown number.
 */
ucs_status_t ucs_async_remove_handler(int id,
                                      int sync);

/**
 * Changes what a descriptor's handler waits for.
 *
 * @param[in] fd Descriptor that has a handler.
 * @param[in] events Bits of `ucs_event_set_types_t`.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_async_modify_handler(int fd, ucs_event_set_types_t events);

/**
 * Makes a context that `ucs_async_context_destroy` frees. Modes are poll, thread (spinlock or
 * mutex) and signal, which is served by the async thread.
 *
 * @param[in] mode Who calls back: the caller of `ucs_async_poll`, the async thread, or a signal.
 * @param[out] async_p The context.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_async_context_create(ucs_async_mode_t mode,
                                      ucs_async_context_t **async_p);

/**
 * Ends a context made by `ucs_async_context_create`. Handlers that are still registered live on,
 * with a warning.
 *
 * @param[in] async Context; not to be used afterwards.
 */
void ucs_async_context_destroy(ucs_async_context_t *async);

/**
 * Runs what is ready in a context, or in all for null.
 *
 * @param[in] async The context; NULL for all.
 */
void ucs_async_poll(ucs_async_context_t *async);

/**
 * Runs what a context missed while it was blocked. Declared in `ucs/async/async_fwd.h` for inline
 * code of upstream.
 *
 * @param[in] async The context.
 */
void __ucs_async_poll_missed(ucs_async_context_t *async);

END_C_DECLS

#endif
