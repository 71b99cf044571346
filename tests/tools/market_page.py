#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/market.md: writes what one run of `assay bench market -o json` measured between the page's markers.

usage: market_page.py BENCH.json

Every row of the run is a row of the page. Nothing is chosen or left out.
"""
import datetime
import json
import os
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/market.md"
BEGIN, END = "<!-- table market -->\n", "<!-- end market -->"


def number(value):
    return "–" if value is None else f"{value:.5f}" if value < 10 else f"{value:,.1f}"


def limits(rows):
    yield "| what | bids × asks | ours | unit | at most | met | peer | peer's | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        met = "–" if row["met"] is None else "yes" if row["met"] else "**no**"
        limit = "–" if row["limit"] is None else f"{row['limit']:,.0f}"
        yield (f"| `{row['name']}` | {row['shape']} | {number(row['value'])} | {row['unit']} | {limit} | {met} | "
               f"{row['peer'] or '–'} | {number(row['peer_value'])} | {number(row['ratio'])} |")


def welfare(rows):
    yield ("| family | bids × asks | classes (seeds from) | rule | welfare | worst | paying | worst | lots | left over | "
           "sellers tried | their gain | can gain |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        shares = (number(row[name])
                  for name in ("welfare", "welfare_worst", "paying", "paying_worst", "lots", "left_over"))
        tried = f"{row['sellers_tried']:,}"
        gains = " | ".join(f"{100 * row[name]:.2f} %" for name in ("sellers_gain", "can_gain"))
        yield (f"| {row['family']} | {row['shape']} | {row['markets']:,} ({row['first_seed']}) | {row['rule']} | "
               f"{' | '.join(shares)} | {tried} | {gains} |")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        bench = json.load(file)
    machine, day = bench["machine"], datetime.date.fromtimestamp(os.path.getmtime(sys.argv[1]))
    head = f"{day}, {os.cpu_count()} processors, {machine['cpu']}; load when it began: {machine['load']:.2f}."
    before, rest = PAGE.read_text().split(BEGIN)
    body = "\n".join([*limits(bench["market"]), "", *welfare(bench["welfare"])])
    PAGE.write_text(f"{before}{BEGIN}{head}\n\n{body}\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
