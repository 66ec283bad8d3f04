"""The differences we allow, each with a reason, from exceptions.toml.

An entry names a check (`what`), a C name (shell pattern) and the releases it is for; a difference
that no entry covers fails, and so does an entry that no release needed: the list cannot rot.
"""

import fnmatch
import tomllib

import upstream

WHAT = {
    "header", "record", "grown", "member", "constant", "type", "macro", "prototype", "inline",
    "extra", "unexported", "alone",
}  # fmt: skip


class Exceptions:
    def __init__(self, path):
        self.entries = tomllib.loads(path.read_text()).get("allow", [])
        self.used = [False] * len(self.entries)
        for entry in self.entries:
            unknown = set(entry) - {"what", "name", "before", "since", "only", "reason"}
            if unknown or not set(listed(entry["what"])) <= WHAT or not entry.get("reason", "").strip():
                raise SystemExit(f"{path.name}: bad entry {entry}")

    def allows(self, what, name, release):
        """The reason why this difference is right for that release, or None."""
        for index, entry in enumerate(self.entries):
            if what in listed(entry["what"]) and applies(entry, release) and matches(entry["name"], name):
                self.used[index] = True
                return entry["reason"]
        return None

    def unused(self, checked):
        """Entries that none of the checked releases needed."""
        for entry, used in zip(self.entries, self.used, strict=True):
            if not used and any(applies(entry, release) for release in checked):
                yield f"{' '.join(listed(entry['what']))} {' '.join(listed(entry['name']))}"


def matches(patterns, name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in listed(patterns))


def listed(value):
    return [value] if isinstance(value, str) else value


def applies(entry, release):
    if release is None:
        return not {"before", "since", "only"} & set(entry)
    key = upstream.version_key(release)
    if "before" in entry and key >= upstream.version_key(entry["before"]):
        return False
    if "since" in entry and key < upstream.version_key(entry["since"]):
        return False
    return "only" not in entry or release in entry["only"]
