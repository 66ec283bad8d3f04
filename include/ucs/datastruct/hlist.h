/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_HLIST_H
#define FERRUCX_UCS_DATASTRUCT_HLIST_H

#include <ucs/datastruct/list.h>
#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

typedef struct ucs_hlist_link ucs_hlist_link_t;
typedef struct ucs_hlist_head ucs_hlist_head_t;

/** A link of a list whose head is one pointer. */
struct ucs_hlist_link {
    /** Link of the list. */
    ucs_list_link_t list;
};

/** The head of such a list. */
struct ucs_hlist_head {
    /** The first link; NULL for an empty list. */
    ucs_hlist_link_t *ptr;
};

/* A list whose head is one pointer: to the first link of the ring that its elements are, or NULL. */

/**
 * Makes a list empty.
 *
 * @param[out] head The list.
 */
static UCS_F_ALWAYS_INLINE void ucs_hlist_head_init(ucs_hlist_head_t *head)
{
    head->ptr = NULL;
}

/**
 * 1 when a list has no element, else 0.
 *
 * @param[in] head The list.
 * @return 1 or 0.
 */
static UCS_F_ALWAYS_INLINE int ucs_hlist_is_empty(const ucs_hlist_head_t *head)
{
    return !head->ptr;
}

/**
 * Number of elements; walks the list.
 *
 * @param[in] head The list.
 * @return Number of elements.
 */
static UCS_F_ALWAYS_INLINE unsigned long ucs_hlist_length(ucs_hlist_head_t *head)
{
    const ucs_list_link_t *first, *link;
    unsigned long elements = 0;

    if (head->ptr != NULL) {
        first = link = &head->ptr->list;
        do {
            ++elements;
            link = link->next;
        } while (link != first);
    }
    return elements;
}

/**
 * Puts an element between the last and the first one; it is the first itself if the flag says so.
 *
 * @param[in,out] head The list.
 * @param[in,out] elem Link of the element.
 * @param[in] set_head_to_elem Nonzero: the element becomes the first.
 */
static UCS_F_ALWAYS_INLINE void
ucs_hlist_add_common(ucs_hlist_head_t *head, ucs_hlist_link_t *elem, int set_head_to_elem)
{
    ucs_hlist_link_t *first = head->ptr;

    if (first == NULL) {
        ucs_list_head_init(&elem->list);
    } else {
        ucs_list_insert_before(&first->list, &elem->list);
    }
    if ((first == NULL) || set_head_to_elem) {
        head->ptr = elem;
    }
}

/**
 * Puts an element first.
 *
 * @param[in,out] head The list.
 * @param[in,out] elem Link of the element.
 */
static UCS_F_ALWAYS_INLINE void ucs_hlist_add_head(ucs_hlist_head_t *head, ucs_hlist_link_t *elem)
{
    ucs_hlist_add_common(head, elem, 1);
}

/**
 * Puts an element last.
 *
 * @param[in,out] head The list.
 * @param[in,out] elem Link of the element.
 */
static UCS_F_ALWAYS_INLINE void ucs_hlist_add_tail(ucs_hlist_head_t *head, ucs_hlist_link_t *elem)
{
    ucs_hlist_add_common(head, elem, 0);
}

/**
 * Takes an element out; `is_head` says whether it is the first.
 *
 * @param[in,out] head The list.
 * @param[in,out] elem Link of the element.
 * @param[in] is_head Nonzero: the element is the first.
 */
static UCS_F_ALWAYS_INLINE void
ucs_hlist_del_common(ucs_hlist_head_t *head, ucs_hlist_link_t *elem, int is_head)
{
    ucs_hlist_link_t *next = ucs_container_of(elem->list.next, ucs_hlist_link_t, list);

    if (next == elem) {
        head->ptr = NULL; /* it was the only one */
        return;
    }
    ucs_list_del(&elem->list);
    if (is_head) {
        head->ptr = next;
    }
}

/**
 * Takes an element out of its list.
 *
 * @param[in,out] head The list.
 * @param[in,out] elem Link of the element.
 */
static UCS_F_ALWAYS_INLINE void ucs_hlist_del(ucs_hlist_head_t *head, ucs_hlist_link_t *elem)
{
    ucs_hlist_del_common(head, elem, head->ptr == elem);
}

/**
 * Takes the first element out; NULL when there is none.
 *
 * @param[in,out] head The list.
 * @return Link of the element, or NULL.
 */
static UCS_F_ALWAYS_INLINE ucs_hlist_link_t *ucs_hlist_extract_head(ucs_hlist_head_t *head)
{
    ucs_hlist_link_t *first = head->ptr;

    if (first != NULL) {
        ucs_hlist_del_common(head, first, 1);
    }
    return first;
}

/** The object that has the first link; nothing that may be used when the list is empty. */
#define ucs_hlist_head_elem(_head, _type, _member) ucs_container_of((_head)->ptr, _type, _member)
/** The object after one; after the last comes the first. */
#define ucs_hlist_next_elem(_elem, _member) \
    ucs_container_of((_elem)->_member.list.next, ucs_typeof(*(_elem)), _member.list)
/** Takes out the first object of a list that has one. */
#define ucs_hlist_extract_head_elem(_head, _type, _member) \
    ucs_container_of(ucs_hlist_extract_head(_head), _type, _member)

/* What `ucs_container_of` makes of NULL. */
#define UCS_HLIST_NO_ELEM(_elem, _member) \
    ucs_container_of((ucs_hlist_link_t*)NULL, ucs_typeof(*(_elem)), _member)

/** Walks the objects of a list, which must keep its elements meanwhile. */
#define ucs_hlist_for_each(_elem, _head, _member) \
    for ((_elem) = ucs_hlist_is_empty(_head) ? \
                           NULL : ucs_hlist_head_elem(_head, ucs_typeof(*(_elem)), _member); \
         (_elem) != NULL; \
         (_elem) = ((_elem)->_member.list.next == &(_head)->ptr->list) ? \
                           NULL : ucs_hlist_next_elem(_elem, _member))

/** The same, where the body may take the current object out; `_telem` holds the one after it. `_thead` is not used. */
#define ucs_hlist_for_each_safe(_elem, _telem, _head, _thead, _member) \
    for ((void)(_thead), \
         (_elem) = ucs_hlist_is_empty(_head) ? \
                           NULL : ucs_hlist_head_elem(_head, ucs_typeof(*(_elem)), _member); \
         ((_elem) != NULL) && \
         ((_telem) = ((_elem)->_member.list.next == &(_head)->ptr->list) ? \
                             NULL : ucs_hlist_next_elem(_elem, _member), 1); \
         (_elem) = (_telem))

/** Takes out one object after the other and hands it to the body. */
#define ucs_hlist_for_each_extract(_elem, _head, _member) \
    while (((_elem) = ucs_hlist_extract_head_elem(_head, ucs_typeof(*(_elem)), _member)), \
           ((_elem) != UCS_HLIST_NO_ELEM(_elem, _member)))

/** The same, as long as a condition on the object holds, which is asked while it is still in the list. */
#define ucs_hlist_for_each_extract_if(_elem, _head, _member, _cond) \
    while (((_elem) = ucs_hlist_head_elem(_head, ucs_typeof(*(_elem)), _member)), \
           ((_elem) != UCS_HLIST_NO_ELEM(_elem, _member)) && (_cond) && \
           (ucs_hlist_extract_head(_head) != NULL))

END_C_DECLS

#endif
