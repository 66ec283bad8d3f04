//! `ucs/vfs/base/vfs_cb.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// The type of a variable that is shown, with flags.
    pub enum ucs_vfs_primitive_type_t: c_uint {
        /// A pointer.
        UCS_VFS_TYPE_POINTER = 0,
        /// A string, NUL-terminated.
        UCS_VFS_TYPE_STRING = 1,
        /// One byte with a sign.
        UCS_VFS_TYPE_CHAR = 2,
        /// A `short`.
        UCS_VFS_TYPE_SHORT = 3,
        /// An `int`.
        UCS_VFS_TYPE_INT = 4,
        /// A `long`.
        UCS_VFS_TYPE_LONG = 5,
        /// Number of types.
        UCS_VFS_TYPE_LAST = 6,
        /// Without a sign.
        UCS_VFS_TYPE_FLAG_UNSIGNED = 1 << 14,
        /// To base 16.
        UCS_VFS_TYPE_FLAG_HEX = 1 << 15,
        /// An `int8_t`.
        UCS_VFS_TYPE_I8 = 2,
        /// A `uint8_t`.
        UCS_VFS_TYPE_U8 = 0x4002,
        /// An `int16_t`.
        UCS_VFS_TYPE_I16 = 3,
        /// A `uint16_t`.
        UCS_VFS_TYPE_U16 = 0x4003,
        /// An `int32_t`.
        UCS_VFS_TYPE_I32 = 4,
        /// A `uint32_t`.
        UCS_VFS_TYPE_U32 = 0x4004,
        /// A `uint32_t`, to base 16.
        UCS_VFS_TYPE_U32_HEX = 0xc004,
        /// An `unsigned long`.
        UCS_VFS_TYPE_ULONG = 0x4005,
        /// An `ssize_t`.
        UCS_VFS_TYPE_SSIZET = 5,
        /// A `size_t`.
        UCS_VFS_TYPE_SIZET = 0x4005,
    }
}
