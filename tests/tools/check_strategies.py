#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No code but a strategy's own knows a strategy by name: everything else reads the row of the job
(contracts/program/round_law.hpp). Refuses, with file and line, such a name anywhere but where it is defined,
written by a person, or tested. `--root DIR` checks another tree."""
import argparse
import re
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
# `outer_nesterov` is an operation of contracts/arithmetic, which devices offer by its name.
NAMES = re.compile(r"di_?loco|(?<!outer_)nesterov|fp16|half(?=codec|row|_codec|_row)", re.IGNORECASE)
CODE = ("contracts", "ledger", "trainer", "verifier", "node")
# Rows and their functions, the scalar law of their arithmetic, and what people write and read.
HOME = ("contracts/program/strategies/", "contracts/arithmetic/", "node/config/", "node/cli/",
        "node/devnet/demo_data.cpp")


def check(root):
    wrong, seen = [], 0
    for top in CODE:
        for path in sorted((root / top).rglob("*.?pp")):
            name = path.relative_to(root).as_posix()
            seen += 1
            if name.startswith(HOME):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                found = NAMES.search(line)
                if found:
                    wrong.append(f"{name}:{number}: \"{found[0]}\" names a strategy; read the job's row instead")
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
