//! `ucs/vfs/base/vfs_cb.h`: types and constants.

use crate::c::prelude::*;

c_enum! {
    /// The type of a variable that is shown, with flags.
    pub enum ucs_vfs_primitive_type_t: c_uint {
        UCS_VFS_TYPE_POINTER = 0,
        UCS_VFS_TYPE_STRING = 1,
        UCS_VFS_TYPE_CHAR = 2,
        UCS_VFS_TYPE_SHORT = 3,
        UCS_VFS_TYPE_INT = 4,
        UCS_VFS_TYPE_LONG = 5,
        UCS_VFS_TYPE_LAST = 6,
        /// Without a sign.
        UCS_VFS_TYPE_FLAG_UNSIGNED = 1 << 14,
        /// To base 16.
        UCS_VFS_TYPE_FLAG_HEX = 1 << 15,
        UCS_VFS_TYPE_I8 = 2,
        UCS_VFS_TYPE_U8 = 0x4002,
        UCS_VFS_TYPE_I16 = 3,
        UCS_VFS_TYPE_U16 = 0x4003,
        UCS_VFS_TYPE_I32 = 4,
        UCS_VFS_TYPE_U32 = 0x4004,
        UCS_VFS_TYPE_U32_HEX = 0xc004,
        UCS_VFS_TYPE_ULONG = 0x4005,
        UCS_VFS_TYPE_SSIZET = 5,
        UCS_VFS_TYPE_SIZET = 0x4005,
    }
}
