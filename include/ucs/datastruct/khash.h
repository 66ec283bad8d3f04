/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_DATASTRUCT_KHASH_H
#define FERRUCX_UCS_DATASTRUCT_KHASH_H

/* A hash table for keys and values of any type, with the interface and the layout of klib's khash.h 0.2.8. A client
 * that brings its own copy of that header keeps it. */

#ifndef __AC_KHASH_H
#define __AC_KHASH_H

#define AC_VERSION_KHASH_H "0.2.8"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned int khint32_t;
#if ULONG_MAX == ULLONG_MAX
typedef unsigned long khint64_t;
#else
typedef unsigned long long khint64_t;
#endif
typedef khint32_t khint_t;
typedef khint_t khiter_t;
typedef const char *kh_cstr_t;

/* What a client may choose before it includes this header. */
#ifndef kh_inline
#  define kh_inline inline
#endif
#ifndef klib_unused
#  define klib_unused __attribute__((unused))
#endif
#ifndef kcalloc
#  define kcalloc(N, Z) calloc(N, Z)
#endif
#ifndef kmalloc
#  define kmalloc(Z) malloc(Z)
#endif
#ifndef krealloc
#  define krealloc(P, Z) realloc(P, Z)
#endif
#ifndef kfree
#  define kfree(P) free(P)
#endif
#ifndef kmemset
#  define kmemset(P, Z, N) memset(P, Z, N)
#endif
#ifndef kroundup32
/** Rounds a 32-bit variable up to a power of two. */
#  define kroundup32(x) ((x) = ((x) <= 1) ? (x) : (khint32_t)(1ull << (32 - __builtin_clz((x) - 1))))
#endif

/* Two bits for each bucket, 16 buckets to a word: bit 1 says that it was never used, bit 0 that its key was deleted.
 * A table has a power of two of buckets. A key is looked for at its hash, then 1 bucket further, then 2, 3, ... */
#define __ac_state(flag, i)             ((flag)[(i) >> 4] >> (((i) & 15u) * 2))
#define __ac_isempty(flag, i)           (__ac_state(flag, i) & 2)
#define __ac_isdel(flag, i)             (__ac_state(flag, i) & 1)
#define __ac_iseither(flag, i)          (__ac_state(flag, i) & 3)
#define __ac_without(flag, i, bits)     ((flag)[(i) >> 4] &= ~((khint32_t)(bits) << (((i) & 15u) * 2)))
#define __ac_set_isdel_false(flag, i)   __ac_without(flag, i, 1)
#define __ac_set_isempty_false(flag, i) __ac_without(flag, i, 2)
#define __ac_set_isboth_false(flag, i)  __ac_without(flag, i, 3)
#define __ac_set_isdel_true(flag, i)    ((flag)[(i) >> 4] |= (khint32_t)1 << (((i) & 15u) * 2))
/** Words that hold the bits of `m` buckets. */
#define __ac_fsize(m)                   (((m) < 16) ? 1 : ((m) >> 4))
/** Share of the buckets that may be used before a table grows. */
static const double __ac_HASH_UPPER klib_unused = 0.77;

/** The structure of a table. Used buckets are `size` and the deleted ones; more than `upper_bound` is too many. */
#define __KHASH_TYPE(name, khkey_t, khval_t) \
    typedef struct kh_##name##_s { \
        khint_t n_buckets, size, n_occupied, upper_bound; \
        khint32_t *flags; \
        khkey_t *keys; \
        khval_t *vals; \
    } kh_##name##_t;

/** The functions of a table, declared for use in other files. */
#define __KHASH_PROTOTYPES(name, khkey_t, khval_t) \
    extern kh_##name##_t *kh_init_##name(void); \
    extern kh_##name##_t *kh_init_##name##_inplace(kh_##name##_t *h); \
    extern void kh_destroy_##name(kh_##name##_t *h); \
    extern void kh_destroy_##name##_inplace(kh_##name##_t *h); \
    extern void kh_clear_##name(kh_##name##_t *h); \
    extern khint_t kh_get_##name(const kh_##name##_t *h, khkey_t key); \
    extern int kh_resize_##name(kh_##name##_t *h, khint_t new_n_buckets); \
    extern khint_t kh_put_##name(kh_##name##_t *h, khkey_t key, int *ret); \
    extern void kh_del_##name(kh_##name##_t *h, khint_t x);

/** Makes and ends tables. */
#define __KHASH_IMPL_LIFE(name, SCOPE) \
    SCOPE kh_##name##_t *kh_init_##name##_inplace(kh_##name##_t *h) \
    { \
        return (kh_##name##_t*)kmemset(h, 0, sizeof(*h)); \
    } \
    SCOPE kh_##name##_t *kh_init_##name(void) \
    { \
        return (kh_##name##_t*)kcalloc(1, sizeof(kh_##name##_t)); \
    } \
    SCOPE void kh_destroy_##name##_inplace(kh_##name##_t *h) \
    { \
        kfree((void*)h->flags); \
        kfree((void*)h->keys); \
        kfree((void*)h->vals); \
    } \
    SCOPE void kh_destroy_##name(kh_##name##_t *h) \
    { \
        if (h != NULL) { \
            kh_destroy_##name##_inplace(h); \
            kfree(h); \
        } \
    } \
    SCOPE void kh_clear_##name(kh_##name##_t *h) \
    { \
        if ((h != NULL) && (h->flags != NULL)) { \
            memset(h->flags, 0xaa, __ac_fsize(h->n_buckets) * sizeof(*h->flags)); \
            h->n_occupied = 0; \
            h->size       = 0; \
        } \
    }

/** The bucket of a key, or the number of buckets. */
#define __KHASH_IMPL_GET(name, SCOPE, khkey_t, __hash_func, __hash_equal) \
    SCOPE khint_t kh_get_##name(const kh_##name##_t *h, khkey_t key) \
    { \
        const khint_t mask = h->n_buckets - 1; \
        khint_t at, step; \
        if (h->n_buckets == 0) { \
            return 0; \
        } \
        at = (khint_t)__hash_func(key) & mask; \
        for (step = 1; (step <= h->n_buckets) && !__ac_isempty(h->flags, at); ++step) { \
            if (!__ac_isdel(h->flags, at) && __hash_equal(h->keys[at], key)) { \
                return at; \
            } \
            at = (at + step) & mask; \
        } \
        return h->n_buckets; \
    }

/** Moves all keys to a table of at least so many buckets, unless they are too few; -1 without memory. */
#define __KHASH_IMPL_RESIZE(name, SCOPE, khkey_t, khval_t, kh_is_map, __hash_func) \
    SCOPE int kh_resize_##name(kh_##name##_t *h, khint_t new_n_buckets) \
    { \
        khint32_t *flags; \
        khkey_t *keys; \
        khval_t *vals = NULL; \
        khint_t bound, from, to, step; \
        if (new_n_buckets < 4) { \
            new_n_buckets = 4; \
        } \
        kroundup32(new_n_buckets); \
        bound = (khint_t)(new_n_buckets * __ac_HASH_UPPER + 0.5); \
        if (h->size >= bound) { \
            return 0; \
        } \
        flags = (khint32_t*)kmalloc(__ac_fsize(new_n_buckets) * sizeof(*flags)); \
        keys  = (khkey_t*)kmalloc(new_n_buckets * sizeof(khkey_t)); \
        if (kh_is_map) { \
            vals = (khval_t*)kmalloc(new_n_buckets * sizeof(khval_t)); \
        } \
        if ((flags == NULL) || (keys == NULL) || ((kh_is_map) && (vals == NULL))) { \
            kfree((void*)flags); \
            kfree((void*)keys); \
            kfree((void*)vals); \
            return -1; \
        } \
        memset(flags, 0xaa, __ac_fsize(new_n_buckets) * sizeof(*flags)); \
        for (from = 0; from < h->n_buckets; ++from) { \
            if (__ac_iseither(h->flags, from)) { \
                continue; \
            } \
            to = (khint_t)__hash_func(h->keys[from]) & (new_n_buckets - 1); \
            for (step = 1; !__ac_isempty(flags, to); ++step) { \
                to = (to + step) & (new_n_buckets - 1); \
            } \
            __ac_set_isboth_false(flags, to); \
            keys[to] = h->keys[from]; \
            if (kh_is_map) { \
                vals[to] = h->vals[from]; \
            } \
        } \
        kh_destroy_##name##_inplace(h); \
        h->flags       = flags; \
        h->keys        = keys; \
        h->vals        = vals; \
        h->n_buckets   = new_n_buckets; \
        h->n_occupied  = h->size; \
        h->upper_bound = bound; \
        return 0; \
    }

/** The bucket of a key, which is put in if it is new; `*ret` says which, as the constants below name it. */
#define __KHASH_IMPL_PUT(name, SCOPE, khkey_t, __hash_func, __hash_equal) \
    SCOPE khint_t kh_put_##name(kh_##name##_t *h, khkey_t key, int *ret) \
    { \
        khint_t mask, at, step, deleted; \
        if ((h->n_occupied >= h->upper_bound) && \
            (kh_resize_##name(h, (h->n_buckets > 2 * h->size) ? h->n_buckets : (h->n_buckets + 1)) != 0)) { \
            *ret = UCS_KH_PUT_FAILED; \
            return h->n_buckets; \
        } \
        mask    = h->n_buckets - 1; \
        at      = (khint_t)__hash_func(key) & mask; \
        deleted = h->n_buckets; \
        for (step = 1; (step <= h->n_buckets) && !__ac_isempty(h->flags, at); ++step) { \
            if (__ac_isdel(h->flags, at)) { \
                deleted = at; \
            } else if (__hash_equal(h->keys[at], key)) { \
                *ret = UCS_KH_PUT_KEY_PRESENT; \
                return at; \
            } \
            at = (at + step) & mask; \
        } \
        if (deleted != h->n_buckets) { \
            at   = deleted; \
            *ret = UCS_KH_PUT_BUCKET_CLEAR; \
        } else { \
            ++h->n_occupied; \
            *ret = UCS_KH_PUT_BUCKET_EMPTY; \
        } \
        __ac_set_isboth_false(h->flags, at); \
        h->keys[at] = key; \
        ++h->size; \
        return at; \
    } \
    SCOPE void kh_del_##name(kh_##name##_t *h, khint_t x) \
    { \
        if ((x != h->n_buckets) && !__ac_iseither(h->flags, x)) { \
            __ac_set_isdel_true(h->flags, x); \
            --h->size; \
        } \
    }

/** The functions of a table. */
#define __KHASH_IMPL(name, SCOPE, khkey_t, khval_t, kh_is_map, __hash_func, __hash_equal) \
    __KHASH_IMPL_LIFE(name, SCOPE) \
    __KHASH_IMPL_GET(name, SCOPE, khkey_t, __hash_func, __hash_equal) \
    __KHASH_IMPL_RESIZE(name, SCOPE, khkey_t, khval_t, kh_is_map, __hash_func) \
    __KHASH_IMPL_PUT(name, SCOPE, khkey_t, __hash_func, __hash_equal)

/** Type and prototypes; then type and functions, of the linkage SCOPE or static; then each alone. */
#define KHASH_DECLARE(name, khkey_t, khval_t) \
    __KHASH_TYPE(name, khkey_t, khval_t) \
    __KHASH_PROTOTYPES(name, khkey_t, khval_t)
#define KHASH_INIT2(name, SCOPE, khkey_t, khval_t, kh_is_map, __hash_func, __hash_equal) \
    __KHASH_TYPE(name, khkey_t, khval_t) \
    __KHASH_IMPL(name, SCOPE, khkey_t, khval_t, kh_is_map, __hash_func, __hash_equal)
#define KHASH_INIT(name, khkey_t, khval_t, kh_is_map, __hash_func, __hash_equal) \
    KHASH_INIT2(name, static kh_inline klib_unused, khkey_t, khval_t, kh_is_map, __hash_func, \
                __hash_equal)
#define KHASH_TYPE(name, khkey_t, khval_t) __KHASH_TYPE(name, khkey_t, khval_t)
#define KHASH_IMPL(name, khkey_t, khval_t, kh_is_map, __hash_func, __hash_equal) \
    __KHASH_IMPL(name, static kh_inline klib_unused, khkey_t, khval_t, kh_is_map, __hash_func, \
                 __hash_equal)
/** An empty table. */
#define KHASH_STATIC_INITIALIZER {0}

/* Hashes and comparisons of numbers. */
#define kh_int_hash_func(key)     (khint32_t)(key)
#define kh_int_hash_equal(a, b)   ((a) == (b))
#define kh_int64_hash_func(key)   (khint32_t)(((key) << 11) ^ (key) ^ ((key) >> 33))
#define kh_int64_hash_equal(a, b) ((a) == (b))
#define kh_int_hash_func2(key)    __ac_Wang_hash((khint_t)(key))

/**
 * Thomas Wang's mix of 32 bits.
 *
 * @param[in] key The number.
 * @return The hash.
 */
static kh_inline khint_t __ac_Wang_hash(khint_t key)
{
    key -= (key << 15) + 1;
    key ^= key >> 10;
    key *= 9;
    key ^= key >> 6;
    key -= (key << 11) + 1;
    return key ^ (key >> 16);
}

/**
 * A polynomial in 31 of the characters.
 *
 * @param[in] s String, NUL-terminated.
 * @return The hash.
 */
static kh_inline khint_t __ac_X31_hash_string(const char *s)
{
    khint_t hash = 0;

    for (; *s != '\0'; ++s) {
        hash = (hash * 31) + (khint_t)*s;
    }
    return hash;
}
#define kh_str_hash_func(key) __ac_X31_hash_string(key)

/**
 * Whether two strings are equal.
 *
 * @param[in] str1 String, NUL-terminated.
 * @param[in] str2 Another one.
 * @return 1 or 0.
 */
static inline int kh_str_hash_equal(const char *str1, const char *str2)
{
    return !strcmp(str1, str2);
}

/* Use of a table by its name. */
#define khash_t(name)               kh_##name##_t
#define kh_init(name)               kh_init_##name()
#define kh_init_inplace(name, h)    kh_init_##name##_inplace(h)
#define kh_destroy(name, h)         kh_destroy_##name(h)
#define kh_destroy_inplace(name, h) kh_destroy_##name##_inplace(h)
#define kh_clear(name, h)           kh_clear_##name(h)
#define kh_resize(name, h, s)       kh_resize_##name(h, s)
#define kh_put(name, h, k, r)       kh_put_##name(h, k, r)
#define kh_get(name, h, k)          kh_get_##name(h, k)
#define kh_del(name, h, k)          kh_del_##name(h, k)

/* What `kh_put` says: no memory; the key was there; an unused bucket, or that of a deleted key, was taken. */
#define UCS_KH_PUT_FAILED       -1
#define UCS_KH_PUT_KEY_PRESENT  0
#define UCS_KH_PUT_BUCKET_EMPTY 1
#define UCS_KH_PUT_BUCKET_CLEAR 2

/* Buckets. */
#define kh_exist(h, x)   (!__ac_iseither((h)->flags, (x)))
#define kh_key(h, x)     ((h)->keys[x])
#define kh_val(h, x)     ((h)->vals[x])
#define kh_value(h, x)   kh_val(h, x)
#define kh_begin(h)      (khint_t)(0)
#define kh_end(h)        ((h)->n_buckets)
#define kh_size(h)       ((h)->size)
#define kh_n_buckets(h)  ((h)->n_buckets)

/* Run `code` for each key and value, key, or value, which are assigned to variables. */
#define kh_foreach(h, kvar, vvar, code) \
    { \
        khint_t __i; \
        for (__i = kh_begin(h); __i != kh_end(h); ++__i) { \
            if (!kh_exist(h, __i)) { \
                continue; \
            } \
            (kvar) = kh_key(h, __i); \
            (vvar) = kh_val(h, __i); \
            code; \
        } \
    }
#define kh_foreach_key(h, kvar, code) \
    { \
        khint_t __i; \
        for (__i = kh_begin(h); __i != kh_end(h); ++__i) { \
            if (!kh_exist(h, __i)) { \
                continue; \
            } \
            (kvar) = kh_key(h, __i); \
            code; \
        } \
    }
#define kh_foreach_value(h, vvar, code) \
    { \
        khint_t __i; \
        for (__i = kh_begin(h); __i != kh_end(h); ++__i) { \
            if (!kh_exist(h, __i)) { \
                continue; \
            } \
            (vvar) = kh_val(h, __i); \
            code; \
        } \
    }

/* Sets of keys, and maps from keys to values. */
#define KHASH_SET_INIT_INT(name) \
    KHASH_INIT(name, khint32_t, char, 0, kh_int_hash_func, kh_int_hash_equal)
#define KHASH_MAP_INIT_INT(name, khval_t) \
    KHASH_INIT(name, khint32_t, khval_t, 1, kh_int_hash_func, kh_int_hash_equal)
#define KHASH_SET_INIT_INT64(name) \
    KHASH_INIT(name, khint64_t, char, 0, kh_int64_hash_func, kh_int64_hash_equal)
#define KHASH_MAP_INIT_INT64(name, khval_t) \
    KHASH_INIT(name, khint64_t, khval_t, 1, kh_int64_hash_func, kh_int64_hash_equal)
#define KHASH_SET_INIT_STR(name) \
    KHASH_INIT(name, kh_cstr_t, char, 0, kh_str_hash_func, kh_str_hash_equal)
#define KHASH_MAP_INIT_STR(name, khval_t) \
    KHASH_INIT(name, kh_cstr_t, khval_t, 1, kh_str_hash_func, kh_str_hash_equal)

#endif

#endif
