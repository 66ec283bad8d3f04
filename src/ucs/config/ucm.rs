//! The options of the memory events (`UCX_MEM_*`).
//!
//! They stand here because the floor of the memory events lies below this one. Nothing is patched or
//! hooked by default; what belongs to other hooks than those of linkage tables is accepted and has no effect.

use super::{Kind, Row, Table};

const HOOK_MODES: &[&str] = &["none", "reloc", "bistro", "api"];
const DEVICE_HOOK_MODES: &[&str] = &["none", "reloc", "bistro"];
/// `MMAP_HOOK_MODE` that refuses handlers which need hooks.
pub const NO_HOOKS: usize = 0;
/// The one with which linkage tables are changed for them.
pub const BY_LINKAGE: usize = 1;
const LOG_LEVELS: &[&str] = &["FATAL", "ERROR", "WARN", "DIAG", "INFO", "DEBUG", "TRACE"];

pub static TABLE: Table = Table {
    name: "UCM configuration",
    prefix: "MEM_",
    parent: None,
    rows: &[
        Row::new(
            "LOG_LEVEL",
            "warn",
            Kind::Enum(LOG_LEVELS),
            "Which messages about memory events are written.",
        ),
        Row::without_effect(
            "ALLOC_ALIGN",
            "16",
            &Kind::MemUnits,
            "Alignment of what malloc() gives.",
            "no allocator is replaced",
        ),
        Row::new(
            "EVENTS",
            "y",
            Kind::Bool,
            "Report memory that is mapped and unmapped.",
        ),
        Row::new(
            "MMAP_HOOK_MODE",
            "api",
            Kind::Enum(HOOK_MODES),
            "How calls that change mappings are seen. `api`: only those of ucm.h and those reported by\n\
             ucm_vm_mmap() and the like. `none`: the same, and handlers of others' calls are refused.\n\
             `reloc`: also those that loaded objects make through their linkage tables, which are changed when a\n\
             handler is registered. `bistro`: as `api`; no code is patched.",
        ),
        Row::without_effect(
            "MALLOC_HOOKS",
            "y",
            &Kind::Bool,
            "Whether malloc() is hooked.",
            "no allocator is replaced",
        ),
        Row::without_effect(
            "MALLOC_RELOC",
            "y",
            &Kind::Bool,
            "Whether malloc() is hooked in the tables of loaded libraries.",
            "no allocator is replaced",
        ),
        Row::without_effect(
            "CUDA_HOOK_MODE",
            "none",
            &Kind::Bitmap(DEVICE_HOOK_MODES),
            "How allocations of device memory are seen.",
            "the driver is asked about each address instead",
        ),
        Row::new(
            "CUDA_RELOC",
            "",
            Kind::Deprecated,
            "CUDA_HOOK_MODE stands in its place.",
        ),
        Row::without_effect(
            "DYNAMIC_MMAP_THRESH",
            "y",
            &Kind::Bool,
            "Whether the hooked malloc() adapts its threshold for mmap().",
            "no allocator is replaced",
        ),
        Row::without_effect(
            "DLOPEN_PROCESS_RPATH",
            "y",
            &Kind::Bool,
            "Whether a hooked dlopen() looks in the run path of its caller.",
            "dlopen() is not hooked",
        ),
        Row::without_effect(
            "MODULE_UNLOAD_PREVENT_MODE",
            "lazy",
            &Kind::Enum(&["lazy", "now", "none"]),
            "How unloading the library is prevented while hooks are in place.",
            "no code is patched",
        ),
        Row::without_effect(
            "BISTRO_FORCE_FAR_JUMP",
            "n",
            &Kind::Bool,
            "Whether patched functions begin with a far jump.",
            "no code is patched",
        ),
        Row::without_effect(
            "BISTRO_GRACE_DURATION",
            "50ms",
            &Kind::PlainTime,
            "How long a patched function may still run its old code.",
            "no code is patched",
        ),
    ],
};
