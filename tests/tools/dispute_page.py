#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/disputes.md: writes what one run of `assay bench verify --only disputes -o json` measured
between the page's markers.

usage: dispute_page.py BENCH.json

Every kind has one row: the larger of both profiles where they share a column. Nothing is chosen or left out.
"""
import datetime
import json
import os
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/reference/disputes.md"
BEGIN, END = "<!-- table shapes -->\n", "<!-- end shapes -->"


def of_kinds(shapes):
    """The rows of each kind, by profile, in the order in which kinds come."""
    kinds = {}
    for shape in shapes:
        kinds.setdefault(shape["name"], {})[shape["profile"]] = shape
    return kinds


def table_of(shapes):
    limits = {(shape["witness_limit"], shape["referee_limit_us"]) for shape in shapes}
    if len(limits) != 1:
        sys.exit("rows have different limits")
    witness, verdict = limits.pop()
    yield (f"| what | when | partials f32 | partials i16 | moves | bytes | witness_bytes (at most {witness:,}) | "
           f"referee_us f32 (at most {verdict:,.0f}) | referee_us i16 | referee_us subnormal | met |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name, by_profile in of_kinds(shapes).items():
        both = by_profile.values()
        worst = {field: max(shape[field] for shape in both)
                 for field in ("moves", "bytes", "witness_bytes", "referee_us_subnormal")}
        f32, i16 = by_profile["f32"], by_profile["i16"]
        met = "yes" if all(shape["met"] for shape in both) else "**no**"
        shown = f"`{name}`" if "_" in name or f32["group"] in ("forward", "backward", "optimizer") else name
        yield (f"| {shown} | {f32['group']} | {f32['partials']} | {i16['partials']} | {worst['moves']} | "
               f"{worst['bytes']} | {worst['witness_bytes']} | {f32['referee_us']:.0f} | {i16['referee_us']:.0f} | "
               f"{worst['referee_us_subnormal']:.0f} | {met} |")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        bench = json.load(file)
    machine, day = bench["machine"], datetime.date.fromtimestamp(os.path.getmtime(sys.argv[1]))
    head = f"{day}, {os.cpu_count()} processors, {machine['cpu']}; load when it began: {machine['load']:.2f}."
    before, rest = PAGE.read_text().split(BEGIN)
    body = "\n".join(table_of(bench["disputes"]))
    PAGE.write_text(f"{before}{BEGIN}{head}\n\n{body}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
