//! Whatever is static in `src/` and can change is of a type that is right over fork(): a child never waits for a
//! thread that it does not have, and never reads what another thread was changing. `src/sys/fork.rs` tells why, and which
//! types there are. The last tests show that each rule can fail.

mod source_text;

use quote::ToTokens;
use source_text::sources;
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};

/// Types of statics that may stand everywhere: what a child makes anew or inherits whole, single words, and what never
/// changes.
const ALLOWED: [&str; 29] = [
    "PerProcess",
    "ForkLocked",
    "Service",      // of PerProcess
    "EventService", // of PerProcess
    "OnceBox",
    "OnceRef",
    "OnceBool",
    "OnceNonZeroUsize",
    "AtomicBool",
    "AtomicI8",
    "AtomicU8",
    "AtomicI32",
    "AtomicU32",
    "AtomicI64",
    "AtomicU64",
    "AtomicUsize",
    "AtomicPtr",
    // Tables of constants.
    "Table",
    "Names",
    "ComponentHandle",
    "Callback",
    "Fields",
    "StringArray",
    "Note",
    "Suffixes",
    "ClassObject",
    "ucs_sys_dev_distance_t",
    "c_uint",
    "u8",
];

/// Other statics, and why they are right.
const EXCEPTIONS: [(&str, &str, &str); 6] = [
    (
        "sys/fork.rs",
        "LOCK",
        "the lock of all `ForkLocked`: the forking thread holds it",
    ),
    (
        "ucm/events.rs",
        "HANDLERS",
        "read inside of the allocator, which fork() locks as well: exchanged by one store, and a child forgets other threads' reads",
    ),
    (
        "ucm/lock.rs",
        "THREADS",
        "words only; a child gives the seats of its parent's other threads back",
    ),
    (
        "abi/ucs/config.rs",
        "ucs_config_global_list",
        "the program's, by the ABI: it links its tables before its main()",
    ),
    (
        "abi/ucm.rs",
        "ucm_global_opts",
        "options in the program's memory, by the ABI; the library only reads them",
    ),
    (
        "abi/ucs/opts.rs",
        "ucs_global_opts",
        "options in the program's memory, by the ABI; written once, under a `ForkLocked`",
    ),
];

/// The types that hold the value: of an array or a slice its elements', of a tuple each.
fn heads(of: &syn::Type, found: &mut Vec<String>) {
    match of {
        syn::Type::Path(path) => {
            found.extend(path.path.segments.last().map(|s| s.ident.to_string()))
        }
        syn::Type::Array(array) => heads(&array.elem, found),
        syn::Type::Slice(slice) => heads(&slice.elem, found),
        syn::Type::Reference(to) => heads(&to.elem, found),
        syn::Type::Tuple(tuple) => tuple.elems.iter().for_each(|t| heads(t, found)),
        syn::Type::BareFn(_) => {}
        other => found.push(other.to_token_stream().to_string()),
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        let text = a.meta.to_token_stream().to_string();
        a.path().is_ident("cfg")
            && (text.contains("test")
                && !text.contains("not (test")
                && !text.contains("not (all (test"))
    })
}

struct Statics<'a> {
    file: &'a str,
    breaches: Vec<String>,
}

impl Statics<'_> {
    fn breach(&mut self, what: String) {
        self.breaches.push(format!("src/{}: {what}", self.file));
    }
}

impl<'ast> Visit<'ast> for Statics<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        let name = item.ident.to_string();
        let excepted = EXCEPTIONS
            .iter()
            .any(|(file, known, _)| (*file, *known) == (self.file, &name));
        let mut found = Vec::new();
        heads(&item.ty, &mut found);
        if matches!(item.mutability, syn::StaticMutability::Mut(_)) {
            self.breach(format!("static mut {name}: use `ForkLocked`"));
        }
        if let Some(head) = found.iter().find(|head| !ALLOWED.contains(&head.as_str()))
            && !excepted
        {
            self.breach(format!(
                "static {name} is a {head}: use `PerProcess`, `ForkLocked` or `once_cell::race`, see src/sys/fork.rs"
            ));
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        if item
            .path
            .segments
            .last()
            .is_some_and(|s| s.ident == "lazy_static")
        {
            self.breach("lazy_static: use `once_cell::race`".to_owned());
        }
    }
}

fn breaches(file: &str, text: &str) -> Vec<String> {
    let parsed = syn::parse_file(text).unwrap_or_else(|e| panic!("src/{file}: {e}"));
    let mut statics = Statics {
        file,
        breaches: Vec::new(),
    };
    statics.visit_file(&parsed);
    if text.contains("parking_lot::") {
        statics.breach(
            "parking_lot keeps locks in a table of the process: use `sys::lock`".to_owned(),
        );
    }
    statics.breaches
}

#[test]
fn statics_are_right_over_fork() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        let file = file.to_str().unwrap();
        if !file.ends_with("/tests.rs") {
            found.extend(breaches(file, &text));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_exception_is_there() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (file, name, _) in EXCEPTIONS {
        let text = fs::read_to_string(source.join(file)).unwrap();
        assert!(text.contains(&format!("static {name}: ")), "{file}: {name}");
    }
}

#[test]
fn what_would_hang_a_child_is_found() {
    for bad in [
        "static A: Mutex<u32> = Mutex::new(0);",
        "fn f() { static A: std::sync::OnceLock<u32> = OnceLock::new(); }",
        "fn f() { if true { static ONCE: Once = Once::new(); } }",
        "static A: [RwLock<u32>; 2] = make();",
        "static A: LazyLock<u32> = LazyLock::new(f);",
        "static mut A: u8 = 0;",
        "static A: HashTable = HashTable::new();",
        "mod inner { static A: RefCell<u32> = RefCell::new(0); }",
        "lazy_static::lazy_static! { static ref A: u32 = 0; }",
        "struct S { lock: parking_lot::Mutex<u32> }",
    ] {
        assert_eq!(breaches("ucs/x.rs", bad).len(), 1, "{bad}");
    }
}

#[test]
fn what_is_right_passes() {
    for good in [
        "static A: PerProcess<Mutex<u32>> = PerProcess::new(Mutex::default);",
        "static A: ForkLocked<Vec<u32>> = ForkLocked::new(Vec::new());",
        "fn f() { static A: OnceBox<u32> = OnceBox::new(); }",
        "static A: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];",
        "#[cfg(test)] mod tests { static A: Mutex<()> = Mutex::new(()); }",
        "struct S { lock: Mutex<u32> }",
        "thread_local! { static A: RefCell<u32> = RefCell::new(0); }",
    ] {
        assert_eq!(breaches("ucs/x.rs", good), Vec::<String>::new(), "{good}");
    }
}
