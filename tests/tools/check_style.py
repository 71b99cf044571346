#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Style rules that a program can check. Each says what is wrong, where, and what to write instead.

`--root DIR` checks another tree. clang-format is used where it is installed, and its absence is printed.
"""
import argparse
import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MAX_COLUMNS = 110
MAX_COLUMNS_SCRIPT = 122  # scripts and protocol files: no formatter breaks their lines
MAX_LINES = 500
MAX_FUNCTION_LINES = 70  # between the braces, both included; rows of tables do not count
MAX_BYTES = 256 * 1024
CODE = (".cpp", ".hpp", ".py", ".sh", ".cmake", ".proto")
PURE = ("contracts/", "ledger/")
EXACT = ("contracts/arithmetic/", "trainer/cpu/", "trainer/reference/", "trainer/step/")
MONEY = ("contracts/rules/", "ledger/", "contracts/base/amount")
# Pure code, or code whose bits count: (folders, exceptions, pattern, reason and replacement).
BANNED = [
    (PURE, (), r"\bunordered_(map|set)\b", "order decides hashes: use std::map or std::set"),
    (("",), (), r"(?<![\w.>:])s?rand\s*\(", "hidden state: use contracts/arithmetic/philox.hpp with an explicit key"),
    (("contracts/", "ledger/"), ("ledger/engine/",), r"\bstd::chrono\b|\bgettimeofday\b|\bclock_gettime\b",
     "no clock here: time comes in as an argument"),
    (("contracts/",), (), r"\bstd::(mt19937|random_device|thread|mutex)\b",
     "pure code takes randomness as an argument and has no threads"),
    (MONEY, (), r"(?<![\w:])(float|double)\b", "no floating point in rules and ledger: use Amount or integers"),
    (EXACT, (), r"\bstd::(exp|log|sin|cos|tan|tanh|pow|log1p|expm1|erf|exp2|log2|cbrt|hypot)f?\s*\(",
     "the platform's libm differs between machines: use contracts/arithmetic"),
    (("",), (), r"\busing namespace std;", "name what is used"),
    (("contracts/",), (), r"\bthrow\b(?!\(\))", "contracts are built without exceptions: return a Result"),
    (("",), ("tests/",), r"\b(strcpy|strcat|sprintf|gets|system)\s*\(",
     "unbounded or unsafe: use std::string, snprintf, Process"),
    (("node/processes/", "node/roles/"), (), r"\bowner_key\w*|\bKeyRole::kOwner\b",
     "a process that serves knows no owner's key: let a command sign (node/cli/owner_step.hpp)"),
]
MARKERS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
COMMENT = re.compile(r'//.*$|"(?:[^"\\]|\\.)*"')
# What may hold braces that are none. A quote after a digit separates digits.
LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"'
                     r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# What stands before a brace: a type or namespace, whose inside is looked at; or a function's head.
SCOPE = re.compile(r"(?:^|[\s>])(?:namespace|class|struct|union|enum|extern)\b")
FUNCTION = re.compile(r"\)(?:\s*(?:const|constexpr|noexcept|override|final|mutable|try|&{1,2}))*(?:\s*->[^;={}]*)?"
                      r"(?:\s*\brequires\b[^;{}]*)?$"
                      r"|\)\s*:(?!:).*[)}]$"  # or a constructor's list
                      r"|(?:^|[=(,{:?&|\s])\[[^\[\]]*\](?:\s*<[^;{}]*>)?(?:\s*(?:mutable|noexcept|constexpr))*$"
                      r"|\]\s*<[^;={}]*>\s*(?:requires\b[^;{}]*)?$", re.DOTALL)
CASE_LABEL = re.compile(r"\s*case [^;{}]*:\s*$")


def tracked(root):
    try:
        found = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                               capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        found = [str(path.relative_to(root)) for path in root.rglob("*")]
    return sorted(f for f in found if f and (root / f).is_file())


def check_code(name, text):
    """One C++ or script file; yields (line, problem)."""
    lines = text.split("\n")
    head = lines[0:2]
    columns = MAX_COLUMNS if name.endswith((".cpp", ".hpp")) else MAX_COLUMNS_SCRIPT
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in head):
        yield 1, "the first line must name the licence: // SPDX-License-Identifier: Apache-2.0"
    if len(lines) - 1 > MAX_LINES:
        yield MAX_LINES + 1, f"{len(lines) - 1} lines: one concept a file, at most {MAX_LINES}"
    if name.endswith(".hpp") and not name.endswith("-inl.hpp") and "#pragma once" not in text:
        yield 1, "a header begins with #pragma once"
    if name.endswith(".hpp") and not (len(lines) > 1 and lines[1].startswith("// ")):
        yield 2, "a header begins with what it gives, and to whom: a comment in plain sentences after the licence"
    for number, line in enumerate(lines, 1):
        if len(line) > columns:
            yield number, f"{len(line)} columns: at most {columns}"
        if "\t" in line:
            yield number, "tab: indent with spaces"
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if MARKERS.search(line):
            yield number, "leftover marker: do it, or open an issue and say nothing here"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end of the file"


def cpp_functions(text):
    """(line of the opening brace, lines) of every function of a file that clang-format has laid out. Rows of a table
    that is assigned, and lone case labels, do not count; a function among the rows counts for itself."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    code = DIRECTIVE.sub(blank, LITERAL.sub(blank, text))
    lines = code.split("\n")
    opened, head, line = [], [], 1  # opened: kind, first line, what stood before, lines that are rows
    for char in code:
        line += char == "\n"
        if char == "{":
            before = "".join(head).strip()
            opened.append((brace_kind(opened[-1][0] if opened else "scope", before), line, head, set()))
            head = []
        elif char == "}" and opened:
            kind, first, head_before, rows = opened.pop()
            head = [*head_before, "{}"] if kind == "table" else []
            if kind == "function":
                yield first, sum(n not in rows and not CASE_LABEL.match(lines[n - 1]) for n in range(first, line + 1))
            elif opened:  # a block's rows are its function's
                opened[-1][3].update(range(first + 1, line) if kind == "table" else rows)
        elif char == ";":
            head = []
        else:
            head.append(char)


def brace_kind(around, before):
    """What a brace opens: by what it stands in, and the text between it and the last end of something."""
    if around in ("function", "block"):
        return "table" if before.endswith("=") else "block"
    if FUNCTION.search(before):
        return "function"
    return "scope" if around == "scope" and SCOPE.search(before) else "table"


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def check_functions(name, text):
    for line, count in python_functions(text) if name.endswith(".py") else cpp_functions(text):
        if count > MAX_FUNCTION_LINES:
            yield line, f"a function of {count} lines: at most {MAX_FUNCTION_LINES}; give a part of it a name"


def check_calls(name, text):
    if name.startswith("tests/tools/"):
        return
    for number, line in enumerate(text.split("\n"), 1):
        code = COMMENT.sub("", line)
        for folders, exceptions, pattern, reason in BANNED:
            if name.startswith(folders) and not (exceptions and name.startswith(exceptions)):
                if re.search(pattern, code):
                    yield number, f"'{re.search(pattern, code)[0].strip()}': {reason}"


def check_format(root, files):
    program = shutil.which("clang-format") or shutil.which("clang-format-14")
    if program is None:
        print("style: clang-format is not installed; layout is not checked")
        return
    for start in range(0, len(files), 50):
        done = subprocess.run([program, "--dry-run", "-Werror", *files[start:start + 50]], cwd=root,
                              capture_output=True, text=True, check=False)
        seen = set()
        for line in done.stderr.split("\n"):
            match = re.match(r"(.+?):(\d+):\d+: error:", line)
            if match and match[1] not in seen:
                seen.add(match[1])
                yield match[1], int(match[2]), "layout: run make format"


def check_tree(root):
    wrong, formatted, count = [], [], 0
    for name in tracked(root):
        path = root / name
        if path.stat().st_size > MAX_BYTES:
            wrong.append((name, 1, f"{path.stat().st_size} bytes: nothing above {MAX_BYTES} belongs in the tree"))
            continue
        if not name.endswith(CODE) and Path(name).name not in ("CMakeLists.txt", "Makefile", "setup", "run"):
            continue
        count += 1
        text = path.read_text(encoding="utf-8")
        if name.endswith(CODE) or Path(name).name == "CMakeLists.txt":
            wrong += [(name, line, problem) for line, problem in check_code(name, text)]
        if name.endswith((".cpp", ".hpp")):
            wrong += [(name, line, problem) for line, problem in check_calls(name, text)]
            formatted.append(name)
        if name.endswith((".cpp", ".hpp", ".py")):
            wrong += [(name, line, problem) for line, problem in check_functions(name, text)]
    wrong += check_format(root, formatted)
    return wrong, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=ROOT)
    wrong, count = check_tree(parser.parse_args().root)
    for name, line, problem in wrong:
        print(f"{name}:{line}: {problem}")
    print(f"style: {count} files, {len(wrong)} problems")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
