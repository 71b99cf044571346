#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A type's name has one meaning in the whole tree. A name that a header declares at namespace scope (class, struct,
union, enum, using) is declared nowhere else: not in another header, not in a source file's anonymous namespace,
whatever the namespaces are called, and not inside a function or a type. Nor do two source files of the programs
declare one at namespace scope. Free are nested types among themselves, which are qualified by the type that holds
them; aliases of the same type; the source files of tests among themselves, and what their functions and types hold;
and the `-inl.hpp` files among themselves, of which each target compiles one. `--root DIR` checks another tree."""
import argparse
import re
import sys
from pathlib import Path

from check_style import DIRECTIVE, LITERAL, tracked

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = ("contracts/", "ledger/", "trainer/", "verifier/", "node/", "tests/")
ALLOWED = {}  # name: why it may have two meanings; there is none
NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)$")
TYPE = re.compile(r"\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*"
                  r"(\w+)(?:\s+final)?\s*(?::(?!:)[^;]*)?$", re.DOTALL)
ALIAS = re.compile(r"^(?:template\s*<.*>\s*)?using\s+(\w+)\s*=\s*(.*)$", re.DOTALL)


class Declared:
    def __init__(self, file, line, name, is_public, target=None, is_held=False):
        self.file, self.line, self.name, self.is_public, self.target = file, line, name, is_public, target
        self.is_held = is_held

    def __str__(self):
        return f"{self.file}:{self.line}"


def kind_of(head):
    """What a brace opens that stands after this text: (namespace, its name), (type, its name), or neither."""
    match = NAMESPACE.search(head)
    if match:
        return "namespace", match[1]
    match = TYPE.search(head)
    return ("type", match[1]) if match else ("other", "")


def declarations(file, text):
    """Every type and alias that a file declares at namespace scope, and every type that functions and types hold."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    code = DIRECTIVE.sub(blank, LITERAL.sub(blank, text))
    is_header = file.endswith((".hpp", ".cuh")) and not file.endswith("-inl.hpp")
    opened, head, line = [], [], 1  # opened: kind and name of each brace
    for char in code:
        line += char == "\n"
        if char not in "{};":
            head.append(char)
            continue
        before = "".join(head).strip()
        head = []
        at_namespace = all(kind == "namespace" for kind, _ in opened)
        is_named = at_namespace and all(name for _, name in opened)
        if char == "{":
            kind, name = kind_of(before)
            if kind == "type" and at_namespace:
                yield Declared(file, line, name, is_named and not file.endswith("-inl.hpp"))
            elif kind == "type" and name:  # of a function or of a type
                yield Declared(file, line, name, False, is_held=True)
            opened.append((kind, name))
        elif char == "}":
            if opened:
                opened.pop()
        elif at_namespace and ALIAS.match(before):
            name, target = ALIAS.match(before).groups()
            yield Declared(file, line, name, is_named and is_header, re.sub(r"\s+", "", target))


def is_same(one, other):
    """Aliases of one type, or an alias that gives a type of another namespace its own name here."""
    if one.target is not None and other.target is not None and one.target.split("::")[-1] == other.target.split("::")[-1]:
        return True
    return any(this.target is not None and re.fullmatch(rf"(::)?([a-z_]\w*::)+{this.name}", this.target)
               for this in (one, other))


def is_program(one):
    return not one.is_held and one.file.endswith((".cpp", ".cu")) and not one.file.startswith("tests/")


def check(root):
    files = [f for f in tracked(root) if f.startswith(CODE) and f.endswith((".hpp", ".cpp", ".cu", ".cuh"))]
    by_name = {}
    for file in files:
        for found in declarations(file, (root / file).read_text(encoding="utf-8")):
            if not (found.is_held and file.startswith("tests/")):
                by_name.setdefault(found.name, []).append(found)
    wrong = []
    for name, all_of_it in sorted(by_name.items()):
        first = next((one for one in all_of_it if one.is_public), None)
        if first is None:  # the source files of the programs, each with a meaning of its own
            all_of_it = [one for one in all_of_it if is_program(one)]
            first = all_of_it[0] if all_of_it else None
        if first is None or name in ALLOWED:
            continue
        wrong += [f"{other}: {name} is a type of {first} already: a name has one meaning; call one by its subject"
                  for other in all_of_it if other.file != first.file and not is_same(first, other)]
    if not by_name:
        wrong.append("no type found")
    return wrong, len(by_name), len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    wrong, names, files = check(parser.parse_args().root)
    print("\n".join([*wrong, f"types: {names} names in {files} files, {len(wrong)} problems"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
