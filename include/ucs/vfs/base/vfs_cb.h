/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_VFS_BASE_VFS_CB_H
#define FERRUCX_UCS_VFS_BASE_VFS_CB_H

#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <stdint.h>

BEGIN_C_DECLS

/** The type of a variable that is shown, with flags. */
enum ucs_vfs_primitive_type_t {
    /** A pointer. */
    UCS_VFS_TYPE_POINTER = 0,
    /** A string, NUL-terminated. */
    UCS_VFS_TYPE_STRING = 1,
    /** One byte with a sign. */
    UCS_VFS_TYPE_CHAR = 2,
    /** A `short`. */
    UCS_VFS_TYPE_SHORT = 3,
    /** An `int`. */
    UCS_VFS_TYPE_INT = 4,
    /** A `long`. */
    UCS_VFS_TYPE_LONG = 5,
    /** Number of types. */
    UCS_VFS_TYPE_LAST = 6,
    /** Without a sign. */
    UCS_VFS_TYPE_FLAG_UNSIGNED = UCS_BIT(14),
    /** To base 16. */
    UCS_VFS_TYPE_FLAG_HEX = UCS_BIT(15),
    /** An `int8_t`. */
    UCS_VFS_TYPE_I8 = 2,
    /** A `uint8_t`. */
    UCS_VFS_TYPE_U8 = 16386,
    /** An `int16_t`. */
    UCS_VFS_TYPE_I16 = 3,
    /** A `uint16_t`. */
    UCS_VFS_TYPE_U16 = 16387,
    /** An `int32_t`. */
    UCS_VFS_TYPE_I32 = 4,
    /** A `uint32_t`. */
    UCS_VFS_TYPE_U32 = 16388,
    /** A `uint32_t`, to base 16. */
    UCS_VFS_TYPE_U32_HEX = 49156,
    /** An `unsigned long`. */
    UCS_VFS_TYPE_ULONG = 16389,
    /** An `ssize_t`. */
    UCS_VFS_TYPE_SSIZET = 5,
    /** A `size_t`. */
    UCS_VFS_TYPE_SIZET = 16389,
};

typedef enum ucs_vfs_primitive_type_t ucs_vfs_primitive_type_t;

/**
 * Reads a file that shows the object's address.
 *
 * @param[in] obj Address of the object.
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg_ptr As it was given with the file.
 * @param[in] arg_u64 As it was given with the file.
 */
void ucs_vfs_show_memory_address(void *obj,
                                 ucs_string_buffer_t *strb,
                                 void *arg_ptr,
                                 uint64_t arg_u64);

/**
 * Reads a file that shows a variable: `arg_ptr` is its address, or the text itself, `arg_u64` its
 * `ucs_vfs_primitive_type_t`.
 *
 * @param[in] obj Address of the object.
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg_ptr As it was given with the file.
 * @param[in] arg_u64 As it was given with the file.
 */
void ucs_vfs_show_primitive(void *obj,
                            ucs_string_buffer_t *strb,
                            void *arg_ptr,
                            uint64_t arg_u64);

/**
 * Reads a file that shows the number at `arg_ptr`, or `auto`, or `inf`.
 *
 * @param[in] obj Address of the object.
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg_ptr As it was given with the file.
 * @param[in] arg_u64 As it was given with the file.
 */
void ucs_vfs_show_ulunits(void *obj,
                          ucs_string_buffer_t *strb,
                          void *arg_ptr,
                          uint64_t arg_u64);

/**
 * Reads a file that shows the bytes at `arg_ptr`, as `4K` or so, or `auto`, or `inf`.
 *
 * @param[in] obj Address of the object.
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg_ptr As it was given with the file.
 * @param[in] arg_u64 As it was given with the file.
 */
void ucs_vfs_show_memunits(void *obj,
                           ucs_string_buffer_t *strb,
                           void *arg_ptr,
                           uint64_t arg_u64);

END_C_DECLS

#endif
