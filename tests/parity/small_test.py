#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The small version of make parity: a tiny GPT-2 on real text for 30 steps, in each of our profiles, and by PyTorch
of the venv. Every curve stays beside that of f32 within BAND, and learns."""
import os
import subprocess
import sys
import tempfile

import report

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("ASSAY_BIN_DIR", os.path.join(ROOT, "build", "bin"))
STEPS = 30
# Largest difference of a loss from f32's. Seen: 0.000001 for binary32 in another order, 0.0008 for bfloat16.
BAND = {"fp32": 0.0001, "i16": 0.001, "bf16": 0.01, "bf16 in binary32": 0.01}
PROFILES = ["f32", "i16"]
SIZES = ["layers=2", "width=64", "heads=2", "context=64", "vocabulary=512", "batch=4", f"steps={STEPS}", "every=15",
         "warmup=10", "rate=0.003", "held_out=8"]


def call(words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def curves_of(folder):
    text = os.path.join(folder, "text.txt")
    with open(text, "wb") as file:
        file.write(subprocess.run(["bible", "-f", "gen1:1-gen50:26"], check=True, stdout=subprocess.PIPE).stdout)
    data, dump = os.path.join(folder, "data"), os.path.join(folder, "dump")
    call([os.path.join(BIN, "assay"), "data", "pack", text, "--out", data, "--vocabulary", "512"])
    program, words, curves = os.path.join(BIN, "assay_parity"), [f"data={data}", *SIZES], {}
    for profile in PROFILES:
        out = os.path.join(folder, profile + ".jsonl")
        call([program, "train", *words, f"profile={profile}", f"out={out}"])
        curves[profile] = report.read_curve(out)
    python = os.path.join(ROOT, ".venv", "bin", "python")
    if not os.path.exists(python):
        sys.exit("FAILED: no .venv, so PyTorch is missing to compare with; .ci/setup test makes it")
    call([program, "dump", *words, f"out={dump}"])
    for precision, products in (("fp32", "native"), ("bf16", "native"), ("bf16", "binary32")):
        name = precision if products == "native" else f"{precision} in {products}"
        out = os.path.join(folder, name + ".jsonl")
        runner = os.path.join(ROOT, "tests", "parity", "torch_run.py")
        call([python, runner, dump, precision, out, "--products", products])
        curves[name] = report.read_curve(out)
    return curves


def main():
    with tempfile.TemporaryDirectory() as folder:
        curves = curves_of(folder)
    failures = []
    ours = curves["f32"]
    if not ours["losses"][-1] < ours["losses"][0] - 0.5:
        failures.append(f"f32 learnt nothing: {ours['losses'][0]} → {ours['losses'][-1]}")
    for arithmetic, curve in curves.items():
        assert len(curve["losses"]) == STEPS and sorted(curve["held_out"]) == [0, 15, 30]
        pairs = list(zip(curve["losses"], ours["losses"]))
        pairs += [(curve["held_out"][step], ours["held_out"][step]) for step in ours["held_out"]]
        largest = max(abs(a - b) for a, b in pairs)
        print(f"parity: {arithmetic}: last loss {curve['losses'][-1]:.5f}, largest difference from f32 {largest:.6f}")
        if arithmetic != "f32" and not 0 < largest <= BAND[arithmetic]:
            failures.append(f"{arithmetic} differs from f32 by {largest}; the band is above 0 to {BAND[arithmetic]}")
    for failure in failures:
        print("FAILED: " + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
