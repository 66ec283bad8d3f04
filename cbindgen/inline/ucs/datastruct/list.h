#include <ucs/debug/debug.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

/* A list is a ring of links with one that belongs to the owner, the head: an empty list is a head alone. */

/* Nothing to check outside an instrumented build. */
#define UCS_LIST_CHECK_ELEM_IS_VALID(_elem) UCS_ASAN_ADDRESS_IS_VALID(_elem, sizeof(ucs_list_link_t))

#define UCS_LIST_INITIALIZER(_prev, _next) {(_prev), (_next)}
/** Defines an empty list. */
#define UCS_LIST_HEAD(_name) ucs_list_link_t _name = UCS_LIST_INITIALIZER(&(_name), &(_name))

/**
 * Makes a list empty.
 *
 * @param[in,out] head The list.
 */
static inline void ucs_list_head_init(ucs_list_link_t *head)
{
    head->next = head;
    head->prev = head;
}

/**
 * Puts a link between two neighbours.
 *
 * @param[in,out] prev Link before.
 * @param[in,out] next Link behind.
 * @param[in,out] elem Link of the element.
 */
static inline void
ucs_list_insert_replace(ucs_list_link_t *prev, ucs_list_link_t *next, ucs_list_link_t *elem)
{
    elem->prev = prev;
    elem->next = next;
    prev->next = elem;
    next->prev = elem;
}

/**
 * Puts `replacement` where `elem` is; `elem` is in no list afterwards.
 *
 * @param[in,out] elem Link of the element.
 * @param[in,out] replacement Link that takes the place.
 */
static inline void ucs_list_replace(ucs_list_link_t *elem, ucs_list_link_t *replacement)
{
    ucs_list_insert_replace(elem->prev, elem->next, replacement);
}

/**
 * Puts a link behind `pos`.
 *
 * @param[in,out] pos Link in a list.
 * @param[in,out] new_link Link to be added.
 */
static inline void ucs_list_insert_after(ucs_list_link_t *pos, ucs_list_link_t *new_link)
{
    ucs_list_insert_replace(pos, pos->next, new_link);
}

/**
 * Puts a link before `pos`.
 *
 * @param[in,out] pos Link in a list.
 * @param[in,out] new_link Link to be added.
 */
static inline void ucs_list_insert_before(ucs_list_link_t *pos, ucs_list_link_t *new_link)
{
    ucs_list_insert_replace(pos->prev, pos, new_link);
}

/**
 * Takes a link out of its list; its own pointers stay as they are.
 *
 * @param[in,out] elem Link of the element.
 */
static inline void ucs_list_del(ucs_list_link_t *elem)
{
    ucs_list_link_t *prev = elem->prev, *next = elem->next;
    next->prev = prev;
    prev->next = next;
}

/**
 * 1 when a list has no element, else 0.
 *
 * @param[in] head The list.
 * @return 1 or 0.
 */
static inline int ucs_list_is_empty(const ucs_list_link_t *head)
{
    return head == head->next;
}

/**
 * 1 when `elem` is the first element, else 0.
 *
 * @param[in] head The list.
 * @param[in] elem Link of the element.
 * @return 1 or 0.
 */
static inline int ucs_list_is_first(const ucs_list_link_t *head, const ucs_list_link_t *elem)
{
    return head->next == elem;
}

/**
 * 1 when `elem` is the last element, else 0.
 *
 * @param[in] head The list.
 * @param[in] elem Link of the element.
 * @return 1 or 0.
 */
static inline int ucs_list_is_last(const ucs_list_link_t *head, const ucs_list_link_t *elem)
{
    return head->prev == elem;
}

/**
 * 1 when `elem` is the only element, else 0.
 *
 * @param[in] head The list.
 * @param[in] elem Link of the element.
 * @return 1 or 0.
 */
static inline int ucs_list_is_only(const ucs_list_link_t *head, const ucs_list_link_t *elem)
{
    return (elem == head->next) && (elem == head->prev);
}

/**
 * Moves all elements of `newlist`, which may be empty, to the end of `head`; `newlist` must be initialised
 * again.
 *
 * @param[in,out] head The list.
 * @param[in,out] newlist The other list.
 */
static inline void ucs_list_splice_tail(ucs_list_link_t *head, ucs_list_link_t *newlist)
{
    ucs_list_link_t *first = newlist->next, *last = newlist->prev;
    if (first == newlist) {
        return;
    }
    first->prev       = head->prev;
    head->prev->next  = first;
    last->next        = head;
    head->prev        = last;
}

/**
 * Number of elements; walks the list.
 *
 * @param[in] head The list.
 * @return Number of elements.
 */
static inline unsigned long ucs_list_length(ucs_list_link_t *head)
{
    unsigned long elements = 0;
    const ucs_list_link_t *link;

    for (link = head->next; link != head; link = link->next) {
        ++elements;
    }
    return elements;
}

/** Puts an item first. */
#define ucs_list_add_head(_head, _item) ucs_list_insert_after(_head, _item)
/** Puts an item last. */
#define ucs_list_add_tail(_head, _item) ucs_list_insert_before(_head, _item)

/** The object whose link `_member` comes after, or before, `_elem`. */
#define ucs_list_next(_elem, _type, _member) ucs_container_of((_elem)->next, _type, _member)
#define ucs_list_prev(_elem, _type, _member) ucs_container_of((_elem)->prev, _type, _member)
/** The first and the last object of a list that is not empty. */
#define ucs_list_head ucs_list_next
#define ucs_list_tail ucs_list_prev

/** Walks the objects of a list, which must keep its elements meanwhile. */
#define ucs_list_for_each(_elem, _head, _member) \
    for ((_elem) = ucs_list_next(_head, ucs_typeof(*(_elem)), _member); \
         &(_elem)->_member != (_head); \
         (_elem) = ucs_list_next(&(_elem)->_member, ucs_typeof(*(_elem)), _member))

/** The same, where the body may take the current object out; `_telem` holds the one after it. */
#define ucs_list_for_each_safe(_elem, _telem, _head, _member) \
    for ((_elem)  = ucs_list_next(_head, ucs_typeof(*(_elem)), _member), \
         (_telem) = ucs_list_next(&(_elem)->_member, ucs_typeof(*(_elem)), _member); \
         &(_elem)->_member != (_head); \
         (_elem)  = (_telem), \
         (_telem) = ucs_list_next(&(_elem)->_member, ucs_typeof(*(_elem)), _member))

/** Takes the first object out of a list that is not empty; its value. */
#define ucs_list_extract_head(_head, _type, _member) \
    __extension__ ({ \
        ucs_list_link_t *ucs_list_first = (_head)->next; \
        ucs_list_del(ucs_list_first); \
        ucs_container_of(ucs_list_first, _type, _member); \
    })

END_C_DECLS
