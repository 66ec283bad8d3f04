//! Libraries that are loaded when somebody needs what they are for, and the tables of their functions. And the linkage tables of
//! all loaded objects, where a user asks for them to be changed.
//!
//! A library that stands in a table is no dependency of ours: where it is missing, only what needs it is. It stays loaded. So do
//! plug-ins, which are the program's.

use super::mem::page_size;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The table of a library's functions: a struct with a member for each, named like it. One without a function that is not
/// `optional` cannot be made. Who writes it vouches for the functions' types.
macro_rules! functions {
    ($(#[$meta:meta])* unsafe $library:literal: $($member:ident: fn($($a:ty),*) $(-> $r:ty)?,)*
        $(; optional $($late:ident: fn($($la:ty),*) $(-> $lr:ty)?,)*)?) => {
        $(#[$meta])*
        #[allow(non_snake_case, reason = "members have the names of C functions")]
        pub struct Table {
            $(pub $member: unsafe extern "C" fn($($a),*) $(-> $r)?,)*
            $($(pub $late: Option<unsafe extern "C" fn($($la),*) $(-> $lr)?>,)*)?
        }

        impl Table {
            fn load() -> std::io::Result<Table> {
                const NAME: &str = concat!($library, "\0");
                let library = $crate::sys::library::Library::load(NAME)?;
                Ok(Table {
                    $($member: {
                        let name = concat!(stringify!($member), "\0");
                        let at = library.symbol(name).ok_or_else(|| {
                            std::io::Error::other(concat!($library, " has no ", stringify!($member)))
                        })?;
                        // SAFETY: by the promise of who wrote the table.
                        unsafe {
                            core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($a),*) $(-> $r)?>(at)
                        }
                    },)*
                    $($($late: library.symbol(concat!(stringify!($late), "\0")).map(|at| {
                        // SAFETY: as above.
                        unsafe {
                            core::mem::transmute::<*mut c_void, unsafe extern "C" fn($($la),*) $(-> $lr)?>(at)
                        }
                    }),)*)?
                })
            }
        }
    };
}
pub(super) use functions;

/// A loaded library.
pub struct Library(*mut c_void);

impl Library {
    /// `name` ends in a zero byte.
    pub fn load(name: &'static str) -> io::Result<Library> {
        // SAFETY: a C string; constructors of the libraries that stand in tables touch nothing of the program's.
        let handle =
            unsafe { libc::dlopen(name.as_ptr().cast(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(io::Error::other(last_error(name)));
        }
        Ok(Library(handle))
    }

    /// The default version of a function; `name` ends in a zero byte.
    pub fn symbol(&self, name: &'static str) -> Option<*mut c_void> {
        // SAFETY: an open library and a C string.
        let at = unsafe { libc::dlsym(self.0, name.as_ptr().cast()) };
        (!at.is_null()).then_some(at)
    }
}

/// Loads a plug-in, for good; with `global` libraries that are loaded later find its symbols.
pub fn load_plug_in(path: &Path, global: bool) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    let scope = if global {
        libc::RTLD_GLOBAL
    } else {
        libc::RTLD_LOCAL
    };
    let flags = libc::RTLD_LAZY | libc::RTLD_NODELETE | scope;
    // SAFETY: a C string. What its constructors do is up to who installed it.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if handle.is_null() {
        return Err(io::Error::other(last_error(&path.display().to_string())));
    }
    Ok(())
}

fn last_error(name: &str) -> String {
    // SAFETY: no arguments.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return format!("{} cannot be loaded", name.trim_end_matches('\0'));
    }
    // SAFETY: a C string, valid until the next such call of this thread.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Has the calls that loaded objects make through their linkage tables to functions of these names go to these addresses, and
/// returns how many entries changed. Calls within the object that has the function, this library's own, and those of objects that
/// are loaded later stay as they are.
///
/// # Safety
/// Each address must be of a function that stands for the one of that name.
pub unsafe fn redirect(targets: &[(&CStr, usize)]) -> usize {
    let mut redirection = Redirection {
        targets,
        changed: 0,
    };
    // SAFETY: the visitor gets its argument back, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(redirect_in), (&raw mut redirection).cast()) };
    redirection.changed
}

struct Redirection<'a> {
    targets: &'a [(&'a CStr, usize)],
    changed: usize,
}

unsafe extern "C" fn redirect_in(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    redirection: *mut c_void,
) -> c_int {
    // SAFETY: the loader's description of a loaded object.
    let object = unsafe { &*object };
    // SAFETY: of `redirect`, whose only reference this is.
    let redirection = unsafe { &mut *redirection.cast::<Redirection<'_>>() };
    let base = object.dlpi_addr as usize;
    // SAFETY: the object's program headers.
    let headers =
        unsafe { core::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum as usize) };
    let range = |header: &libc::Elf64_Phdr| {
        let start = base + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    };
    let find = |kind: u32| headers.iter().find(|h| h.p_type == kind).map(range);
    let is_own = |h: &libc::Elf64_Phdr| {
        h.p_type == libc::PT_LOAD && range(h).contains(&(redirect_in as *const () as usize))
    };
    if let Some(dynamic) = find(libc::PT_DYNAMIC)
        && !headers.iter().any(is_own)
    {
        let read_only = find(libc::PT_GNU_RELRO).unwrap_or_default();
        // SAFETY: the dynamic section of a loaded object.
        unsafe { LinkageTable::new(base, dynamic.start) }.redirect(redirection, &read_only);
    }
    0
}

/// What an object's dynamic section says of the functions that it calls in others.
struct LinkageTable {
    base: usize,
    strings: usize,
    symbols: usize,
    /// Where two lists of relocations stand, and their lengths in bytes.
    relocations: [(usize, usize); 2],
}

/// `Elf64_Dyn` and `Elf64_Rela`.
#[repr(C)]
struct DynamicEntry {
    tag: u64,
    value: usize,
}

#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

/// Tags of the dynamic section, and the kinds of relocations that give a function's address.
const DT_PLTRELSZ: u64 = 2;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_JMPREL: u64 = 23;
#[cfg(target_arch = "x86_64")]
const FUNCTION_KINDS: [u32; 2] = [6, 7];
#[cfg(target_arch = "aarch64")]
const FUNCTION_KINDS: [u32; 2] = [1025, 1026];

impl LinkageTable {
    /// # Safety
    /// `dynamic` must be the dynamic section of an object that is loaded at `base` and stays so.
    unsafe fn new(base: usize, dynamic: usize) -> LinkageTable {
        let mut table = LinkageTable {
            base,
            strings: 0,
            symbols: 0,
            relocations: [(0, 0); 2],
        };
        // Some loaders put addresses there, others leave offsets.
        let address = |value: usize| if value < base { base + value } else { value };
        let mut at = dynamic as *const DynamicEntry;
        loop {
            // SAFETY: by the caller's promise; the section ends with an entry of zeros.
            let entry = unsafe { &*at };
            match entry.tag {
                0 => return table,
                DT_STRTAB => table.strings = address(entry.value),
                DT_SYMTAB => table.symbols = address(entry.value),
                DT_JMPREL => table.relocations[0].0 = address(entry.value),
                DT_PLTRELSZ => table.relocations[0].1 = entry.value,
                DT_RELA => table.relocations[1].0 = address(entry.value),
                DT_RELASZ => table.relocations[1].1 = entry.value,
                _ => {}
            }
            at = at.wrapping_add(1);
        }
    }

    /// Changes the entries of functions that have another address now.
    fn redirect(&self, redirection: &mut Redirection<'_>, read_only: &Range<usize>) {
        if self.strings == 0 || self.symbols == 0 {
            return;
        }
        for (start, bytes) in self.relocations.into_iter().filter(|(at, _)| *at != 0) {
            let count = bytes / size_of::<Relocation>();
            // SAFETY: the relocations of a loaded object.
            let all = unsafe { core::slice::from_raw_parts(start as *const Relocation, count) };
            for relocation in all {
                let kind = relocation.info as u32;
                if !FUNCTION_KINDS.contains(&kind) {
                    continue;
                }
                let name = self.name((relocation.info >> 32) as usize);
                let target = redirection.targets.iter().find(|(n, _)| *n == name);
                if let Some((_, target)) = target {
                    let entry = self.base + relocation.offset;
                    redirection.changed += usize::from(replace(entry, *target, read_only));
                }
            }
        }
    }

    /// The name of a symbol.
    fn name(&self, symbol: usize) -> &CStr {
        let at = (self.symbols as *const libc::Elf64_Sym).wrapping_add(symbol);
        // SAFETY: a symbol that a relocation of the object has.
        let name = unsafe { &*at }.st_name as usize;
        // SAFETY: a name in the object's table of strings.
        unsafe { CStr::from_ptr((self.strings + name) as *const c_char) }
    }
}

/// Writes the entry of a linkage table, which other threads read meanwhile. Returns whether it was another one.
fn replace(entry: usize, target: usize, read_only: &Range<usize>) -> bool {
    // SAFETY: aligned, in a loaded object.
    let word = unsafe { &*(entry as *const AtomicUsize) };
    if word.load(Ordering::Relaxed) == target {
        return false;
    }
    let page = page_size();
    let start = (entry & !(page - 1)) as *mut c_void;
    let protect = |how| {
        // SAFETY: a page of the object that the loader has made read-only; nobody writes there but this function.
        read_only.contains(&entry) && unsafe { libc::mprotect(start, page, how) } != 0
    };
    if protect(libc::PROT_READ | libc::PROT_WRITE) {
        return false;
    }
    word.store(target, Ordering::Release);
    protect(libc::PROT_READ);
    true
}
