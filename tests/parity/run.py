#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make parity: trains the same model on the same real text by our exact profiles and by PyTorch, and writes what came
out to docs/parity.md (between its markers), docs/parity.json and docs/parity.svg. Hours on two cores.

usage: run.py [--out FOLDER] [--python VENV_PYTHON] [--report] [--again] [--threads N]
       run.py --size [--prepare] [--only i16|fp32|bf16] [--device cpu|cuda:N] [--save N] [--until STEP] …

A finished run is never repeated: what is in FOLDER/runs or in docs/parity.json stays, so the whole can be stopped and
taken up again, elsewhere too. --again leaves docs/parity.json out of account. --report only writes the pages, from the
runs that are there. Text: Debian package bible-kjv-text.

--size (make parity-size): GPT-2 124M on Debian's documentation instead (size.py). A run that was stopped or killed goes
on from its last state. --prepare makes the data alone, which a machine without a network can take over.
"""
import argparse
import os
import subprocess
import sys

import report
import size

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("ASSAY_BIN_DIR", os.path.join(ROOT, "build", "bin"))
# One family after the other, one seed after the other, so that what is there early can be compared.
RUNS = [(family, seed, arithmetic)
        for family, seeds in (("gpt2", (1, 2, 3)), ("llama", (1,)))
        for seed in seeds
        for arithmetic in ("f32", "i16", "fp32", "bf16")]


def call(words, **more):
    subprocess.run(words, check=True, **more)


def pack(folder):
    data = os.path.join(folder, "data")
    if not os.path.exists(os.path.join(data, "manifest.json")):
        text = os.path.join(folder, "bible.txt")
        with open(text, "wb") as file:
            call(["bible", "-f", "gen1:1-rev22:21"], stdout=file)
        call([os.path.join(BIN, "assay"), "data", "pack", text, "--out", data, "--vocabulary", "8192",
              "--source", "bible-kjv-text", "--licence", "public domain"], stdout=subprocess.DEVNULL)
    return data


def one_run(folder, data, python, threads, family, seed, arithmetic):
    out = report.curve_path(folder, family, seed, arithmetic)
    program = os.path.join(BIN, "assay_parity")
    words = [f"data={data}", f"family={family}", f"seed={seed}"]
    if arithmetic in ("f32", "i16"):
        call([program, "train", *words, f"profile={arithmetic}", f"threads={threads}", f"out={out}"])
        return
    # The allocator settings under which PyTorch is fastest; they leave the numbers alone.
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MALLOC_MMAP_THRESHOLD_="4294967296",
                       MALLOC_TRIM_THRESHOLD_="17179869184")
    dump = os.path.join(folder, "dump", f"{family}-{seed}")
    call([program, "dump", *words, f"out={dump}"])
    call([python, os.path.join(ROOT, "tests", "parity", "torch_run.py"), dump, arithmetic, out], env=environment)


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--python", default=os.path.join(ROOT, ".venv", "bin", "python"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--threads", type=int, default=0, help="0: one; with --size as many as there are cores")
    parser.add_argument("--docs", default=os.path.join(ROOT, "docs"), help="folder of the pages")
    parser.add_argument("--size", action="store_true")
    at_size = parser.add_argument_group("with --size")
    at_size.add_argument("--prepare", action="store_true")
    at_size.add_argument("--only", choices=[arithmetic for _, _, arithmetic in size.RUNS])
    at_size.add_argument("--device", default="cpu")
    at_size.add_argument("--save", type=int, default=10, help="steps between two saved states")
    at_size.add_argument("--until", type=int, default=0, help="the step after which a run stops; 0: its end")
    at_size.add_argument("--text", help="a text of your own instead of Debian's packages")
    at_size.add_argument("--words", default="", help="other sizes, as assay_parity takes them: 'layers=2 width=64'")
    options = parser.parse_args()
    if not options.size:
        given = [action.option_strings[0] for action in at_size._group_actions
                 if getattr(options, action.dest) != action.default]
        if given:
            parser.error(f"{given[0]} needs --size")
    options.threads = options.threads or (os.cpu_count() if options.size else 1)
    options.out = options.out or os.path.join(ROOT, "build", "parity-size" if options.size else "parity")
    return options


def run_missing(options):
    """Runs what is not there yet; gives the runs that failed."""
    failed = []
    data = pack(options.out)
    known = {} if options.again else report.recorded(options.docs)
    for number, run in enumerate(RUNS):
        if run in known or report.read_curve(report.curve_path(options.out, *run)):
            continue
        print(f"parity: run {number + 1} of {len(RUNS)}: {run}", file=sys.stderr, flush=True)
        try:
            one_run(options.out, data, options.python, options.threads, *run)
        except (subprocess.CalledProcessError, OSError) as error:
            failed.append(run)
            print(f"parity: {run} failed: {error}", file=sys.stderr)
    return failed


def main():
    options = parse()
    os.makedirs(os.path.join(options.out, "runs"), exist_ok=True)
    failed = []
    try:
        if options.size:
            failed = size.run(options, BIN)
        elif not options.report:
            failed = run_missing(options)
        if options.prepare:
            return 0
        known = report.recorded(options.docs)
        found = {} if options.size else {run: report.read_curve(report.curve_path(options.out, *run)) for run in RUNS}
        curves = {run: found.get(run) or known.get(run) for run in RUNS}
        at_size = size.curves(options) if options.size else report.recorded(options.docs, "size_runs")
    except report.ParityError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    curves = {run: curve for run, curve in curves.items() if curve}
    report.write(options.docs, curves, RUNS, at_size, size.RUNS)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
