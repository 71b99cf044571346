#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a change made training steps slower: two builds take turns at `assay bench train`.

usage: bench_pairs.py BASE/bin NEW/bin [--pairs N] [--seconds S] [--only TEXT]

Each pair runs both builds one after the other, and the one that begins alternates, so that a slow minute of the
machine meets both. For every row the ratio new/base of a pair is speed against speed (above 1: the new build is
faster). Prints the median of the pairs' ratios and its 95 % interval by order statistics (binomial, no assumption
about the distribution). Exit 1 when the interval of a row ends below 0.98.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

SMALLER_IS_BETTER = {"MiB", "s", "ms", "us"}


def measure(folder, options):
    """Row -> value of one run of the build in `folder`."""
    command = [str(Path(folder) / "assay"), "bench", "train", "--no-peers", "-o", "json",
               "--seconds", str(options.seconds)]
    if options.only:
        command += ["--only", options.only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_pairs: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    rows = {}
    for row in json.loads(done.stdout)["rows"]:
        name = (row["name"], row["profile"], row["target"], row["threads"])
        rows[name] = 1 / row["value"] if row["unit"] in SMALLER_IS_BETTER else row["value"]
    return rows


def bounds(values):
    """The 95 % interval of the median of `values`; the extremes where there are too few of them for one."""
    ordered = sorted(values)
    count, below, low = len(ordered), 0.0, 0
    for place in range(count // 2):
        below += math.comb(count, place) / 2**count
        if below > 0.025:
            break
        low = place
    return ordered[low], ordered[count - 1 - low]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    ratios = {}
    for pair in range(options.pairs):
        order = [options.base, options.new] if pair % 2 == 0 else [options.new, options.base]
        found = {folder: measure(folder, options) for folder in order}
        for row, value in found[options.new].items():
            if row in found[options.base]:
                ratios.setdefault(row, []).append(value / found[options.base][row])
        print(f"bench_pairs: pair {pair + 1} of {options.pairs}", file=sys.stderr, flush=True)
    slower = 0
    print(f"{'what':34} {'profile':8} {'target':12} {'threads':>7} {'median':>7}   95 % interval")
    for (name, profile, target, threads), values in ratios.items():
        low, high = bounds(values)
        slower += high < 0.98
        print(f"{name:34} {profile:8} {target:12} {threads:7} {statistics.median(values):7.3f}   {low:.3f} to {high:.3f}")
    return 1 if slower or not ratios else 0


if __name__ == "__main__":
    sys.exit(main())
