#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what local steps cost: trains one model on the same number of tokens by M slots of H steps a round, and by
one machine without rounds, and writes every curve to docs/local_steps.json, and what `assay plan` fits its penalty to,
to node/plan/local_step_runs.cpp. Half an hour on one core; what is finished is not repeated.

usage: local_steps.py [--out FOLDER] [--report]

Text: Debian package bible-kjv-text.
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("ASSAY_BIN_DIR", os.path.join(ROOT, "build", "bin"))
STEPS = 2048  # of batches of BATCH × CONTEXT tokens, over all slots
BATCH, CONTEXT, VOCABULARY = 4, 64, 1024
EVALUATED = 64  # held-out sequences, as `assay model train` takes them
SHAPES = [(slots, steps) for steps in (8, 32, 128) for slots in (1, 2, 4, 8)]
SEEDS = (1, 2)
QUARTER = STEPS // 4  # the penalty is fitted to these points of a curve

JOB = """[job]
name = "local-steps"
slots = {slots}
rounds = {rounds}
seed = {seed}
[model]
layers = 2
width = 64
heads = 2
context = {context}
vocabulary = {vocabulary}
[data]
manifest = "{manifest}"
[train]
inner_steps = {inner_steps}
batch = {batch}
warmup_steps = 50
learning_rate = 0.003
[market]
max_price = "1u"
budget = "1000000000u"
deadline = 100000
[security]
q = 0.5
segment_steps = {inner_steps}
"""


def call(words, **more):
    return subprocess.run(words, check=True, **more)


def pack(folder):
    data = os.path.join(folder, "data")
    if not os.path.exists(os.path.join(data, "manifest.json")):
        text = os.path.join(folder, "bible.txt")
        with open(text, "wb") as file:
            call(["bible", "-f", "gen1:1-rev22:21"], stdout=file)
        call([os.path.join(BIN, "assay"), "data", "pack", text, "--out", data, "--vocabulary", str(VOCABULARY),
              "--source", "bible-kjv-text", "--licence", "public domain"], stdout=subprocess.DEVNULL)
    return os.path.abspath(data)


def plain_run(folder, data, seed):
    """One machine, one round, no merge: [[steps, loss]]."""
    out = os.path.join(folder, f"plain-{seed}.jsonl")
    call([os.path.join(BIN, "assay_parity"), "train", f"data={data}", f"out={out}", f"seed={seed}", "layers=2",
          "width=64", "heads=2", f"context={CONTEXT}", f"batch={BATCH}", f"vocabulary={VOCABULARY}", f"steps={STEPS}",
          "every=128", f"held_out={EVALUATED}", "warmup=50", "rate=0.003"])
    with open(out) as file:
        lines = [json.loads(line) for line in file]
    return [[line["step"], round(line["held_out"], 5)] for line in lines if "held_out" in line and line["step"]]


def slots_run(folder, data, seed, slots, inner_steps):
    """The same number of steps by `slots` slots: [[steps over all slots, loss]] at multiples of 128."""
    rounds = STEPS // (slots * inner_steps)
    job = os.path.join(folder, f"job-{seed}-{slots}-{inner_steps}.toml")
    with open(job, "w") as file:
        file.write(JOB.format(slots=slots, rounds=rounds, seed=seed, inner_steps=inner_steps, batch=BATCH,
                              context=CONTEXT, vocabulary=VOCABULARY, manifest=os.path.join(data, "manifest.json")))
    out = call([os.path.join(BIN, "assay"), "model", "train", job, "--out", job + ".model", "-o", "json"],
               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    points = [[point["step"] * slots, round(point["held_out"], 5)] for point in json.loads(out)["loss"]]
    return [point for point in points if point[0] > 0 and point[0] % 128 == 0]


SOURCE = """// SPDX-License-Identifier: Apache-2.0
// Made by tests/parity/local_steps.py from docs/local_steps.json; not to be edited.
#include "node/plan/local_steps.hpp"

namespace assay::node {{

std::span<const LocalStepLoss> recorded_local_steps() {{
    static constexpr LocalStepLoss kLosses[] = {{
{rows}
    }};
    return kLosses;
}}

}}  // namespace assay::node
"""


def write(runs):
    lines = ",\n".join("    " + json.dumps(run) for run in runs)
    with open(os.path.join(ROOT, "docs", "local_steps.json"), "w") as file:
        file.write('{\n  "schema": "assay.local_steps/v1",\n'
                   f'  "step_tokens": {BATCH * CONTEXT},\n  "runs": [\n{lines}\n  ]\n}}\n')
    plain = {run["seed"]: dict(run["held_out"]) for run in runs if run["slots"] == 0}
    rows = []
    for run in runs:
        for step, loss in run["held_out"]:
            if run["slots"] and step % QUARTER == 0:
                rounds = step // (run["slots"] * run["inner_steps"])
                shape = f"{{{run['slots']}, {run['inner_steps']}, {rounds}}}"
                rows.append(f"        {{{shape}, {run['seed']}, {step}, {loss}, {plain[run['seed']][step]}}},")
    with open(os.path.join(ROOT, "node", "plan", "local_step_runs.cpp"), "w") as file:
        file.write(SOURCE.format(rows="\n".join(rows)))
    call(["clang-format", "-i", file.name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "local_steps"))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    data = pack(options.out)
    runs = []
    for seed in SEEDS:
        for slots, steps in [(0, 0), *SHAPES]:
            path = os.path.join(options.out, f"run-{seed}-{slots}-{steps}.json")
            if not os.path.exists(path) and not options.report:
                print(f"local steps: seed {seed}, {slots} slots of {steps} steps", file=sys.stderr, flush=True)
                curve = slots_run(options.out, data, seed, slots, steps) if slots else plain_run(options.out, data, seed)
                with open(path, "w") as file:
                    json.dump({"seed": seed, "slots": slots, "inner_steps": steps, "held_out": curve}, file)
            if os.path.exists(path):
                with open(path) as file:
                    runs.append(json.load(file))
    write(runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
