"""Prototypes of the exported functions that no header declares: Rust's signature against data/internal.tsv.

Only UCX's own tools call them, so no C compiler ever compares them; what is checked is what the
calling convention sees: how many arguments, and the width and kind of each.
"""

import re

import upstream

SIGNATURE = re.compile(r'pub (?:unsafe )?extern "C" fn (\w+)\s*\(([^{]*?)\)\s*(?:->\s*([^{;]+?))?\s*\{', re.S)
ALIAS = re.compile(r"^\s*pub type (\w+)\s*=\s*([^;]+);", re.M)
ENUM = re.compile(r"^\s*pub enum (\w+)\s*:\s*([\w:]+)\s*\{", re.M)
WIDTHS = {
    "i8": "1", "u8": "1", "bool": "1", "c_char": "1",
    "i32": "4", "u32": "4", "c_int": "4", "c_uint": "4",
    "i64": "8", "u64": "8", "isize": "8", "usize": "8", "c_long": "8", "c_ulong": "8",
    "f64": "d", "c_double": "d",
}  # fmt: skip


def check(data, source):
    """Messages about functions whose Rust signature is not the listed one, and how many agree."""
    texts = [path.read_text() for path in sorted(source.rglob("*.rs"))]
    aliases = {}
    for text in texts:
        aliases.update(ALIAS.findall(text))
        aliases.update(ENUM.findall(text))
    signatures = {}
    for text in texts:
        for name, arguments, result in SIGNATURE.findall(text):
            signatures[name] = shape(arguments, result, aliases)
    found, agree = [], 0
    for name, result, arguments in upstream.read_table(data / "internal.tsv"):
        wanted = (result, "" if arguments == "-" else arguments)
        if name not in signatures:
            continue
        if signatures[name] == wanted:
            agree += 1
        else:
            found.append(f"{name} is {' <- '.join(signatures[name])}, upstream's {' <- '.join(wanted)}")
    return found, agree


def shape(arguments, result, aliases):
    """("1", "p 8") for `fn(*mut T, usize) -> ucs_status_t`."""
    types = [part.split(":", 1)[1].strip() for part in split(arguments) if ":" in part]
    return width(result, aliases) if result else "v", " ".join(width(type_, aliases) for type_ in types)


def split(arguments):
    """Splits at the commas that are not inside a function type."""
    depth, part = 0, ""
    for letter in arguments:
        depth += {"(": 1, "<": 1, ")": -1}.get(letter, 0)
        if letter == ">" and not part.endswith("-"):
            depth -= 1
        if letter == "," and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def width(type_, aliases):
    """The class of a Rust type; its own text when unknown, which then agrees with nothing."""
    type_ = type_.strip()
    if type_.startswith(("*", "Option<", "unsafe extern", "extern", "&")):
        return "p"
    if type_ == "!":
        return "v"
    if type_ in WIDTHS:
        return WIDTHS[type_]
    name = type_.rsplit("::", 1)[-1]
    return width(aliases[name], aliases) if name in aliases and aliases[name] != type_ else WIDTHS.get(name, type_)
