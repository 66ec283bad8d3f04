//! Tables as clients have them compiled in.
//!
//! 1.17 put a function, `doc`, into the parser of an option. Since then every table names one of two functions of this
//! library there, unless it brings its own; before, the word belongs to the argument, which is data. So tables of both
//! layouts can be told apart.

use crate::c::{UCS_OK, ucs_config_array_t, ucs_config_field_t, ucs_status_t, ucs_string_buffer_t};
use crate::ucs::{Result, Status};
use core::ffi::{CStr, c_char, c_int, c_void};
use std::borrow::Cow;

pub type Read = unsafe extern "C" fn(*const c_char, *mut c_void, *const c_void) -> c_int;
pub type Write = unsafe extern "C" fn(*mut c_char, usize, *const c_void, *const c_void) -> c_int;
pub type CopyTo = unsafe extern "C" fn(*const c_void, *mut c_void, *const c_void) -> ucs_status_t;
pub type Release = unsafe extern "C" fn(*mut c_void, *const c_void);
pub type Help = unsafe extern "C" fn(*mut c_char, usize, *const c_void);
pub type Doc = unsafe extern "C" fn(*mut ucs_string_buffer_t, *const c_void);

/// The readers that the header's macros name.
macro_rules! readers {
    ($($name:ident)*) => {
        // Declared, so that these are the addresses that clients have, also where a program has its own for them.
        unsafe extern "C" {
            $(fn $name(buf: *const c_char, dest: *mut c_void, arg: *const c_void) -> c_int;)*
        }
        const READERS: &[Read] = &[$($name),*];
    };
}

readers! {
    ucs_config_sscanf_allow_list
    ucs_config_sscanf_allow_list_with_ranges
    ucs_config_sscanf_array
    ucs_config_sscanf_bitmap
    ucs_config_sscanf_bitmask
    ucs_config_sscanf_bool
    ucs_config_sscanf_bw
    ucs_config_sscanf_bw_spec
    ucs_config_sscanf_double
    ucs_config_sscanf_enum
    ucs_config_sscanf_hex
    ucs_config_sscanf_int
    ucs_config_sscanf_key_value
    ucs_config_sscanf_memunits
    ucs_config_sscanf_on_off
    ucs_config_sscanf_on_off_auto
    ucs_config_sscanf_path_array
    ucs_config_sscanf_pos_double
    ucs_config_sscanf_range_spec
    ucs_config_sscanf_signo
    ucs_config_sscanf_string
    ucs_config_sscanf_table
    ucs_config_sscanf_ternary
    ucs_config_sscanf_ternary_auto
    ucs_config_sscanf_time
    ucs_config_sscanf_time_units
    ucs_config_sscanf_uint
    ucs_config_sscanf_uint_enum
    ucs_config_sscanf_ulong
    ucs_config_sscanf_ulunits
}

unsafe extern "C" {
    fn ucs_config_doc_nop(strb: *mut ucs_string_buffer_t, arg: *const c_void);
    fn ucs_config_doc_key_value(strb: *mut ucs_string_buffer_t, arg: *const c_void);
}

/// The longest text of a value that is written.
const TEXT_MAX: usize = 4096;

/// How values of one type are handled.
#[derive(Clone, Copy)]
pub struct Parser {
    pub read: Option<Read>,
    pub write: Option<Write>,
    pub copy: Option<CopyTo>,
    pub release: Option<Release>,
    pub help: Option<Help>,
    pub doc: Option<Doc>,
    pub arg: *const c_void,
    /// Compiled before 1.17.
    pub old: bool,
}

/// Words of a parser: the five functions both layouts begin with, then `doc`, if there is one, and the argument.
const FUNCTIONS: usize = 5;
/// Words of an option before its parser.
const BEFORE_PARSER: usize = 4;

fn is_doc(word: usize) -> bool {
    let known: [Doc; 2] = [ucs_config_doc_nop, ucs_config_doc_key_value];
    known.iter().any(|doc| *doc as usize == word)
}

/// # Safety
/// `at` leads to at least `index + 1` words.
unsafe fn word(at: *const c_void, index: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<usize>().add(index).read() }
}

/// # Safety
/// `at` leads to a parser of the layout that `old` says.
unsafe fn parser_at(at: *const c_void, old: bool) -> Parser {
    // SAFETY: the words that both layouts have, which are functions or null.
    let functions = unsafe { at.cast::<Functions>().read() };
    let (doc, arg_at) = if old {
        (None, FUNCTIONS)
    } else {
        // SAFETY: the newer layout has a function or null here.
        (
            unsafe { at.cast::<Option<Doc>>().add(FUNCTIONS).read() },
            FUNCTIONS + 1,
        )
    };
    // SAFETY: the last word of a parser.
    let arg = unsafe { at.cast::<*const c_void>().add(arg_at).read() };
    Parser {
        read: functions.read,
        write: functions.write,
        copy: functions.copy,
        release: functions.release,
        help: functions.help,
        doc,
        arg,
        old,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Functions {
    read: Option<Read>,
    write: Option<Write>,
    copy: Option<CopyTo>,
    release: Option<Release>,
    help: Option<Help>,
}

impl Parser {
    /// The parser at the start of `ucs_config_key_value_param_t`, which only the newer layout has.
    ///
    /// # Safety
    /// `at` leads to one.
    pub unsafe fn new_at(at: *const c_void) -> Parser {
        // SAFETY: the caller's promise.
        unsafe { parser_at(at, false) }
    }

    /// Whether the option is a table of others.
    pub fn is_table(&self) -> bool {
        self.read
            .is_some_and(|read| read as usize == ucs_config_sscanf_table as Read as usize)
    }

    /// Reads a text; false when it is not of this type.
    ///
    /// # Safety
    /// `dest` is a place for a value.
    pub unsafe fn read(&self, text: &CStr, dest: *mut c_void) -> bool {
        if self.old && self.is_bitmap() {
            // SAFETY: the caller's place and the client's names.
            return unsafe { super::lists::read_bitmap(text, dest, self.arg, true) };
        }
        // SAFETY: the client's function and place.
        self.read
            .is_some_and(|read| unsafe { read(text.as_ptr(), dest, self.arg) } == 1)
    }

    /// A bit mask, which has 4 bytes in the old layout and 8 since.
    fn is_bitmap(&self) -> bool {
        self.read
            .is_some_and(|read| read as usize == ucs_config_sscanf_bitmap as Read as usize)
    }

    /// The text of a value.
    ///
    /// # Safety
    /// `src` is a value.
    pub unsafe fn write(&self, src: *const c_void) -> String {
        if self.old && self.is_bitmap() {
            // SAFETY: the caller's value and the client's names.
            return unsafe { super::lists::write_bitmap(src, self.arg, true) };
        }
        let mut text = [0 as c_char; TEXT_MAX];
        if let Some(write) = self.write {
            // SAFETY: the client's function and value, and room of ours.
            unsafe { write(text.as_mut_ptr(), text.len(), src, self.arg) };
        }
        ended(&mut text)
    }

    /// Copies a value.
    ///
    /// # Safety
    /// `src` is a value, `dest` a place for one.
    pub unsafe fn copy(&self, src: *const c_void, dest: *mut c_void) -> Result<()> {
        let Some(copy) = self.copy else {
            return Err(Status::INVALID_PARAM);
        };
        // SAFETY: the client's function, value and place.
        match unsafe { copy(src, dest, self.arg) } {
            UCS_OK => Ok(()),
            code => Err(Status::from_code(code).unwrap_or(Status::INVALID_PARAM)),
        }
    }

    /// Frees what a value owns.
    ///
    /// # Safety
    /// `value` is a value, given up.
    pub unsafe fn release(&self, value: *mut c_void) {
        if let Some(release) = self.release {
            // SAFETY: the client's function and value.
            unsafe { release(value, self.arg) };
        }
    }

    /// What texts are accepted.
    ///
    /// # Safety
    /// The parser is of a live table.
    pub unsafe fn help(&self) -> String {
        let mut text = [0 as c_char; TEXT_MAX];
        if let Some(help) = self.help {
            // SAFETY: the client's function, and room of ours.
            unsafe { help(text.as_mut_ptr(), text.len(), self.arg) };
        }
        ended(&mut text)
    }
}

/// The text in a buffer, whose last byte is made a NUL.
fn ended(text: &mut [c_char]) -> String {
    if let Some(last) = text.last_mut() {
        *last = 0;
    }
    // SAFETY: it ends with a NUL.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    text.to_string_lossy().into_owned()
}

/// An array type: bytes of an element and how one is handled.
///
/// # Safety
/// `arg` leads to a `ucs_config_array_t` of either layout.
pub unsafe fn array_type(arg: *const c_void) -> (usize, Parser) {
    // SAFETY: the caller's promise: its first word.
    let elem_size = unsafe { arg.cast::<ucs_config_array_t>().cast::<usize>().read() };
    let parser = arg.wrapping_byte_add(size_of::<usize>());
    // SAFETY: as above: the word behind the functions is in both layouts.
    let old = !is_doc(unsafe { word(parser, FUNCTIONS) });
    // SAFETY: as above.
    (elem_size, unsafe { parser_at(parser, old) })
}

/// One option.
#[derive(Clone, Copy)]
pub struct Field {
    name: *const c_char,
    default: *const c_char,
    doc: *const c_char,
    pub offset: usize,
    pub parser: Parser,
}

/// # Safety
/// `text` is null or a C string that stays.
unsafe fn string<'t>(text: *const c_char) -> Option<&'t CStr> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

impl Field {
    /// The name behind the prefix of the table.
    pub fn name(&self) -> Cow<'_, str> {
        // SAFETY: strings of a client's table stay.
        unsafe { string(self.name) }
            .unwrap_or(c"")
            .to_string_lossy()
    }

    /// The text of the default; none for a second name of another option.
    pub fn default(&self) -> Option<&CStr> {
        // SAFETY: as above.
        unsafe { string(self.default) }
    }

    /// The description.
    pub fn doc(&self) -> Cow<'_, str> {
        // SAFETY: as above.
        unsafe { string(self.doc) }.unwrap_or(c"").to_string_lossy()
    }

    /// Accepted, and without a member.
    pub fn is_deprecated(&self) -> bool {
        self.offset == usize::MAX
    }

    /// A second name of the option at the same offset.
    pub fn is_alias(&self) -> bool {
        self.default.is_null() && !self.is_deprecated()
    }

    /// Has a member of its own.
    pub fn has_value(&self) -> bool {
        !self.is_deprecated() && !self.is_alias()
    }

    /// Its member in the structure at `opts`.
    pub fn member(&self, opts: *mut c_void) -> *mut c_void {
        opts.wrapping_byte_add(self.offset)
    }

    /// The options of a table of options.
    pub fn table(&self) -> *const ucs_config_field_t {
        self.parser.arg.cast()
    }
}

/// Tables are no longer than this; a longer one lacks its end.
const LONGEST: usize = 10_000;

/// Whether an object is a table and not an entry of a list of tables: the word that is the first option's reader there
/// is a pointer to another entry, or null, here.
///
/// # Safety
/// `object` is one of both.
pub unsafe fn begins_table(object: *const c_void) -> bool {
    // SAFETY: either object has this word.
    let reader = unsafe { word(object, BEFORE_PARSER) };
    READERS.iter().any(|known| *known as usize == reader)
}

/// Options that are looked at to tell the layout. The zeros at the end of a table stop the walk in either layout.
const LOOKED_AT: usize = 4;

/// Whether a table was compiled before 1.17: no option has a function of this library as its `doc`.
///
/// # Safety
/// `table` is a client's table.
pub unsafe fn is_old(table: *const ucs_config_field_t) -> bool {
    let words = |option: usize, index: usize| {
        let at = option * (BEFORE_PARSER + FUNCTIONS + 2) + index;
        // SAFETY: inside the table: its end is not passed, see above.
        unsafe { word(table.cast(), at) }
    };
    let doc = BEFORE_PARSER + FUNCTIONS;
    !(0..LOOKED_AT)
        .take_while(|option| words(*option, 0) != 0)
        .any(|option| is_doc(words(option, doc)))
}

/// The options of a table; none for null.
///
/// # Safety
/// `table` is null or a client's table, which stays.
pub unsafe fn fields(table: *const ucs_config_field_t) -> Vec<Field> {
    let mut all = Vec::new();
    if table.is_null() {
        return all;
    }
    // SAFETY: the caller's promise.
    let old = unsafe { is_old(table) };
    let size = (BEFORE_PARSER + FUNCTIONS + 2 - usize::from(old)) * size_of::<usize>();
    let mut at: *const c_void = table.cast();
    while all.len() < LONGEST {
        // SAFETY: an option of the table, or the one without a name at its end.
        let name = unsafe { at.cast::<*const c_char>().read() };
        if name.is_null() {
            break;
        }
        let text = |index: usize| {
            // SAFETY: an option of the table; these words are pointers.
            unsafe { at.cast::<*const c_char>().add(index).read() }
        };
        let parser = at.wrapping_byte_add(BEFORE_PARSER * size_of::<usize>());
        all.push(Field {
            name,
            default: text(1),
            doc: text(2),
            // SAFETY: an option of the table.
            offset: unsafe { word(at, 3) },
            // SAFETY: as above.
            parser: unsafe { parser_at(parser, old) },
        });
        at = at.wrapping_byte_add(size);
    }
    all
}
