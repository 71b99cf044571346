#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make parity: trains the same model on the same real text by our exact profiles and by PyTorch, and writes what came
out to docs/parity.md (between its markers), docs/parity.json and docs/parity.svg. Hours on two cores.

usage: run.py [--out FOLDER] [--python VENV_PYTHON] [--report] [--again] [--threads N]

A finished run is never repeated: what is in FOLDER/runs or in docs/parity.json stays, so the whole can be stopped and
taken up again, elsewhere too. --again leaves docs/parity.json out of account. --report only writes the pages, from the
runs that are there. Text: Debian package bible-kjv-text.
"""
import argparse
import os
import subprocess
import sys

import report

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "parity"))
    parser.add_argument("--python", default=os.path.join(ROOT, ".venv", "bin", "python"))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.makedirs(os.path.join(options.out, "runs"), exist_ok=True)
    failed = []
    if not options.report:
        data = pack(options.out)
        known = {} if options.again else report.recorded(os.path.join(ROOT, "docs"))
        for number, run in enumerate(RUNS):
            if run in known or report.read_curve(report.curve_path(options.out, *run)):
                continue
            print(f"parity: run {number + 1} of {len(RUNS)}: {run}", file=sys.stderr, flush=True)
            try:
                one_run(options.out, data, options.python, options.threads, *run)
            except (subprocess.CalledProcessError, OSError) as error:
                failed.append(run)
                print(f"parity: {run} failed: {error}", file=sys.stderr)
    report.write(options.out, RUNS, os.path.join(ROOT, "docs"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
