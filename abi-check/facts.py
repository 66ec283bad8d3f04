"""What a tree of headers says to a C compiler: records, enums, macros, types, functions, objects.

libclang reads the tree as gnu11 for x86-64; sizes and offsets are therefore the compiler's own.
The result is plain data (dict of dicts by C name), so that two trees can be compared and cached.
"""

import hashlib
import json
import pathlib
import re
import subprocess

FORMAT = 6  # part of the cache key: raise it when the shape of the result changes
ENTRY = ("ucp/api/ucp.h", "uct/api/uct.h", "ucm/api/ucm.h")
SAMPLES = ("0", "1", "3", "8", "17")
NAME = re.compile(r"^(UC[PTSM]_|_?uc[ptsm]_)")


def is_device_code(header):
    """Headers that only compilers for a GPU are meant to read, as C++."""
    return header.endswith("_impl.h")


def is_readable(header):
    """Headers that one C program on x86-64 can include together: not those of other processors."""
    return not is_device_code(header) and not re.match(r"ucs/arch/(aarch64|ppc64|rv64)/", header)


def headers_in(tree):
    """Every header of a tree, entry points first."""
    found = sorted(
        str(path.relative_to(tree))
        for path in tree.rglob("*.h")
        if path.relative_to(tree).parts[0] in ("ucp", "uct", "ucs", "ucm")
    )
    return [name for name in ENTRY if name in found] + [n for n in found if n not in ENTRY]


def read(cindex, tree, headers, cache):
    """Facts of `headers` (paths inside `tree`, C) and of all they include from `tree`."""
    key = hashlib.sha256(f"{FORMAT}\n{headers}\n".encode())
    for path in headers_in(tree):
        key.update(path.encode() + b"\0" + (tree / path).read_bytes())
    stored = cache / "abi-check-facts" / f"{key.hexdigest()[:24]}.json"
    if stored.is_file():
        return json.loads(stored.read_text())
    facts = Reader(cindex, tree.resolve()).read(headers)
    stored.parent.mkdir(parents=True, exist_ok=True)
    stored.write_text(json.dumps(facts, indent=0))
    return facts


def builtin_includes():
    """The compiler's own headers (stddef.h and so on), which libclang's package lacks."""
    done = subprocess.run(["gcc", "-print-file-name=include"], capture_output=True, text=True)
    return done.stdout.strip()


class Reader:
    def __init__(self, cindex, tree):
        self.cindex = cindex
        self.kinds = cindex.CursorKind
        self.types = cindex.TypeKind
        self.tree = tree
        self.arguments = [
            "-xc", "-std=gnu11", f"-I{tree}", f"-isystem{builtin_includes()}",
            "-ferror-limit=0", "-Wno-everything", "-target", "x86_64-linux-gnu",
        ]  # fmt: skip
        self.facts = {
            key: {} for key in ("records", "constants", "typedefs", "functions", "objects", "macros")
        }

    def read(self, headers):
        text = "#include <stdarg.h>\n" + "".join(f"#include <{name}>\n" for name in headers)
        unit = self.parse(text, macros=True)
        bad = [d for d in unit.diagnostics if d.severity >= self.cindex.Diagnostic.Error]
        if bad:
            raise SystemExit(f"{self.tree}: {bad[0].location.file}:{bad[0].location.line}: {bad[0].spelling}")
        macros = {}
        for cursor in unit.cursor.get_children():
            header = self.header_of(cursor)
            if header is None:
                continue
            if cursor.kind == self.kinds.MACRO_DEFINITION:
                macros[cursor.spelling] = self.macro(cursor, header)
            else:
                self.declaration(cursor, header)
        self.evaluate(text, macros)
        included = {self.relative(entry.include) for entry in unit.get_includes()}
        self.facts["headers"] = sorted(name for name in included if name)
        return self.facts

    def parse(self, text, macros=False):
        option = self.cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD if macros else 0
        return self.cindex.Index.create().parse(
            "facts.c", self.arguments, unsaved_files=[("facts.c", text)], options=option
        )

    def relative(self, file):
        if file is None:
            return None
        path = pathlib.Path(str(file)).resolve()
        return str(path.relative_to(self.tree)) if path.is_relative_to(self.tree) else None

    def header_of(self, cursor):
        return self.relative(cursor.location.file)

    def declaration(self, cursor, header):
        kinds = self.kinds
        if cursor.kind in (kinds.STRUCT_DECL, kinds.UNION_DECL):
            self.record(cursor, header)
        elif cursor.kind == kinds.ENUM_DECL:
            self.enum(cursor, header)
        elif cursor.kind == kinds.TYPEDEF_DECL:
            self.typedef(cursor, header)
        elif cursor.kind == kinds.FUNCTION_DECL:
            self.function(cursor, header)
        elif cursor.kind == kinds.VAR_DECL:
            self.variable(cursor, header)

    def record(self, cursor, header):
        for child in cursor.get_children():
            if child.kind in (self.kinds.STRUCT_DECL, self.kinds.UNION_DECL):
                self.record(child, header)
            elif child.kind == self.kinds.ENUM_DECL:
                self.enum(child, header)
        if cursor.is_definition() and tagged(cursor):
            self.add_record(cursor.type.spelling, cursor.type, header)

    def add_record(self, name, type_, header):
        members = {}
        self.members(type_.get_canonical(), "", 0, members)
        self.facts["records"][name] = {
            "header": header,
            "size": type_.get_size(),
            "align": type_.get_align(),
            "members": members,
        }

    def members(self, type_, prefix, base, out):
        """Adds every member below `type_`: path -> offset and size in bits, class, own type text."""
        for field in type_.get_fields():
            offset = base + field.get_field_offsetof()
            name = "" if "(" in field.spelling else field.spelling
            path = f"{prefix}.{name}" if prefix and name else prefix or name
            canonical = field.type.get_canonical()
            if name:
                bits = field.get_bitfield_width() if field.is_bitfield() else canonical.get_size() * 8
                text = spelled(field.type)
                out[path] = {
                    "at": offset,
                    "bits": bits,
                    "class": "bits" if field.is_bitfield() else self.class_of(canonical),
                    "type": None if nameless(text) or field.is_bitfield() else text,
                }
            if canonical.kind == self.types.RECORD and self.ours(canonical):
                self.members(canonical, path, offset, out)

    def ours(self, type_):
        return self.header_of(type_.get_declaration()) is not None

    def class_of(self, type_):
        """What two compilers must agree on to pass a value: width, signedness, kind."""
        type_ = type_.get_canonical()
        kinds = self.types
        if type_.kind == kinds.ENUM:
            return self.class_of(type_.get_declaration().enum_type)
        if type_.kind in (kinds.CONSTANTARRAY, kinds.INCOMPLETEARRAY):
            count = type_.get_array_size() if type_.kind == kinds.CONSTANTARRAY else 0
            return f"{count} x {self.class_of(type_.get_array_element_type())}"
        if type_.kind == kinds.POINTER:
            pointee = type_.get_pointee().get_canonical().kind
            return "function*" if pointee in (kinds.FUNCTIONPROTO, kinds.FUNCTIONNOPROTO) else "*"
        if type_.kind == kinds.RECORD:
            return f"record{type_.get_size()}"
        if type_.kind in (kinds.FUNCTIONPROTO, kinds.FUNCTIONNOPROTO):
            return "function"
        if type_.kind in (kinds.FLOAT, kinds.DOUBLE, kinds.LONGDOUBLE):
            return f"float{type_.get_size()}"
        signed = (kinds.SCHAR, kinds.CHAR_S, kinds.SHORT, kinds.INT, kinds.LONG, kinds.LONGLONG)
        sign = "int" if type_.kind in signed else "uint"
        return f"{sign}{max(type_.get_size(), 0)}"

    def enum(self, cursor, header):
        if not cursor.is_definition():
            return
        if tagged(cursor):
            self.facts["typedefs"][cursor.type.spelling] = {
                "header": header, "class": self.class_of(cursor.type), "type": None,
            }  # fmt: skip
        for constant in cursor.get_children():
            if constant.kind == self.kinds.ENUM_CONSTANT_DECL:
                self.facts["constants"][constant.spelling] = {
                    "header": header, "value": constant.enum_value,
                }  # fmt: skip

    def typedef(self, cursor, header):
        under = cursor.underlying_typedef_type
        canonical = under.get_canonical()
        name = cursor.spelling
        if canonical.kind == self.types.RECORD and canonical.get_size() >= 0:
            self.add_record(name, canonical, header)
        text = spelled(under)
        hidden = nameless(text) or canonical.kind in (self.types.RECORD, self.types.ENUM)
        self.facts["typedefs"][name] = {
            "header": header, "class": self.class_of(canonical), "type": None if hidden else text,
            "tag": canonical.spelling if canonical.kind == self.types.RECORD else None,
        }  # fmt: skip

    def function(self, cursor, header):
        inline = cursor.storage_class == self.cindex.StorageClass.STATIC
        kind = cursor.type.kind
        self.facts["functions"].setdefault(cursor.spelling, {
            "header": header,
            "inline": inline,
            "returns": spelled(cursor.result_type),
            "arguments": [spelled(argument.type) for argument in cursor.get_arguments()],
            "variadic": kind == self.types.FUNCTIONPROTO and cursor.type.is_function_variadic(),
        })  # fmt: skip

    def variable(self, cursor, header):
        if cursor.storage_class == self.cindex.StorageClass.EXTERN:
            self.facts["objects"][cursor.spelling] = {
                "header": header, "type": spelled(cursor.type), "size": cursor.type.get_size(),
            }  # fmt: skip

    def macro(self, cursor, header):
        tokens = [token.spelling for token in cursor.get_tokens()][1:]
        function = cursor_is_function_macro(self.cindex, cursor)
        return {"header": header, "function": function, "tokens": tokens}

    def evaluate(self, text, macros):
        """Values are asked of the compiler: one enum constant per macro, errors are 'no value'."""
        lines, asked = [], {}
        for name, macro in macros.items():
            if not NAME.match(name):
                continue
            calls = [name]
            if macro["function"]:
                count = parameters(macro["tokens"])
                calls = [f"{name}({', '.join([sample] * count)})" for sample in SAMPLES]
            for index, call in enumerate(calls):
                asked[f"q{index}_{name}"] = (name, call)
                lines.append(f"enum {{ q{index}_{name} = ({call}) }};\n")
            self.facts["macros"][name] = {
                "header": macro["header"],
                "function": macro["function"],
                "parameters": parameters(macro["tokens"]) if macro["function"] else 0,
                "guard": not macro["tokens"] and name.rstrip("_").endswith("_H"),
                "values": {},
                "text": string_text(macro),
            }
        unit = self.parse(text + "".join(lines))
        wrong = {d.location.line for d in unit.diagnostics if d.severity >= self.cindex.Diagnostic.Error}
        for cursor in unit.cursor.get_children():
            if cursor.kind != self.kinds.ENUM_DECL or cursor.location.line in wrong:
                continue
            for constant in cursor.get_children():
                if constant.spelling in asked:
                    name, call = asked[constant.spelling]
                    self.facts["macros"][name]["values"][call] = constant.enum_value


def tagged(cursor):
    """True for `struct x`, false for a record or enum that only a typedef or nothing names."""
    return cursor.type.spelling.startswith(("struct ", "union ", "enum ")) and not nameless(cursor.type.spelling)


def spelled(type_):
    """The type as C text; what a va_list becomes as a parameter has no name in C."""
    return type_.spelling.replace("struct __va_list_tag *", "va_list")


def nameless(text):
    return "(unnamed" in text or "(anonymous" in text


def cursor_is_function_macro(cindex, cursor):
    return bool(cindex.conf.lib.clang_Cursor_isMacroFunctionLike(cursor))


def parameters(tokens):
    """Number of parameters of a function-like macro, from its tokens `( a , b ) ...`."""
    inside = tokens[1 : tokens.index(")")]
    return len([token for token in inside if token != ","])


def string_text(macro):
    tokens = macro["tokens"]
    return tokens[0] if len(tokens) == 1 and tokens[0].startswith('"') else None
