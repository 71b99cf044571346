#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kinds of operators are told apart in few places; everybody else asks the row of the operator table.

Refuses, with file and line:
  - `OperatorKind`, under whatever alias, and its enumerators outside of the places of PLACES;
  - an alias of it in a header, by which it would travel under another name;
  - comparing kinds by order, anywhere: outside of those places also any `.kind` beside < or >, and a cast to or of a
    `.kind`, in a file that includes the program's headers;
  - comparing the name of a row with a text, or looking into it, outside of those places;
  - a copy of a `.kind`, or of a row's name, in a variable, and kinds handed to std::less and its like, there too.
`--root DIR` checks another tree.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = "contracts/program/operator_table.hpp"
PLACES = {
    "contracts/program/operator_table.": "the table",
    "contracts/program/program.hpp": "an operator's record names its kind",
    "contracts/program/models/": "model builders",
    "contracts/program/reference_": "definitions, operator by operator",
    "contracts/dispute/": "laws of partials, operator by operator",
    "trainer/step/group.": "groups",
    "trainer/devices/operator_bench.": "times operators by kind",
    "trainer/cpu/": "kernels and their device",
    "trainer/cuda/": "kernels and their device",
    "trainer/reference/": "the law as a device",
    "trainer/torch/": "operators for PyTorch",
    "tests/": "tests",
}
COMMENT = re.compile(r'//.*$|"(?:[^"\\]|\\.)*"')
# In whoever includes the program: `a.kind < b.kind`, `x > one.kind`.
KIND_AS_NUMBER = re.compile(r"(?:\.|->)kind\s*(?:<=?|>=?)(?![<>])|[\w)\]]\s+(?:<=?|>=?)\s*(?:\w+(?:\.|->))+kind\b")
# A kind made a number or made of one: `int(one.kind)`, `static_cast<int>(one.row().kind)`, `decltype(one.kind){2}`.
KIND_CAST = re.compile(r"(?:(?:static|reinterpret|bit)_cast<[^>]*>|to_underlying"
                       r"|\bu?int(?:\d+_t)?|\bunsigned|\bsize_t|\blong)"
                       r"\s*[({]\s*(?:[\w()\[\]]+(?:\.|->))+kind\b|decltype\([^)]*(?:\.|->)kind\)\s*[{(]"
                       r"|\((?:std::)?(?:u?int\d*(?:_t)?|unsigned|size_t|long|char)\)"
                       r"\s*(?:[\w()]+(?:\.|->))+kind\b"
                       r"|_cast<decltype\([^)]*(?:\.|->)kind\)>")
# A row told by its name: `row().name == "rope"`, `to_text(kind) == "gelu"`, also the other way round.
NAME_COMPARED = re.compile(r"(?:(?:row(?:_of)?\([^()]*(?:\([^()]*\))?[^()]*\)|\brow)(?:\.|->)name"
                           r"|\bto_text\([^()]*kind\))"
                           r'\s*(?:[!=]=\s*|\.(?:compare|starts_with|ends_with|find)\s*\(\s*)""'
                           r'|""\s*[!=]=\s*(?:(?:[\w.>-]*row(?:_of)?\([^()]*\)|\brow)(?:\.|->)name'
                           r'|(?:\w+::)*to_text\([^()]*kind\))')
# What a comparison in another line could start from: `auto k = row.kind;`, `const auto n = op.row().name;`.
COPIED = re.compile(r"\bauto&?\s+\w+\s*(?:=|\{)\s*(?:(?:[\w()\[\]]+(?:\.|->))+kind\b(?!\s*[=!]=)"
                    r"|(?:[\w.>-]*\brow(?:_of)?\([^;]*\)|\brow)(?:\.|->)name)\s*[;})]"
                    r"|\bstd::(?:less|greater)(?:_equal)?<[^>]*>\s*(?:\{\}|\(\))\s*\([^;]*(?:\.|->)kind\b"
                    r"|(?:row(?:_of)?\([^()]*(?:\([^()]*\))?[^()]*\)|\brow)(?:\.|->)name\s*"
                    r"(?:\[|\.\s*(?:size|length|front|back|at|substr|empty)\s*\()")
PROGRAM_HEADERS = re.compile(r'#\s*include\s*"(?:contracts/program/(?:program|operator_table|models/\w+)|'
                             r'trainer/step/\w+)\.hpp"')
ENUM = re.compile(r"\benum class (\w+)[^{;]*\{(.*?)\}", re.S)
ALIAS = re.compile(r"\b(?:using\s+(\w+)\s*=\s*(?:typename\s+)?([\w:]+)\s*;|typedef\s+([\w:]+)\s+(\w+)\s*;|"
                   r"using\s+enum\s+([\w:]+)\s*;|using\s+([\w:]+)\s*;)")


def sources(root):
    """Every C++ file that git tracks or would track; all of them where there is no git."""
    try:
        found = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                               capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        found = [str(path.relative_to(root)) for path in root.rglob("*")]
    return sorted(f for f in found if f.endswith((".cpp", ".hpp", ".cu", ".cuh")) and (root / f).is_file())


def code_of(path):
    """The file without comments, and with every text empty, line by line."""
    return [COMMENT.sub(lambda found: '""' if found[0].startswith('"') else "", line)
            for line in path.read_text(encoding="utf-8").split("\n")]


def enumerators(body):
    return set(re.findall(r"\b(k[A-Z]\w*)\b(?=\s*(?:=[^,]*)?(?:,|$))", re.sub(r"\s+", " ", body).strip()))


def last(name):
    return name.split("::")[-1]


def aliases_in(lines):
    """(line, new name or None for `using enum`, what it stands for)."""
    for number, line in enumerate(lines, 1):
        for match in ALIAS.finditer(line):
            new, target, old, typedef, all_of, imported = match.groups()
            if all_of:
                yield number, None, last(all_of)
            elif imported:
                yield number, last(imported), last(imported)
            else:
                yield number, new or typedef, last(target or old)


def is_place(name):
    return any(name.startswith(place) for place in PLACES)


def check_tree(root):
    files = {name: code_of(root / name) for name in sources(root)}
    if TABLE not in files:
        return [f"{TABLE} is missing: there is nothing to check"], 0
    other_enums, kinds = {}, set()
    for lines in files.values():
        for name, body in ENUM.findall("\n".join(lines)):
            if name == "OperatorKind":
                kinds |= enumerators(body)
            else:
                other_enums.setdefault(name, set()).update(enumerators(body))
    if not kinds:
        return [f"{TABLE}: OperatorKind has no enumerators"], 0
    wrong = []
    for name, lines in files.items():
        includes_program = PROGRAM_HEADERS.search((root / name).read_text(encoding="utf-8")) is not None
        wrong += check_file(name, lines, kinds, other_enums, includes_program)
    return wrong, len(files)


def check_file(name, lines, kinds, other_enums, includes_program):
    names = {"OperatorKind"}  # under which the file knows it
    meant = {}  # other aliases of the file
    for number, alias, target in aliases_in(lines):
        if target not in names:
            if alias:
                meant[alias] = target
            continue
        if alias:
            names.add(alias)
        if name.endswith((".hpp", ".cuh")) and not name.startswith("tests/"):
            yield f"{name}:{number}: an alias of OperatorKind in a header: spell it out"
    known = "|".join(sorted(names))
    ordered = re.compile(rf"\b(?:{known})::k\w+\s*(?:<=?|>=?)(?![<>])|(?:<|>)=?\s*(?:\w+::)*(?:{known})::k\w+(?!\w|::|>)"
                         r"|\.kind\s*(?:<=?|>=?)(?![<>])")
    for number, line in enumerate(lines, 1):
        if includes_program and not is_place(name) and COPIED.search(line):
            yield f"{name}:{number}: what tells a kind is copied or looked into: ask a field of the operator's row"
        if includes_program and not is_place(name) and NAME_COMPARED.search(line):
            yield f"{name}:{number}: a kind is told by its name: ask a field of the operator's row"
        cast = KIND_CAST.search(line.replace("error().kind", ""))  # an exit code is made of an error's kind
        if includes_program and not is_place(name) and (KIND_AS_NUMBER.search(line) or cast):
            yield f"{name}:{number}: a kind is compared by order or made a number: ask a field of the operator's row"
        elif ordered.search(line) and (is_place(name) or re.search(rf"\b(?:{known})\b", line)):
            yield f"{name}:{number}: kinds have no order: ask a field of the operator's row"
        if is_place(name):
            continue
        if re.search(rf"\b(?:{known})\b", line):
            yield f"{name}:{number}: OperatorKind is for {', '.join(PLACES)}: ask the operator's row"
            continue
        for match in re.finditer(r"(?:(\w+|\))\s*::\s*)?\b(k[A-Z]\w*)\b", line):
            qualifier, word = match.groups()
            if word not in kinds or qualifier is None:
                continue
            if word not in other_enums.get(meant.get(qualifier, qualifier), ()):
                yield f"{name}:{number}: {qualifier}::{word} is a kind of operator: ask the operator's row"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=ROOT)
    wrong, count = check_tree(parser.parse_args().root)
    for line in wrong:
        print(line)
    print(f"operators: {count} files, {len(wrong)} problems")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
