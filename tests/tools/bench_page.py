#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/benchmarks.md: writes what one run of `assay bench -o json` measured between the page's markers.

usage: bench_page.py BENCH.json

The page then has the machine, its load, the day and every row; nothing is chosen or left out. A processor with AMX
has a table of its own.
"""
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/benchmarks.md"
BEGIN, END = "<!-- rows: made by make bench-record -->", "<!-- end of rows -->"
BEGIN_AMX = "<!-- rows with AMX: made by make bench-record -->"


def number(value):
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def kernel():
    done = subprocess.run(["uname", "-srm"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def rows_of(rows):
    yield "| what | shape | profile | target | threads | ours | unit | peer | peer's | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        yield (f"| {row['name']} | {row['shape']} | `{row['profile']}` | {row['target']} | {row['threads']} | "
               f"{number(row['value'])} | {row['unit']} | {row['peer'] or '–'} | {number(row['peer_value'])} | "
               f"{number(row['ratio'])} |")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        bench = json.load(file)
    machine, day = bench["machine"], datetime.date.fromtimestamp(os.path.getmtime(sys.argv[1]))
    head = (f"{day}, {os.cpu_count()} processors, {machine['cpu']}, targets {' '.join(machine['targets'])}, {kernel()}; "
            f"load when it began: {machine['load']:.2f}.")
    begin = BEGIN_AMX if "amx" in machine["targets"] else BEGIN
    before, rest = PAGE.read_text().split(begin)
    after = rest[rest.index(END):]
    body = "\n".join(rows_of(bench["rows"]))
    PAGE.write_text(f"{before}{begin}\n\n{head}\n\n{body}\n\n{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
