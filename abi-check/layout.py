"""Compares what two header trees say: sizes, offsets, enum values, macro values, type classes.

`theirs` is one release, `ours` is include/. Names that theirs has must exist in ours with the same
meaning; a record of ours may be larger only at its end, and only where an exception says which
mask or version keeps older clients safe.
"""

import facts


LISTED = ("ucp/api/", "uct/api/", "ucm/api/")  # families whose every symbol the library exports


class Comparison:
    """Differences of one release: [(what, name, message)], and how many facts were equal."""

    def __init__(self, ours, theirs, newest, symbols):
        self.ours, self.theirs, self.newest, self.symbols = ours, theirs, newest, symbols
        self.covered = set(ours["headers"]) | closure(theirs)

    def wanted(self, kind):
        """Facts of theirs that stand in a header which we have, or which a client must get."""
        for name, fact in sorted(self.theirs[kind].items()):
            if fact["header"] in self.covered:
                yield name, fact

    def headers(self):
        """Every installed header has to be there under its name."""
        found, equal = [], 0
        for name in self.theirs["installed"]:
            if name in self.ours["installed"]:
                equal += 1
            else:
                found.append(("header", name, f"header {name} is missing"))
        return found, equal

    def records(self):
        """A record with both names is compared under its typedef; its tag must exist too."""
        found, equal = [], 0
        tags = tags_of(self.theirs)
        for name, old in self.wanted("records"):
            if name in tags:
                if name not in self.ours["records"]:
                    found.append(("record", name, f"{name} is missing"))
                continue
            new = self.ours["records"].get(name)
            if new is None:
                found.append(("record", name, f"{name} ({old['size']} bytes) is missing"))
                continue
            before = len(found)
            self.record(name, old, new, found)
            equal += len(found) == before
        return found, equal

    def record(self, name, old, new, found):
        if old["align"] != new["align"]:
            found.append(("record", name, f"{name}: alignment {new['align']}, upstream {old['align']}"))
        if new["size"] != old["size"]:
            what = "grown" if new["size"] > old["size"] else "record"
            found.append((what, name, f"{name}: {new['size']} bytes, upstream {old['size']}"))
        for path, theirs in old["members"].items():
            ours = new["members"].get(path)
            key = f"{name}.{path}"
            if ours is None:
                found.append(("member", key, f"{key} is missing"))
                continue
            for field, unit in (("at", "bit offset"), ("bits", "bits wide"), ("class", "class")):
                if ours[field] != theirs[field]:
                    text = f"{key}: {unit} {ours[field]}, upstream {theirs[field]}"
                    if field == "bits" and ours["class"].startswith("record") and ours["bits"] > theirs["bits"]:
                        continue  # a nested record that grew is judged under its own name
                    if field == "class" and both_records(ours, theirs):
                        continue
                    found.append(("member", key, text))
        if self.newest:
            for path in new["members"].keys() - old["members"].keys():
                found.append(("member", f"{name}.{path}", f"{name}.{path} is not upstream's"))

    def constants(self):
        found, equal = [], 0
        macros = self.ours["macros"]
        for name, old in self.wanted("constants"):
            new = self.ours["constants"].get(name, {}).get("value")
            if new is None and name in macros:
                new = macros[name]["values"].get(name)
            if new == old["value"]:
                equal += 1
            else:
                found.append(("constant", name, f"{name} = {new}, upstream {old['value']}"))
        if self.newest:
            for name in self.ours["constants"].keys() - self.theirs["constants"].keys():
                if name not in self.theirs["macros"]:
                    found.append(("extra", name, f"constant {name} is not upstream's"))
        return found, equal

    def types(self):
        found, equal = [], 0
        for name, old in self.wanted("typedefs"):
            new = self.ours["typedefs"].get(name)
            if new is None:
                found.append(("type", name, f"type {name} is missing"))
            elif new["class"] != old["class"] and not both_records(new, old):
                found.append(("type", name, f"type {name} is {new['class']}, upstream {old['class']}"))
            else:
                equal += 1
        return found, equal

    def macros(self):
        found, equal = [], 0
        for name, old in self.wanted("macros"):
            if old["guard"]:
                continue
            new = self.ours["macros"].get(name)
            constant = self.ours["constants"].get(name)
            if new is None and constant is not None and not old["function"]:
                new = {"values": {name: constant["value"]}, "text": None, "function": False, "parameters": 0}
            if new is None:
                found.append(("macro", name, f"macro {name} is missing"))
                continue
            wrong = [
                f"{call} = {new['values'].get(call)}, upstream {value}"
                for call, value in old["values"].items()
                if new["values"].get(call) != value
            ]
            if old["text"] is not None and old["text"] != new["text"]:
                wrong.append(f"{name} is {new['text']}, upstream {old['text']}")
            if (old["function"], old["parameters"]) != (new["function"], new["parameters"]):
                wrong.append(f"{name} takes {new['parameters']} parameters, upstream {old['parameters']}")
            found += [("macro", name, text) for text in wrong]
            equal += not wrong
        return found, equal

    def names(self):
        """Inline functions must exist; all others of ucp, uct and ucm must be in the symbol list."""
        found, equal = [], 0
        for name, old in self.wanted("functions"):
            new = self.ours["functions"].get(name)
            if old["inline"] and (new is None or not new["inline"]):
                found.append(("inline", name, f"inline function {name} is missing"))
            elif not old["inline"] and old["header"].startswith(LISTED) and name not in self.symbols:
                found.append(("prototype", name, f"function {name} is in no symbol list"))
            else:
                equal += 1
        for name, old in self.wanted("objects"):
            if old["header"].startswith(LISTED) and name not in self.symbols:
                found.append(("prototype", name, f"object {name} is in no symbol list"))
        if self.newest:
            for kind in ("functions", "objects"):
                for name in sorted(self.ours[kind].keys() - self.theirs[kind].keys()):
                    if not self.ours[kind][name].get("inline"):
                        found.append(("extra", name, f"{name} is not upstream's"))
        return found, equal


GONE = {"header": "installed", "macro": "macros", "type": "typedefs", "record": "records", "inline": "functions"}


def gone(what, name, ours, newest):
    """True for a name that neither we nor upstream's newest headers have: upstream took it back."""
    kind = GONE.get(what)
    return kind is not None and name not in ours[kind] and name not in newest[kind]


def tags_of(tree):
    """Record tags that a typedef names as well."""
    tags = {typedef.get("tag") or "" for typedef in tree["typedefs"].values()}
    return {tag for tag in tags if tag.startswith(("struct ", "union "))}


def both_records(one, other):
    return one["class"].startswith("record") and other["class"].startswith("record")


def closure(tree):
    """Headers a client of the entry points sees without asking for them."""
    return set(tree["closure"])


def read_tree(cindex, include, wanted, cache):
    """Facts of the headers of `include` that `wanted` names, and of what the entry points pull in."""
    have = facts.headers_in(include)
    chosen = [
        name
        for name in have
        if name in facts.ENTRY or (name in wanted and facts.is_readable(name))
    ]
    tree = facts.read(cindex, include, chosen, cache)
    tree["installed"] = have
    tree["closure"] = facts.read(cindex, include, list(facts.ENTRY), cache)["headers"]
    return tree
