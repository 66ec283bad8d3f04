//! The Rust side: items of `src/c/` and exported functions of `src/abi/`, ready for cbindgen.
//!
//! cbindgen expands no macros, so `c_enum!` and `opaque!` become what they stand for in C. C keeps tags
//! (`struct x`) and names (`x_t`) apart: a Rust item whose own name ends in `_t` gets the tag of the same name.
//! Names of other headers are marked with their kind, and [`super::to_c`] turns the marks into C.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use std::path::Path;
use syn::parse::{Parse, ParseStream};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Item, ItemFn, Token, Type, punctuated::Punctuated};

/// Ends the name of a tag that C calls by its typedef too.
pub const TAG: &str = "__tag";
/// Ends the tag of an enum that is one byte wide.
pub const PACKED: &str = "__packed_tag";

/// Tags that C calls by their typedef too, though they do not end in `_t`.
const NAMED_LIKE_TAG: [&str; 1] = ["ucp_req_attr_field"];

fn is_split(name: &Ident) -> bool {
    let name = name.to_string();
    name.ends_with("_t") || NAMED_LIKE_TAG.contains(&name.as_str())
}

/// How C must introduce a name: `struct`, `union` or `enum`.
type Kinds = BTreeMap<String, &'static str>;

pub struct Sources {
    /// Items of a file of `src/c/`, by its path from the root.
    pub types: BTreeMap<String, Vec<Item>>,
    pub functions: BTreeMap<String, ItemFn>,
    kinds: Kinds,
}

struct CEnum {
    attrs: Vec<Attribute>,
    name: Ident,
    repr: Type,
    variants: Punctuated<CVariant, Token![,]>,
}

struct CVariant {
    attrs: Vec<Attribute>,
    name: Ident,
    value: Expr,
}

impl Parse for CEnum {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Token![pub]>()?;
        input.parse::<Token![enum]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        let repr = input.parse()?;
        let body;
        syn::braced!(body in input);
        Ok(Self {
            attrs,
            name,
            repr,
            variants: Punctuated::parse_terminated(&body)?,
        })
    }
}

impl Parse for CVariant {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self {
            attrs,
            name,
            value: input.parse()?,
        })
    }
}

/// `call!` of `abi/ucm.rs`: a function that hands its arguments on.
struct Call(ItemFn);

impl Parse for Call {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        input.call(syn::Path::parse_mod_style)?;
        let arguments;
        syn::parenthesized!(arguments in input);
        let arguments = Punctuated::<syn::FnArg, Token![,]>::parse_terminated(&arguments)?;
        let output: syn::ReturnType = input.parse()?;
        Ok(Self(syn::parse_quote! {
            #(#attrs)*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn #name(#arguments) #output {}
        }))
    }
}

/// `parser_functions!` of `abi/ucs/parser_types.rs`: functions whose kind says their arguments.
struct ParserFunctions(Vec<ItemFn>);

impl Parse for ParserFunctions {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut all = Vec::new();
        while !input.is_empty() {
            let attrs = input.call(Attribute::parse_outer)?;
            let kind: Ident = input.parse()?;
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            input.parse::<syn::ExprClosure>()?;
            input.parse::<Token![;]>()?;
            let signature = match kind.to_string().as_str() {
                "read" => {
                    quote!((buf: *const c_char, dest: *mut c_void, arg: *const c_void) -> c_int)
                }
                "write" => {
                    quote!((buf: *mut c_char, max: usize, src: *const c_void, arg: *const c_void) -> c_int)
                }
                "copy" => {
                    quote!((src: *const c_void, dest: *mut c_void, arg: *const c_void) -> ucs_status_t)
                }
                "release" => quote!((ptr: *mut c_void, arg: *const c_void)),
                "help" => quote!((buf: *mut c_char, max: usize, arg: *const c_void)),
                other => panic!("parser_functions!: unknown kind {other}"),
            };
            all.push(syn::parse_quote! {
                #(#attrs)*
                #[unsafe(no_mangle)]
                pub unsafe extern "C" fn #name #signature {}
            });
        }
        Ok(Self(all))
    }
}

/// The linker sees it, and its Rust signature is that of C: a naked one has none, its prototype is in a template.
fn is_exported(function: &ItemFn) -> bool {
    let has = |name: &str| {
        let mut attrs = function.attrs.iter();
        attrs.any(|attr| attr.to_token_stream().to_string().contains(name))
    };
    function.sig.abi.is_some() && has("no_mangle") && !has("naked")
}

impl Sources {
    pub fn read(root: &Path) -> Self {
        let mut types = BTreeMap::new();
        let mut kinds: Kinds = [
            ("sockaddr", "struct"),
            ("sockaddr_storage", "struct"),
            ("dirent", "struct"),
            ("iovec", "struct"),
            ("ifreq", "struct"),
        ]
        .map(|(name, kind)| (name.to_owned(), kind))
        .into();
        for file in rust_files(&root.join("src/c")) {
            let items: Vec<Item> = parse(&file).items.into_iter().flat_map(expand).collect();
            for item in &items {
                if let Some((name, kind)) = tag_of(item) {
                    kinds.insert(name, kind);
                }
            }
            let name = file
                .strip_prefix(root)
                .expect("below")
                .display()
                .to_string();
            types.insert(name, items);
        }
        let mut functions = BTreeMap::new();
        for file in rust_files(&root.join("src/abi")) {
            for item in parse(&file).items {
                if let Item::Macro(item) = &item
                    && item.mac.path.is_ident("parser_functions")
                {
                    let all = item.mac.parse_body::<ParserFunctions>();
                    for function in all.expect("parser_functions! body").0 {
                        functions.insert(function.sig.ident.to_string(), function);
                    }
                    continue;
                }
                let function = match item {
                    Item::Fn(function) if is_exported(&function) => function,
                    Item::Macro(item) if item.mac.path.is_ident("call") => {
                        item.mac.parse_body::<Call>().expect("call! body").0
                    }
                    _ => continue,
                };
                functions.insert(function.sig.ident.to_string(), function);
            }
        }
        Self {
            types,
            functions,
            kinds,
        }
    }

    /// A source file for cbindgen with these types and functions, and the names it must not leave out.
    /// Constants that `template` defines itself stay away.
    pub fn module(&self, types: &[String], functions: &[String], template: &str) -> Module {
        let mut items: Vec<Item> = Vec::new();
        for file in types {
            let found = self
                .types
                .get(file)
                .unwrap_or_else(|| panic!("no such file: {file}"));
            items.extend(
                found
                    .iter()
                    .filter(|item| is_for_c(item, template))
                    .cloned(),
            );
        }
        let local: Vec<String> = items
            .iter()
            .filter_map(tag_of)
            .map(|(name, _)| name)
            .collect();
        items.extend(
            functions
                .iter()
                .filter_map(|name| self.functions.get(name))
                .map(declaration),
        );
        let mut mark = MarkForeign {
            kinds: &self.kinds,
            local: &local,
        };
        let mut names = Vec::new();
        let mut text = String::new();
        for item in &mut items {
            mark.visit_item_mut(item);
            strip_docs(item);
            names.extend(name_of(item));
            text += &item.to_token_stream().to_string();
            text.push('\n');
        }
        Module { text, names }
    }
}

pub struct Module {
    pub text: String,
    pub names: Vec<String>,
}

fn rust_files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).expect("source directory") {
        let path = entry.expect("directory entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn parse(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).expect("source text");
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Replaces `c_enum!` and `opaque!` by items, and splits names that are tag and typedef at once.
fn expand(item: Item) -> Vec<Item> {
    let item = match item {
        Item::Macro(item) if item.mac.path.is_ident("c_enum") => {
            return expand_enum(item.mac.parse_body().expect("c_enum! body"));
        }
        Item::Macro(item) if item.mac.path.is_ident("opaque") => {
            let opaque: syn::ItemStruct = syn::parse2({
                let body = item.mac.tokens;
                quote!(#body ;)
            })
            .expect("opaque! body");
            let (attrs, name) = (opaque.attrs, opaque.ident);
            syn::parse_quote!(#(#attrs)* pub struct #name { private: u8 })
        }
        item => item,
    };
    match item {
        Item::Struct(mut item) if is_split(&item.ident) => {
            let name = item.ident;
            item.ident = format_ident!("{name}{TAG}");
            with_typedef(Item::Struct(item), &name)
        }
        Item::Union(mut item) if is_split(&item.ident) => {
            let name = item.ident;
            item.ident = format_ident!("{name}{TAG}");
            with_typedef(Item::Union(item), &name)
        }
        item => vec![item],
    }
}

fn expand_enum(source: CEnum) -> Vec<Item> {
    let CEnum {
        attrs,
        name,
        repr,
        variants,
    } = source;
    let one_byte = matches!(repr.to_token_stream().to_string().as_str(), "i8" | "u8");
    let split = is_split(&name);
    let tag = match (split, one_byte) {
        (true, true) => format_ident!("{name}{PACKED}"),
        (true, false) => format_ident!("{name}{TAG}"),
        (false, false) => name.clone(),
        (false, true) => panic!("{name}: a one-byte enum needs a name in _t"),
    };
    let variants = variants
        .into_iter()
        .map(|CVariant { attrs, name, value }| quote!(#(#attrs)* #name = #value));
    let item = syn::parse_quote!(#(#attrs)* #[repr(C)] pub enum #tag { #(#variants,)* });
    if split {
        with_typedef(item, &name)
    } else {
        vec![item]
    }
}

fn with_typedef(item: Item, name: &Ident) -> Vec<Item> {
    let tag = Ident::new(&name_of(&item).expect("a name"), Span::call_site());
    vec![item, syn::parse_quote!(pub type #name = #tag;)]
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Struct(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Const(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn tag_of(item: &Item) -> Option<(String, &'static str)> {
    let kind = match item {
        Item::Struct(_) => "struct",
        Item::Union(_) => "union",
        Item::Enum(_) => "enum",
        _ => return None,
    };
    Some((name_of(item)?, kind))
}

/// Types and constants that the template does not say itself.
fn is_for_c(item: &Item, template: &str) -> bool {
    let Some(name) = name_of(item) else {
        return false;
    };
    let name = name.trim_end_matches(TAG);
    match item {
        Item::Struct(_) | Item::Union(_) | Item::Enum(_) | Item::Type(_) => {
            let said = [
                format!("struct {name} "),
                format!("(*{name})("),
                format!(" {name};"),
                format!("DECLARE_TYPE({name}, "),
            ];
            !said.iter().any(|text| template.contains(text))
        }
        Item::Const(_) => name != "_" && !template.contains(&format!("#define {name} ")),
        _ => false,
    }
}

/// A function without its body; an argument that a stub does not read yet loses its underscore.
fn declaration(function: &ItemFn) -> Item {
    let mut function = function.clone();
    function.block = syn::parse_quote!({});
    for input in &mut function.sig.inputs {
        if let syn::FnArg::Typed(argument) = input
            && let syn::Pat::Ident(pattern) = &mut *argument.pat
        {
            if let Some(name) = pattern.ident.to_string().strip_prefix('_') {
                pattern.ident = Ident::new(name, Span::call_site());
            }
            pattern.mutability = None;
        }
    }
    Item::Fn(function)
}

/// Writes the kind before names that another header defines: `uct_ep` becomes `struct__uct_ep`.
struct MarkForeign<'s> {
    kinds: &'s Kinds,
    local: &'s [String],
}

impl VisitMut for MarkForeign<'_> {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if let Some(last) = path.segments.last_mut() {
            let name = last.ident.to_string();
            if name == "isize" {
                last.ident = format_ident!("ssize_t");
            } else if let Some(kind) = self.kinds.get(&name)
                && !self.local.contains(&name)
            {
                last.ident = format_ident!("{kind}__{name}");
            }
        }
        visit_mut::visit_path_mut(self, path);
    }
}

/// Leaves to C what C can read, in Doxygen's form: no Rust links, no section on Rust's `unsafe`.
fn strip_docs(item: &mut Item) {
    struct Strip;
    impl VisitMut for Strip {
        fn visit_attributes_mut(&mut self, attrs: &mut Vec<Attribute>) {
            let mut in_safety = false;
            attrs.retain_mut(|attr| {
                let syn::Meta::NameValue(meta) = &mut attr.meta else {
                    return !attr.path().is_ident("derive");
                };
                let Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) = &meta.value
                else {
                    return true;
                };
                let line = text.value();
                if line.trim_start().starts_with('#') {
                    in_safety = line.trim() == "# Safety";
                }
                let plain = doxygen(&line)
                    .replace("[`", "`")
                    .replace("`]", "`")
                    .replace("*/", "* /");
                meta.value = syn::parse_quote!(#plain);
                !in_safety
            });
            while let Some(last) = attrs.iter().rposition(|attr| attr.path().is_ident("doc"))
                && is_blank_doc(&attrs[last])
            {
                attrs.remove(last);
            }
        }
    }
    Strip.visit_item_mut(item);
}

/// A line of a comment in Doxygen's form. In Rust a parameter is the item "- `name` (in): text" of a list, the result the
/// item "- returns: text", and the last line of a function of UCP, "`header`, group `name`.", says where it belongs.
fn doxygen(line: &str) -> String {
    if let Some(text) = line.strip_prefix(" - returns: ") {
        return format!(" @return {text}");
    }
    for direction in ["in", "out", "in,out"] {
        if let Some(item) = line.strip_prefix(" - `")
            && let Some((name, text)) = item.split_once(&format!("` ({direction}): "))
        {
            return format!(" @param[{direction}] {name} {text}");
        }
    }
    if let Some((header, group)) = line.split_once(", group `")
        && let Some((library, _)) = header.trim_start_matches([' ', '`']).split_once('/')
        && let Some(group) = group.strip_suffix("`.")
    {
        return format!(" @ingroup {library}_{group}");
    }
    // The header that a function stands in, which Rust needs to be told.
    match line.rsplit_once(" `") {
        Some((text, header)) if header.starts_with("uc") && header.ends_with(".h`.") => {
            text.to_owned()
        }
        _ => line.to_owned(),
    }
}

fn is_blank_doc(attr: &Attribute) -> bool {
    let syn::Meta::NameValue(meta) = &attr.meta else {
        return false;
    };
    attr.path().is_ident("doc")
        && matches!(&meta.value, Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })
            if text.value().trim().is_empty())
}
