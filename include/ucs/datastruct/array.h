/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_ARRAY_H
#define FERRUCX_UCS_DATASTRUCT_ARRAY_H

#include <ucs/sys/compiler_def.h>
#include <ucs/sys/math.h>
#include <ucs/sys/preprocessor.h>
#include <ucs/type/status.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

BEGIN_C_DECLS

/* An array with a length. It lies on the heap and grows, or lies in storage of the caller and is full at some time. */

/** The structure: `length` of `capacity` elements are in use. The highest bit of the index says whose storage it is. */
#define ucs_array_s(_index_type, _value_type) \
    struct { \
        _value_type *buffer; \
        _index_type length; \
        _index_type capacity : ((sizeof(_index_type) * CHAR_BIT) - 1); \
        uint8_t     is_fixed : 1; \
    }
/** A name for such a structure. The index has to be unsigned. */
#define UCS_ARRAY_DECLARE_TYPE(_array_type, _index_type, _value_type) \
    typedef ucs_array_s(_index_type, _value_type) _array_type

/** An empty array that grows. */
#define UCS_ARRAY_DYNAMIC_INITIALIZER {NULL, 0, 0, 0}
/** An empty array in `_capacity` elements of the caller. */
#define UCS_ARRAY_FIXED_INITIALIZER(_buffer, _capacity) {(_buffer), 0, (_capacity), 1}
/** Room for `_capacity` elements on the stack. */
#define UCS_ARRAY_ALLOC_ONSTACK(_array_type, _capacity) \
    ((ucs_typeof(((_array_type*)NULL)->buffer))__builtin_alloca( \
            (_capacity) * sizeof(*((_array_type*)NULL)->buffer)))
/** Defines an empty array with room for `_capacity` elements on the stack. */
#define UCS_ARRAY_DEFINE_ONSTACK(_array_type, _var, _capacity) \
    _array_type _var = UCS_ARRAY_FIXED_INITIALIZER(UCS_ARRAY_ALLOC_ONSTACK(_array_type, _capacity), \
                                                   (_capacity))

/**
 * Frees the storage of an array.
 *
 * @param[in] buffer The storage; NULL does nothing.
 */
void ucs_array_buffer_free(void *buffer);

/**
 * Moves an array to more room; part of the macros of this header.
 *
 * @param[in,out] buffer_p The storage.
 * @param[in,out] capacity_p Elements that fit.
 * @param[in] min_capacity Elements that shall fit.
 * @param[in] max_capacity Elements that may fit at most.
 * @param[in] value_size Bytes of an element.
 * @param[out] old_buffer_p Gets the storage of before, which the caller frees; NULL: it is freed.
 * @param[in] array_name Name for messages, NUL-terminated.
 * @return UCS_OK; UCS_ERR_NO_MEMORY; UCS_ERR_EXCEEDS_LIMIT.
 */
ucs_status_t ucs_array_grow(void **buffer_p,
                            size_t *capacity_p,
                            size_t min_capacity,
                            size_t max_capacity,
                            size_t value_size,
                            void **old_buffer_p,
                            const char *array_name);

#define ucs_array_set_storage(_array, _buffer, _capacity, _is_fixed) \
    { \
        (_array)->buffer   = (_buffer); \
        (_array)->length   = 0; \
        (_array)->capacity = (_capacity); \
        (_array)->is_fixed = (_is_fixed); \
    }
/** Makes an empty array that grows; a statement. */
#define ucs_array_init_dynamic(_array) ucs_array_set_storage(_array, NULL, 0, 0)
/** Makes an empty array in storage of the caller; a statement. */
#define ucs_array_init_fixed(_array, _buffer, _capacity) \
    ucs_array_set_storage(_array, _buffer, _capacity, 1)
/** Frees the storage of an array that grows; a statement. */
#define ucs_array_cleanup_dynamic(_array) \
    { \
        ucs_array_buffer_free((void*)(_array)->buffer); \
    }

#define ucs_array_length(_array)   ((_array)->length)
#define ucs_array_capacity(_array) ((_array)->capacity)
#define ucs_array_is_fixed(_array) ((_array)->is_fixed)
#define ucs_array_is_empty(_array) ((_array)->length == 0)
/** Most elements that the type of the index can count, less its highest bit. */
#define ucs_array_max_capacity(_array) UCS_MASK((sizeof((_array)->length) * CHAR_BIT) - 1)
/** How many elements fit in without growing. */
#define ucs_array_available_length(_array) ((_array)->capacity - (_array)->length)
/** An element that exists. */
#define ucs_array_elem(_array, _index) ((_array)->buffer[_index])
/** The first element, the last one, and the place behind it. */
#define ucs_array_begin(_array) ((_array)->buffer)
#define ucs_array_end(_array)   (&(_array)->buffer[(_array)->length])
#define ucs_array_last(_array)  (ucs_array_end(_array) - 1)
/** Walks the elements. */
#define ucs_array_for_each(_elem, _array) \
    ucs_carray_for_each(_elem, (_array)->buffer, (_array)->length)

/** Says how many elements are in use, up to the capacity; a statement. */
#define ucs_array_set_length(_array, _new_length) \
    { \
        (_array)->length = (_new_length); \
    }
/** Takes all elements out; a statement. */
#define ucs_array_clear(_array) ucs_array_set_length(_array, 0)
/** Takes the last element out; the value is the new length. */
#define ucs_array_pop_back(_array) (--(_array)->length)

/**
 * Makes a pointer NULL that is not NULL itself.
 *
 * @param[out] old_buffer_p The pointer's place, or NULL.
 */
static UCS_F_ALWAYS_INLINE void ucs_array_old_buffer_set_null(void **old_buffer_p)
{
    if (old_buffer_p) {
        *old_buffer_p = NULL;
    }
}

/**
 * Makes room for `_min_capacity` elements. With a place to put it, the old storage is not freed but handed out when
 * the array moves, and NULL else. The value is UCS_OK or UCS_ERR_NO_MEMORY.
 */
#define ucs_array_reserve_safe(_array, _min_capacity, _old_buffer_p) \
    __extension__ ({ \
        ucs_status_t ucs_array_status = UCS_OK; \
        UCS_STATIC_ASSERT(ucs_is_unsigned_type(ucs_typeof((_array)->length))); \
        if (ucs_likely((_array)->capacity >= (_min_capacity))) { \
            ucs_array_old_buffer_set_null((void**)(_old_buffer_p)); \
        } else if ((_array)->is_fixed) { \
            ucs_array_status = UCS_ERR_NO_MEMORY; \
        } else { \
            size_t ucs_array_room = (_array)->capacity; \
            ucs_array_status = ucs_array_grow((void**)&(_array)->buffer, &ucs_array_room, (_min_capacity), \
                                              ucs_array_max_capacity(_array), \
                                              sizeof(*(_array)->buffer), (void**)(_old_buffer_p), \
                                              UCS_PP_MAKE_STRING(_array)); \
            if (ucs_array_status == UCS_OK) { \
                (_array)->capacity = ucs_array_room; \
            } \
        } \
        ucs_array_status; \
    })
#define ucs_array_reserve(_array, _min_capacity) ucs_array_reserve_safe(_array, _min_capacity, NULL)

/**
 * Adds an element without a value; where it is, or NULL after `_failed_actions` where there is no memory. The old
 * storage is handed out as by `ucs_array_reserve_safe`.
 */
#define ucs_array_append_safe(_array, _old_buffer_p, _failed_actions) \
    __extension__ ({ \
        ucs_typeof((_array)->buffer) ucs_array_added = NULL; \
        if (ucs_likely(ucs_array_reserve_safe(_array, (_array)->length + 1, _old_buffer_p) == UCS_OK)) { \
            ucs_array_added = &(_array)->buffer[(_array)->length++]; \
        } else { \
            _failed_actions; \
        } \
        ucs_array_added; \
    })
#define ucs_array_append(_array, _failed_actions) ucs_array_append_safe(_array, NULL, _failed_actions)
/** The same, for an array that is known to have room. */
#define ucs_array_append_fixed(_array) ucs_array_append(_array, abort())

/** Gives an array a length; new elements get a value; a statement. */
#define ucs_array_resize(_array, _new_length, _init_value, _failed_actions) \
    { \
        if (ucs_array_reserve(_array, _new_length) == UCS_OK) { \
            ucs_typeof((_array)->length) ucs_array_at = (_array)->length; \
            for (; ucs_array_at < (_new_length); ++ucs_array_at) { \
                (_array)->buffer[ucs_array_at] = (_init_value); \
            } \
            (_array)->length = (_new_length); \
        } else { \
            _failed_actions; \
        } \
    }

/** Takes the storage away from an array that grows, which is empty then; the caller frees it. */
#define ucs_array_extract_buffer(_array) \
    __extension__ ({ \
        ucs_typeof((_array)->buffer) ucs_array_taken = (_array)->buffer; \
        ucs_array_init_dynamic(_array); \
        ucs_array_taken; \
    })

END_C_DECLS

#endif
