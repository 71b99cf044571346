#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every ASSAY_CHECK that stands in the way of a transaction or a deadline says why neither can reach it, and
which test shows that. tests/tools/checks.json holds the reasons, docs/reference/checks.md is made of it:
    check_checks.py           every check has a row, every row a check and a test, and the page is up to date
    check_checks.py --write   writes the page anew"""
import argparse
import json
import re
import sys
from pathlib import Path

DATA = "tests/tools/checks.json"
PAGE = "docs/reference/checks.md"
SKIPPED = ("contracts/base/check.hpp", "contracts/base/check.cpp")
FUNCTION = re.compile(r"^(?: {4})?(?=[\w~\[])(?!return\b|if\b|for\b|while\b|switch\b|else\b|case\b|using\b|ASSAY_|#|//)"
                      r"[\w:<>,&*\[\]~ ]*?\b(operator\W{1,2}|~?\w+)\(.*$")


def condition_at(text, start):
    """The text between the parentheses that open at `start`, spaces folded."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return re.sub(r"\s+", " ", text[start + 1:at]).strip()
    raise ValueError("an ASSAY_CHECK without an end")


def function_above(lines, number):
    for line in reversed(lines[:number + 1]):
        match = FUNCTION.match(line)
        if match and not line.rstrip().endswith(";"):
            return match[1]
    return "?"


def checks_of(path, name):
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for match in re.finditer(r"\bASSAY_CHECK\(", text):
        number = text.count("\n", 0, match.start())
        before = lines[number][:match.start() - (text.rfind("\n", 0, match.start()) + 1)]
        if "//" in before or "#define" in before:
            continue
        yield name, function_above(lines, number), condition_at(text, match.end() - 1)


def sources(root, data):
    for folder in data["scope"]:
        for path in sorted((root / folder).rglob("*.?pp")):
            name = path.relative_to(root).as_posix()
            if name not in SKIPPED and not any(name.startswith(o) for o in data["outside"]):
                yield path, name


def check_outside(root, data):
    """What is outside is so because nothing inside includes it."""
    for path, name in sources(root, data):
        for header in re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.M):
            for outside in data["outside"]:
                if header.startswith(outside) and header not in data["headers_of_both"]:
                    yield f"{name}: includes {header}, which {DATA} calls outside"


def test_names(root):
    names = set()
    for path in (root / "tests").rglob("*.cpp"):
        for literals in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)',
                                   path.read_text(encoding="utf-8")):
            names.add("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)))
    for path in (root / "tests").rglob("CMakeLists.txt"):
        for name in re.findall(r"assay_fuzz_target\((\w+)", path.read_text(encoding="utf-8")):
            names.add("fuzz_" + name)
    return names


def page_of(data, found):
    out = ["# Internal checks", "",
           "`ASSAY_CHECK` ends the process: it is for our own bugs, never for input. These are all the checks in code",
           "that a transaction, a block or a deadline runs through: why neither bytes nor heights reach the failing",
           "side, and the test that shows it. `tests/tools/check_checks.py` makes this page from the sources and",
           f"`{DATA}`, and fails when one of them is ahead.", "",
           "Outside, since no rule calls it: " + "; ".join(f"`{o}` ({w})" for o, w in data["outside"].items()) + ".", ""]
    rows = {(r["file"], r["function"], r["condition"]): r for r in data["rows"]}
    file = None
    for key in found:
        if key not in rows:
            continue
        if key[0] != file:
            file = key[0]
            out += ["", f"## {file}", "", "| in | condition | why it holds | shown by |", "|---|---|---|---|"]
        row = rows[key]
        cell = [f"`{key[1]}`", "`" + key[2].replace("|", "\\|") + "`", row["why"], row["test"]]
        out.append("| " + " | ".join(cell) + " |")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    root = arguments.root
    data = json.loads((root / DATA).read_text(encoding="utf-8"))
    found = list(dict.fromkeys(k for path, name in sources(root, data) for k in checks_of(path, name)))
    rows = [(r["file"], r["function"], r["condition"]) for r in data["rows"]]
    tests = test_names(root)
    problems = list(check_outside(root, data))
    problems += [f"{f}: {n}: ASSAY_CHECK({c}) has no row in {DATA}" for f, n, c in found if (f, n, c) not in rows]
    problems += [f"{DATA}: no such check any more: {r}" for r in rows if r not in found]
    problems += [f"{DATA}: {r['file']}: {r['condition']}: no test is called '{r['test']}'"
                 for r in data["rows"] if r["test"] not in tests]
    page = page_of(data, found)
    if arguments.write:
        (root / PAGE).write_text(page, encoding="utf-8")
    elif not (root / PAGE).is_file() or (root / PAGE).read_text(encoding="utf-8") != page:
        problems.append(f"{PAGE}: out of date; run tests/tools/check_checks.py --write")
    for problem in problems:
        print(problem)
    print(f"checks: {len(found)} checks, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
