"""The state of every symbol (state.tsv, edited by hand) and MATRIX.md, which shows it to users.

The source is scanned so that the table cannot flatter: a function whose body is a stub may not be
called full or partial, unless its line says why nothing is the right thing to do.
"""

import re

import upstream

STATES = {
    "full": "full",
    "partial": "partial",
    "unsupported": "unsupported",
    "not-yet": "not yet",
}
FUNCTION = re.compile(
    r'((?:^[ \t]*(?:///[^\n]*|#\[[^\n]*\])\n)*)'
    r'^[ \t]*pub (?:unsafe )?extern "C" fn (\w+)\s*\(', re.M
)  # fmt: skip
MARK = "not implemented yet"
RIGHTLY_EMPTY = "nothing to do: "
NOTHING = ("", "0", "core::ptr::null_mut()", "core::ptr::null()", "ptr::null_mut()", "ptr::null()")


def states(path):
    """{symbol: (state, reason)}; a bad line ends the program, it is our own file."""
    found = {}
    for row in upstream.read_table(path):
        name, state, reason = (*row, "")[:3]
        if state not in STATES or (state != "full" and not reason.strip()) or name in found:
            raise SystemExit(f"{path.name}: bad or double line for {name}")
        found[name] = (state, reason)
    return found


def stubs(source):
    """{function: True when it is a stub} for every exported Rust function below `source`."""
    found = {}
    for path in sorted(source.rglob("*.rs")):
        text = path.read_text()
        for match in FUNCTION.finditer(text):
            parameters, body = body_at(text, match.end())
            answers = "NOT_IMPLEMENTED" in body and ";" not in body and "{" not in body
            unread = parameters and all(name.startswith("_") for name in parameters)
            nothing = unread and body.strip() in NOTHING
            found[match.group(2)] = answers or nothing or MARK in match.group(1)
    return found


def body_at(text, start):
    """Parameter names and body of the function whose parameter list begins at `start`."""
    opening = text.index("{", start)
    parameters = re.findall(r"(\w+)\s*:(?!:)", text[start:opening])
    depth = 0
    for position in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return parameters, text[opening + 1 : position]
    return parameters, text[opening + 1 :]


def check(symbols, states_, stubs_):
    """Messages about states that are missing, unknown or contradict the source."""
    found = []
    for name in symbols:
        if name not in states_:
            found.append(f"{name} has no line in state.tsv")
            continue
        state, reason = states_[name]
        stub = stubs_.get(name) and not reason.startswith(RIGHTLY_EMPTY)
        if stub and state in ("full", "partial"):
            found.append(f"{name} is called {state} in state.tsv, but its body is a stub")
    found += [f"{name} in state.tsv is in no symbol list" for name in states_ if name not in symbols]
    return found


def understated(symbols, states_, stubs_):
    """Functions that have a body and are still called not-yet: their line waits for an edit."""
    return [n for n in symbols if stubs_.get(n) is False and states_.get(n, ("",))[0] == "not-yet"]


def page(symbols, states_, clients):
    """The text of MATRIX.md."""
    lines = [
        "# Symbols of ferrucx",
        "",
        "Every symbol the library exports: the first release of OpenUCX (1.11 to 1.22) that declares it, the",
        "real client binaries that import it, and what our library does. Written by `make abi-check` from",
        "`abi-check/data/symbols.tsv` and `abi-check/state.tsv`; edit those, not this page.",
        "",
        "- **full**: behaves as documented. **partial**: works, with the limits named.",
        "- **unsupported**: answers the documented error, on purpose. **not yet**: answers an error for now.",
        "- *internal* symbols stand in no installed header; only UCX's own tools import them.",
        "",
        "| library | symbols | " + " | ".join(STATES.values()) + " |",
        "|---|---|" + "---|" * len(STATES),
    ]
    libraries = list(dict.fromkeys(symbol.library for symbol in symbols.values()))
    for library in libraries:
        counted = [states_.get(s.name, ("",))[0] for s in symbols.values() if s.library == library]
        counts = " | ".join(str(counted.count(state)) for state in STATES)
        lines.append(f"| {library} | {len(counted)} | {counts} |")
    for library in libraries:
        lines += ["", f"## {library}", "", "| symbol | since | imported by | state | note |", "|---|---|---|---|---|"]
        for symbol in symbols.values():
            if symbol.library != library:
                continue
            state, reason = states_.get(symbol.name, ("", ""))
            since = symbol.since + (" *internal*" if symbol.source.startswith("internal:") else "")
            users = ", ".join(symbol.clients) or "-"
            lines.append(f"| `{symbol.name}` | {since} | {users} | {STATES.get(state, '?')} | {reason} |")
    lines += ["", "## Clients", "", "| client | what it is | built against |", "|---|---|---|"]
    lines += [f"| {name} | {text} | {built} |" for name, text, built in clients]
    return "\n".join(lines) + "\n"
