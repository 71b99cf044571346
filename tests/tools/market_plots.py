#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/market.md: the rows of `assay sim run market -o json` as a table and a picture.

usage: market_plots.py ROWS.json...

Writes docs/market_epochs.json (the rows of all files, beside those of other seeds that it had before), the table between
the page's markers, and docs/market_epochs.svg, which follows from that JSON file alone. Every row is a row of the table.
"""
import json
import statistics
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
BEGIN, END = "<!-- table epochs -->\n", "<!-- end epochs -->"
SCENARIOS = ("truthful", "shading", "sniping", "ring", "wash", "withholding", "spot-and-run")
COLOURS = ("#1b6ca8", "#c2410c", "#7c9a2f", "#6b21a8", "#111827")
LINE, LOAD = "#d1d5db", "#e5edf4"


def place(row):
    """Where a row stands: scenarios as the simulator lists them, then seeds."""
    return SCENARIOS.index(row["scenario"]), row["seed"]


def merged(bodies):
    """One row for each scenario and seed, the last one that is given; all of one size, or ValueError."""
    rows = {place(row): row for body in bodies for row in body["rows"]}
    sizes = {(row["miners"], row["jobs"], row["epochs"]) for row in rows.values()}
    if len(sizes) > 1:
        raise ValueError(f"rows of several sizes: {sorted(sizes)}; give runs of one size")
    return [rows[at] for at in sorted(rows)]


def table(rows):
    yield ("| scenario | seed | clearing ms | epoch ms | welfare | revenue | price sd | Jain | starved | transactions | "
           "gain |")
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        gain = "–" if row["scenario"] == "truthful" else f"{row['gain']:.4f}".replace("-", "−")
        yield (f"| {row['scenario']} | {row['seed']} | {row['clearing_ms']:,.1f} | {row['epoch_ms']:,.0f} | "
               f"{row['welfare_ratio']:.4f} | {row['revenue']:.3f} | {row['price_sd']:.3f} | {row['jain']:.3f} | "
               f"{row['starved']} | {row['transactions']:,} | {gain} |")


def text(x, y, words, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>'


def frame(left, top, height, title, marks, shown):
    """Title, lines and numbers of a vertical scale from 0 to its last mark; the panel is 300 wide."""
    yield text(left, top - 14, title, weight="bold")
    for mark in marks:
        y = top + height * (1 - mark / marks[-1])
        yield f'<line x1="{left}" x2="{left + 300}" y1="{y:.1f}" y2="{y:.1f}" stroke="{LINE}"/>'
        yield text(left - 6, y + 4, shown(mark), "end")


def polyline(points, colour, dash="none"):
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dash}" points="{at}"/>'


def round_scale(most):
    """Four equal steps from 0 that reach `most`."""
    step = 1
    while 4 * step < most:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return [step * i for i in range(5)]


def prices(rows, left, top, height):
    """Of the truthful market, a line for each seed: mean price of the lots sold, and of the classes' base prices dashed.
    Behind them bars: lots wanted of lots offered, mean of the seeds."""
    rows = [row for row in rows if row["scenario"] == "truthful"]
    epochs = len(rows[0]["course"])
    marks = round_scale(max(figures["price"] for row in rows for figures in row["course"]))
    width = 300 / epochs
    loads = [statistics.mean(row["course"][i]["wanted"] / max(1, row["course"][i]["offered"]) for row in rows)
             for i in range(epochs)]
    for i, load in enumerate(loads):
        tall = height * min(1, load)
        yield (f'<rect x="{left + width * i + 2:.1f}" y="{top + height - tall:.1f}" width="{width - 4:.1f}" '
               f'height="{tall:.1f}" fill="{LOAD}"/>')
        yield text(left + width * (i + 0.5), top + height + 16, str(i), "middle")
    yield from frame(left, top, height, "truthful: prices over epochs, and load", marks, str)
    for share in (0, 0.5, 1):
        yield text(left + 306, top + height * (1 - share) + 4, f"{share:.0%}")
    for row, colour in zip(rows, COLOURS):
        for name, dash in (("price", "none"), ("base_price", "5 4")):
            points = [(left + width * (figures["epoch"] + 0.5), top + height * (1 - figures[name] / marks[-1]))
                      for figures in row["course"] if figures[name] > 0]
            yield polyline(points, colour, dash)
    yield text(left, top + height + 52,
               "lines: base units a work unit (dashed: base price); bars: wanted of offered lots")


def by_scenario(rows, name, title, left, top, height):
    """A dot for each seed, a bar to their mean."""
    yield from frame(left, top, height, title, (0, 0.25, 0.5, 0.75, 1), lambda mark: f"{mark:.2f}")
    width = 300 / len(SCENARIOS)
    for i, scenario in enumerate(SCENARIOS):
        values = [(row["seed"], row[name]) for row in rows if row["scenario"] == scenario]
        x = left + width * (i + 0.5)
        yield text(x, top + height + 16 + 12 * (i % 2), scenario, "middle")
        if not values:
            continue
        tall = height * statistics.mean(value for _, value in values)
        yield f'<rect x="{x - 12:.1f}" y="{top + height - tall:.1f}" width="24" height="{tall:.1f}" fill="{LOAD}"/>'
        for at, (_, value) in enumerate(values):
            aside = x + 6 * (at - (len(values) - 1) / 2)
            yield (f'<circle cx="{aside:.1f}" cy="{top + height * (1 - value):.1f}" r="2.6" '
                   f'fill="{COLOURS[at % len(COLOURS)]}"/>')


def picture(rows):
    seeds = sorted({row["seed"] for row in rows})
    size = rows[0]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="1110" height="330" font-family="sans-serif" font-size="11" '
             'fill="#374151">', '<rect width="100%" height="100%" fill="#ffffff"/>']
    parts += prices(rows, 46, 40, 200)
    parts += by_scenario(rows, "welfare_ratio", "welfare, of the best", 430, 40, 200)
    parts += by_scenario(rows, "jain", "Jain's index over tenants", 790, 40, 200)
    parts.append(text(46, 312, f"{size['miners']:,} machines, {size['jobs']:,} jobs, {size['epochs']} epochs"))
    for i, seed in enumerate(seeds):
        x = 320 + 80 * i
        parts.append(f'<line x1="{x}" x2="{x + 20}" y1="308" y2="308" stroke="{COLOURS[i % len(COLOURS)]}" '
                     'stroke-width="2"/>')
        parts.append(text(x + 24, 312, f"seed {seed}"))
    return "\n".join(parts + ["</svg>"]) + "\n"


def write(files, docs):
    kept = docs / "market_epochs.json"
    bodies = [json.loads(Path(file).read_text()) for file in files]
    try:
        bodies.insert(0, json.loads(kept.read_text()))
        rows = merged(bodies)
    except (FileNotFoundError, ValueError):  # nothing is kept, or what is kept is of another size
        rows = merged(bodies[-len(files):])
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    kept.write_text('{"schema":"assay.sim.market/v1","rows":[\n' + lines + "\n]}\n")
    (docs / "market_epochs.svg").write_text(picture(rows))
    page = docs / "market.md"
    before, rest = page.read_text().split(BEGIN)
    body = "\n".join(table(rows))
    page.write_text(f"{before}{BEGIN}{body}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    write(sys.argv[1:], DOCS)
