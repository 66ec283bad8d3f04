"""The dynamic symbol table against data/symbols.tsv, both ways, and the sizes of data objects."""

import subprocess

import upstream

KINDS = {"T": "function", "W": "function", "D": "object", "B": "object", "R": "object", "V": "object"}

SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
TOOLCHAIN_INIT = 16  # bytes of INIT_ARRAY: one entry of gcc's start-up code, one of Rust's std (argv)


class Symbol:
    def __init__(self, row):
        self.name, self.library, self.kind, self.since, self.source, clients = row
        self.clients = [] if clients == "-" else clients.split(" ")
        self.family = self.library.removeprefix("lib")

    @property
    def elf_kind(self):
        return "object" if self.kind == "object" else "function"


def listed(data):
    """{name: Symbol} of data/symbols.tsv, in its order."""
    symbols = {}
    for row in upstream.read_table(data / "symbols.tsv"):
        if row[0] in symbols:
            raise SystemExit(f"symbols.tsv: {row[0]} stands twice")
        symbols[row[0]] = Symbol(row)
    return symbols


def exported(library):
    """{name: (nm letter, size)} of what a shared object defines for others."""
    done = subprocess.run(
        ["nm", "-D", "-S", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    found = {}
    for line in done.stdout.splitlines():
        fields = line.split()
        size = int(fields[1], 16) if len(fields) == 4 else 0
        found[fields[-1].split("@")[0]] = (fields[-2], size)
    return found


def check(library, symbols, objects, ours):
    """[(title, [messages])]: missing, surplus, wrong kind, wrong size. `ours`: facts of include/, or None."""
    declared = {**ours["functions"], **ours["objects"]} if ours else {}
    found = exported(library)
    missing = [f"{name} is not exported" for name in symbols if name not in found]
    surplus = [
        f"{name} is exported, but no list names it"
        + (f"; our {declared[name]['header']} declares it: add it to data/symbols.tsv" if name in declared else "")
        for name in found
        if name not in symbols
    ]
    kinds = [
        f"{name} is {KINDS.get(found[name][0], found[name][0])}, upstream's is {symbol.elf_kind}"
        for name, symbol in symbols.items()
        if name in found and KINDS.get(found[name][0]) != symbol.elf_kind
    ]
    sizes = []
    for name, relation, limit, reason in upstream.read_table(objects):
        size = found.get(name, ("", None))[1]
        right = size is not None and (size == int(limit) if relation == "=" else 0 < size <= int(limit))
        if not right:
            sizes.append(f"{name} has {size} bytes, must be {relation} {limit}: {reason}")
    return [
        (f"{len(symbols)} symbols that clients may ask for are exported", missing),
        ("nothing else is exported", surplus),
        ("functions are functions and objects are objects", kinds),
        ("objects that programs copy have the sizes they must have", sizes),
    ]


def check_file(library, symbols):
    """[(title, [messages])]: what the loader is told about the file."""
    tags = {}
    for line in readelf("-d", library):
        fields = line.split(None, 2)
        if len(fields) == 3 and fields[1].startswith("("):
            tags.setdefault(fields[1].strip("()"), []).append(fields[2])
    named = [bracketed(value) for value in tags.get("NEEDED", [])]
    needed = [f"needs {name}" for name in named if name not in SYSTEM]
    soname = [bracketed(value) for value in tags.get("SONAME", [])]
    flags = " ".join([*tags.get("FLAGS", []), *tags.get("FLAGS_1", [])])
    bound = ["is linked with -Bsymbolic"] if "SYMBOLIC" in tags or "SYMBOLIC" in flags else []
    for line in readelf("--dyn-syms", library):
        fields = line.split()
        if len(fields) >= 8 and fields[7] in symbols and fields[5] != "DEFAULT":
            bound.append(f"{fields[7]} has visibility {fields[5]}")
    size = int(tags.get("INIT_ARRAYSZ", ["0"])[0].split()[0])
    return [
        ("the SONAME is libucp.so.0", [] if soname == ["libucp.so.0"] else [f"SONAME is {soname}"]),
        ("the library needs nothing but the C library", needed),
        ("a program's copy of an object or its own function wins", bound),
        ("nothing of ours runs at load", [f"{size // 8} constructors"] if size > TOOLCHAIN_INIT else []),
    ]


def readelf(option, library):
    command = ["readelf", "-W", option, str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def bracketed(text):
    return text[text.index("[") + 1 : text.rindex("]")]


def undeclared(ours, symbols):
    """Functions and objects which our headers promise and the library does not export."""
    names = [name for name, function in ours["functions"].items() if not function["inline"]]
    return sorted(name for name in [*names, *ours["objects"]] if name not in symbols)


def unpromised(ours, symbols):
    """Listed symbols that belong into headers of ours and are not declared there.

    Headers of ucp, uct and ucm are all ours; of ucs we ship those that clients include.
    """
    for symbol in symbols.values():
        belongs = symbol.source.startswith(("ucp/", "uct/", "ucm/")) or symbol.source in ours["headers"]
        if belongs and symbol.name not in ours["functions"] and symbol.name not in ours["objects"]:
            yield f"{symbol.name} is not declared by our headers, upstream's {symbol.source} has it"
