#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No code but a strategy's own knows a strategy by name: everything else reads the row of the job
(contracts/program/round_law.hpp). Refuses, with file and line, anywhere but where it is defined, written by a
person, or tested:
  - such a name;
  - a value of the enumerations Strategy and Engine, a comparison of a job's `strategy` or `engine`, a copy of one
    in a variable, and a cast of one;
  - a function of a row by its own name, and a comparison of a row's function or codec;
  - a comparison of a row's field with a number or a text, of a row's address, and any look into a row's words,
    which are there to be handed on.
`--root DIR` checks another tree."""
import argparse
import re
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
# `outer_nesterov` is an operation of contracts/arithmetic, which devices offer by its name, and
# `kOuterNesterov` the outer optimizer that is defined by it.
NAMES = re.compile(r"di_?loco|(?<!outer_)(?<!kOuter)nesterov|fp16|half(?=codec|row|_codec|_row)", re.IGNORECASE)
# A row told by its number: `Strategy{2}`, `Engine::kLocal`, `spec.strategy == s`, `s != spec.engine`.
VALUES = re.compile(r"\bkStandard(?:Strategy|Engine)\b|\bStrategy\s*[({]"
                    r"|\bEngine\s*(?:::\s*k\w+|\{)|\bStrategy\s*::\s*k\w+"
                    r"|\busing\s+enum\s+[\w:]*(?:Strategy|Engine)\b|_cast<(?:\w+::)*(?:Strategy|Engine)>"
                    r"|(?:\.|->)(?:strategy|engine)\s*[=!<>]=|[=!]=\s*(?:\w+(?:\.|->))+(?:strategy|engine)\b(?!\()"
                    r"|\bswitch\s*\((?:\w+(?:\.|->))*(?:strategy|engine)\)"
                    r"|(?:_cast<[^>]*>|\bto_underlying|\b(?:std::)?u?int(?:\d+_t)?|\bunsigned|\bsize_t)\s*[({]\s*"
                    r"(?:(?:\w+(?:\.|->))+(?:strategy|engine)|\w*(?:row|codec|outer)\w*(?:\.|->)number)\b(?!\()"
                    r"|\b(?:auto|Strategy|Engine)&?\s+\w+\s*(?:=|\{)\s*(?:\w+(?:\.|->))+(?:strategy|engine)\s*[;})]")
# A row told by what it holds: `row.merge == f`, `codec->bytes_each == 2`, `row.ticks > 1`, `codec->word == "int64"`.
FIELDS = re.compile(r"(?:\.|->)(?:merge|adopt|finalise|pack|decode|codec|outer)\s*[=!]=(?!\s*nullptr)"
                    r"|(?:\.|->)(?:bytes_each|ticks)\s*(?:[=!]=|[<>]=?)\s*\d"
                    r"|\d\s*(?:[=!]=|[<>]=?)\s*[\w.>-]*(?:bytes_each|ticks)\b"
                    r"|\b(?:row|codec|law)\w*(?:\(\))?(?:\.|->)(?:number|word|engine_word|magic)\s*[=!]="
                    r'|"\s*[=!]=\s*[\w.>()-]*(?:codec|row)\w*(?:\.|->)(?:word|engine_word|magic)\b'
                    r"|(?:\.|->)(?:codec(?:\.|->)magic|engine_word|word)\s*(?:[=!]=|[<>]=?(?![<>])"
                    r"|\.\s*(?:length|front|back|starts_with|ends_with|find|compare|substr|at|empty)\s*\(|\[)"
                    r"|(?:\.|->)(?:engine_word|word)\s*\.\s*size\s*\("
                    r"|[=!]=\s*&\s*\w*(?:row|codec|strateg)\w*|&\s*\w*(?:row|codec)\w*\s*[=!]="
                    r"|(?:\.|->)most_bytes\s*\([^()]*\)\s*[=!]="
                    r"|(?:\.|->)(?:base_arrays|slot_arrays|lane_arrays|carried_arrays)\s*\.\s*size\s*\(\)\s*"
                    r"(?:[=!]=|[<>]=?)\s*\d")
FUNCTIONS = re.compile(r"\b(?:merge_outer\w*|kOuterNesterov)\b")
# Where a value, or a function of a row, may be named besides HOME: the specification's defaults; the
# message about a strategy that has no row, which says its number; the devices that
# have a kernel for the operation; the referee, who cuts it by slots.
VALUES_ALSO = ("contracts/program/job_spec.hpp", "contracts/program/limits.cpp")
FUNCTIONS_ALSO = ("trainer/step/", "trainer/cuda/cuda_arrays.cpp", "contracts/dispute/array_referee.")
COMMENT = re.compile(r"//.*$")
CODE = ("contracts", "ledger", "trainer", "verifier", "node")
# Rows and their functions, the scalar law of their arithmetic, and what people write and read.
HOME = ("contracts/program/strategies/", "contracts/arithmetic/", "node/config/", "node/cli/")


def problem_of(name, line):
    """What a line outside of HOME says that it may not, or None."""
    found = NAMES.search(line)
    if found:
        return f'"{found[0]}" names a strategy; read the job\'s row instead'
    code = COMMENT.sub("", line)
    for pattern, also in ((VALUES, VALUES_ALSO), (FUNCTIONS, FUNCTIONS_ALSO), (FIELDS, FUNCTIONS_ALSO)):
        found = None if name.startswith(also) else pattern.search(code)
        if found:
            return f'"{found[0].strip()}" tells a strategy; add to the row what the reader wants to know'
    return None


def check(root):
    wrong, seen = [], 0
    for top in CODE:
        for path in sorted(p for p in (root / top).rglob("*") if p.suffix in (".cpp", ".hpp", ".cu", ".cuh")):
            name = path.relative_to(root).as_posix()
            seen += 1
            if name.startswith(HOME):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                problem = problem_of(name, line)
                if problem:
                    wrong.append(f"{name}:{number}: {problem}")
    if seen == 0:
        wrong.append("no source file found")
    return wrong, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=TOOLS.parent.parent)
    wrong, seen = check(parser.parse_args().root)
    print("\n".join([*wrong, f"strategies: {seen} files, {len(wrong)} problems"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
