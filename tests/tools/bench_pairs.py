#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a change made training steps or products slower: two builds take turns at the same work.

usage: bench_pairs.py BASE/bin NEW/bin [--starts N] [--turns N] [--runs N] [--threads 1,2] [--targets LIST]
                      [--profile f32|i16] [--products] [--large] [--only TEXT]
                      [--base-set NAME=VALUE] [--new-set NAME=VALUE]

A start begins one `assay-worker --bench` of each build and gives both the same case. They take turns at some runs of it,
and who begins alternates, so that a slow minute of the machine meets both. What counts of a start is the least time of
each build: what else runs only adds to it. Where a process finds its memory moves a step by 5 % from one start to the
next, so that a case needs several starts.

Prints for each case the mean of both builds' least times, the median of the starts' ratios (base / new, above 1: the
new build is faster), and the 95 % interval of that median by order statistics (binomial, no assumption about the
distribution). Fewer than 6 starts have no such interval: their extremes are printed, and decide nothing. Exit 1 when
the interval of a case with 6 starts or more ends below 0.98.

--targets is ASSAY_TARGETS of both builds; --base-set and --new-set set a variable for one of them (several: repeat), so
that one build can be compared with itself under another setting.
"""
import argparse
import contextlib
import itertools
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

# As `assay bench` has them (node/cli/bench_plan.cpp).
STEPS = [("GPT-2 5M", "4 256 4 256 8192 8")]
LARGE_STEPS = [("GPT-2 124M", "12 768 12 256 50257 4")]
PRODUCTS = [("forward 512x128x512", "forward 512 128 512"), ("forward 1024x1024x1024", "forward 1024 1024 1024"),
            ("forward 2048x768x3072", "forward 2048 768 3072"),
            ("input gradient 2048x768x3072", "input 2048 768 3072"),
            ("weight gradient 2048x768x3072", "weight 2048 768 3072"),
            ("forward 2048x3072x768", "forward 2048 3072 768"),
            ("head input gradient 2048x256x8192", "head-input 2048 256 8192"),
            ("head weight gradient 2048x256x8192", "head-weight 2048 256 8192")]
ENOUGH = 0.98  # an interval that ends below it says that the new build is slower
FEWEST = 6  # starts with which the extremes hold the median with 95 %
PRODUCT_SECONDS = 0.1  # what a turn of a product takes at least


class PairsError(Exception):
    pass


class Side:
    """A build's program, ready to run a case."""

    def __init__(self, folder, line, environment):
        self.folder = folder
        self.process = subprocess.Popen([str(Path(folder) / "assay-worker"), "--bench"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=dict(os.environ, **environment))
        try:
            self.ask(line, "ready")
        except PairsError:
            self.end()
            raise

    def ask(self, line, wanted):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # what it says, or that it says nothing, is told below
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] != wanted:
            raise PairsError(f"{self.folder} answers '{line}' with '{' '.join(answer)}'")
        return answer[1:]

    def times(self, runs):
        return [float(word) for word in self.ask(f"run {runs}", "times")]

    def end(self):
        with contextlib.suppress(BrokenPipeError):  # a line that nobody read
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


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


def cases(options):
    """(name, profile, threads, line of the case)."""
    found = []
    verb, kinds = ("gemm", PRODUCTS) if options.products else ("step", LARGE_STEPS if options.large else STEPS)
    threads = options.threads or ("1" if options.products else "1,2")
    for (name, words), profile, count in itertools.product(kinds, options.profile or ("f32", "i16"), threads.split(",")):
        if options.only in name:
            found.append((name, profile, count, f"{verb} {profile} {words}"))
    return found


def settings(options, words, threads):
    environment = {"ASSAY_THREADS": threads}
    if options.targets:
        environment["ASSAY_TARGETS"] = options.targets
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise PairsError(f"'{word}' is not NAME=VALUE")
        environment[name] = value
    return environment


def start(options, line, threads, number):
    """The least times of both builds in one start."""
    described = [(options.base, settings(options, options.base_set, threads)),
                 (options.new, settings(options, options.new_set, threads))]
    sides, least = {}, [math.inf, math.inf]
    try:
        # Who asks for memory first alternates too.
        for i in (0, 1) if number % 2 == 0 else (1, 0):
            sides[i] = Side(described[i][0], line, described[i][1])
        runs = options.runs or (max(1, math.ceil(PRODUCT_SECONDS / sides[0].times(1)[0])) if options.products else 2)
        for turn in range(options.turns):
            for i in (0, 1) if (turn + number) % 2 == 0 else (1, 0):
                least[i] = min([least[i], *sides[i].times(runs)])
    finally:
        for side in sides.values():
            side.end()
    return least


def row(name, profile, threads, pairs):
    """The line of a case, and whether the new build is slower there. `pairs`: least times of base and new."""
    base, new = (statistics.mean(pair[i] for pair in pairs) for i in (0, 1))
    ratios = [first / second for first, second in pairs]
    low, high = bounds(ratios)
    text = (f"{name:34} {profile:8} {threads:>7} {len(pairs):>6} {1000 * base:9.2f} {1000 * new:9.2f} "
            f"{statistics.median(ratios):7.3f}   {low:.3f} to {high:.3f}")
    return text, len(pairs) >= FEWEST and high < ENOUGH


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--starts", type=int, default=12)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--runs", type=int, default=0,
                        help="runs a turn; 0: two steps, or a tenth of a second of products")
    parser.add_argument("--threads", default="", help="thread counts, as 1,2")
    parser.add_argument("--targets", default="")
    parser.add_argument("--profile", action="append", choices=("f32", "i16"))
    parser.add_argument("--products", action="store_true", help="products of a linear layer instead of steps")
    parser.add_argument("--large", action="store_true",
                        help="a step of GPT-2 124M instead: both builds take 5 GiB together")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--base-set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--new-set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    if options.starts < 1 or options.turns < 1 or options.runs < 0:
        parser.error("--starts and --turns are numbers from 1 on, --runs from 0 on")
    if not cases(options):
        parser.error(f"no case has '{options.only}' in its name")
    return options


def main():
    options = parse()
    slower = 0
    print(f"{'what':34} {'profile':8} {'threads':>7} {'starts':>6} {'base, ms':>9} {'new, ms':>9} {'ratio':>7}   "
          "95 % interval", flush=True)
    try:
        for name, profile, threads, line in cases(options):
            pairs = [start(options, line, threads, number) for number in range(options.starts)]
            text, is_slower = row(name, profile, threads, pairs)
            slower += is_slower
            print(text, flush=True)
    except (PairsError, OSError) as error:
        print(f"error: bench_pairs: {error}", file=sys.stderr)
        return 2
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
