/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_SYS_EVENT_SET_H
#define FERRUCX_UCS_SYS_EVENT_SET_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** Events of a descriptor. */
enum ucs_event_set_type_t {
    /** It can be read. */
    UCS_EVENT_SET_EVREAD = UCS_BIT(0),
    /** It can be written. */
    UCS_EVENT_SET_EVWRITE = UCS_BIT(1),
    /** It failed. */
    UCS_EVENT_SET_EVERR = UCS_BIT(2),
    /** Report a change once. */
    UCS_EVENT_SET_EDGE_TRIGGERED = UCS_BIT(3),
};

typedef enum ucs_event_set_type_t ucs_event_set_type_t;

/** A set of descriptors to wait on. */
struct ucs_sys_event_set;

typedef struct ucs_sys_event_set ucs_sys_event_set_t;

/** Bits of `ucs_event_set_type_t`. */
typedef uint8_t ucs_event_set_types_t;

/**
 * Called for each descriptor with events.
 *
 * @param[in] callback_data Word that was given for the descriptor.
 * @param[in] events What happened.
 * @param[in] arg As it was given to `ucs_event_set_wait`.
 */
typedef void (*ucs_event_set_handler_t)(void *callback_data,
                                        ucs_event_set_types_t events,
                                        void *arg);

/**
 * Makes a set of an epoll descriptor that stays the caller's.
 *
 * @param[out] event_set_p The set.
 * @param[in] event_fd Descriptor of epoll_create(2).
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_event_set_create_from_fd(ucs_sys_event_set_t **event_set_p,
                                          int event_fd);

/**
 * Makes a set.
 *
 * @param[out] event_set_p The set.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_event_set_create(ucs_sys_event_set_t **event_set_p);

/**
 * Watches `fd`.
 *
 * @param[in,out] event_set Set of `ucs_event_set_create`.
 * @param[in] fd Descriptor.
 * @param[in] events Bits of `ucs_event_set_types_t`.
 * @param[in] callback_data Word that the handler gets.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_event_set_add(ucs_sys_event_set_t *event_set,
                               int fd,
                               ucs_event_set_types_t events,
                               void *callback_data);

/**
 * Changes events and word of a watched `fd`.
 *
 * @param[in,out] event_set Set of `ucs_event_set_create`.
 * @param[in] fd Descriptor.
 * @param[in] events Bits of `ucs_event_set_types_t`.
 * @param[in] callback_data Word that the handler gets.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_event_set_mod(ucs_sys_event_set_t *event_set,
                               int fd,
                               ucs_event_set_types_t events,
                               void *callback_data);

/**
 * Stops watching `fd`.
 *
 * @param[in,out] event_set Set of `ucs_event_set_create`.
 * @param[in] fd Descriptor.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_event_set_del(ucs_sys_event_set_t *event_set, int fd);

/**
 * Waits and hands events over; `*num_events` is the most to take and how many came.
 * `UCS_INPROGRESS` after a signal.
 *
 * @param[in,out] event_set Set of `ucs_event_set_create`.
 * @param[in,out] num_events Most events to take; then how many came.
 * @param[in] timeout_ms Milliseconds to wait; -1 for ever, 0 not at all.
 * @param[in] event_set_handler Called for each descriptor with events.
 * @param[in] arg Its last argument.
 * @return UCS_OK; UCS_INPROGRESS after a signal; an error.
 */
ucs_status_t ucs_event_set_wait(ucs_sys_event_set_t *event_set,
                                unsigned int *num_events,
                                int timeout_ms,
                                ucs_event_set_handler_t event_set_handler,
                                void *arg);

/**
 * Ends a set.
 *
 * @param[in] event_set Set; not to be used afterwards.
 */
void ucs_event_set_cleanup(ucs_sys_event_set_t *event_set);

/**
 * The descriptor that is readable while the set has events.
 *
 * @param[in,out] event_set Set of `ucs_event_set_create`.
 * @param[out] event_fd_p The descriptor; it belongs to the set.
 * @return UCS_OK, or an error; the cause is logged.
 */
ucs_status_t ucs_event_set_fd_get(ucs_sys_event_set_t *event_set, int *event_fd_p);

/** Most events that one wait reports. */
extern const unsigned ucs_sys_event_set_max_wait_events;

END_C_DECLS

#endif
