"""Asks gcc: do our headers accept upstream's declarations, and does each header stand alone?

One generated file per release includes our headers and says every prototype, object, type and
member type of that release again, in upstream's words. A line directive before each statement
gives it the name of what it checks, so that a compiler message names the symbol.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import tempfile

import facts
import layout

MODES = (("gnu11", "c", "gcc"), ("gnu++17", "c++", "g++"))
STRICT = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-fmax-errors=0"]
MESSAGE = re.compile(r"^check/([^:]+):\d+(?::\d+)?: (?:fatal )?error: (.*)$")
TIMEOUT_S = 60
ALTERNATIVES = ("ucs/profile/profile_off.h",)  # defines the macros of profile_on.h in another way


def compile_text(text, include, standard, language, compiler):
    """gcc's messages about `text`; an empty list means that it compiles without a warning."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "check.c"
        source.write_text(text)
        done = subprocess.run(
            [compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{include}", str(source)],
            capture_output=True, text=True, timeout=TIMEOUT_S, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
    if done.returncode == 0 and not done.stderr.strip():
        return []
    return done.stderr.splitlines() or [f"{compiler} ended with {done.returncode}"]


def alone(include, headers):
    """[(header, standard, first message or None)] for each header compiled by itself."""
    jobs = [
        (header, mode)
        for header in headers
        for mode in MODES
        if mode[1] == "c++" or not facts.is_device_code(header)
    ]

    def one(job):
        header, mode = job
        messages = compile_text(f"#include <{header}>\n#include <{header}>\n", include, *mode)
        errors = [line for line in messages if "error" in line] or messages
        return header, mode[0], errors[0] if errors else None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, jobs))


def redeclarations(ours, theirs, covered, symbols):
    """Statements [(what, name, C text or None, C++ text or None)] in upstream's words."""
    for name, function in sorted(theirs["functions"].items()):
        mine = ours["functions"].get(name)
        if function["header"] not in covered or mine is None:
            continue
        what = "inline" if function["inline"] else "prototype"
        if not function["inline"] and name not in symbols:
            continue
        wrap = [f"__typeof__({text}) a{index}" for index, text in enumerate(function["arguments"])]
        listed = ", ".join([*wrap, "..."] if function["variadic"] else wrap) or "void"
        returns = f"__typeof__({function['returns']})"
        if function["inline"]:
            text = f"{returns} (*check_{name})({listed}) = {name};"
            yield what, name, text, text
        else:
            text = f"{returns} {name}({listed});"
            yield what, name, text, f'extern "C" {text}'
    for name, thing in sorted(theirs["objects"].items()):
        if thing["header"] in covered and name in symbols and name in ours["objects"]:
            text = f"extern __typeof__({thing['type']}) {name};"
            yield "prototype", name, text, f'extern "C" {{ {text} }}'
    for name, thing in sorted(theirs["typedefs"].items()):
        mine = ours["typedefs"].get(name)
        if thing["header"] in covered and mine and thing["type"]:
            yield "type", name, same(name, thing["type"]), None
    tags = layout.tags_of(theirs)
    for name, record in sorted(theirs["records"].items()):
        mine = ours["records"].get(name)
        if record["header"] not in covered or mine is None or name in tags:
            continue
        for path, member in record["members"].items():
            key = f"{name}.{path}"
            if member["type"] and path in mine["members"]:
                yield "member", key, same(f"__typeof__((({name} *)0)->{path})", member["type"]), None


def same(one, other):
    return f'_Static_assert(__builtin_types_compatible_p({one}, {other}), "not {quoted(other)}");'


def quoted(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def check(include, headers, statements):
    """[(standard, what, name, message)] of the statements that our headers contradict."""
    readable = [header for header in headers if facts.is_readable(header) and header not in ALTERNATIVES]
    opening = "".join(f"#include <{header}>\n" for header in ["stdarg.h", *readable])
    found = []
    for position, mode in enumerate(MODES):
        lines = [opening]
        kinds = {}
        for what, name, *texts in statements:
            if texts[position]:
                kinds[name] = what
                lines.append(f'#line 1 "check/{name}"\n{texts[position]}\n')
        messages = compile_text("".join(lines), include, *mode)
        named = [match for match in map(MESSAGE.match, messages) if match]
        seen = set()
        for match in named:
            if match.group(1) not in seen:
                seen.add(match.group(1))
                found.append((mode[0], kinds[match.group(1)], match.group(1), match.group(2)))
        if messages and not named:
            found.append((mode[0], "prototype", "headers", messages[0]))
    return found
