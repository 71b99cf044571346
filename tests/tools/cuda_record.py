#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries everything that needs a card on card N of this machine, and writes what came out into docs/benchmarks.md and
docs/portability.md.

usage: cuda_record.py BIN [--card N] [--seconds S] [--dry] [--anew]

BIN: the programs of a build with -DASSAY_CUDA=ON and tests, which takes nvcc 12.8 or newer. Cards have nvidia-smi's
numbers in all that is run. In this order: what the driver says of cards, the worker's self-test, the golden steps,
every kernel against the law, digits multiplied by the card's units beside cuBLASLt, a job of each profile by a confined
worker, products, steps and memory beside PyTorch, and a step without each of the ways that can be left out. The first
that fails ends it, and nothing is written: a card whose bits differ has no rates. What was found is kept beside BIN
(record.json): who is interrupted goes on there, on the same day with the same card and programs. --anew forgets it.
--dry prints the sections instead.
"""
import argparse
import datetime
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PREFLIGHT = 8  # exit code: this machine cannot (docs/reference)
BENCHMARKS = (ROOT / "docs/benchmarks.md", "<!-- cards: made by make cuda-record -->")
PORTABILITY = (ROOT / "docs/portability.md", "<!-- cards: made by make cuda-record -->")
JOB = """[job]
name = "card"
profile = "{profile}"
slots = 2
rounds = 2
seed = 1
[model]
layers = 2
width = 64
heads = 2
context = 64
vocabulary = 512
[data]
manifest = "data/manifest.json"
[train]
inner_steps = 8
batch = 4
warmup_steps = 4
learning_rate = 0.003
[market]
max_price = "2000u"
budget = "10"
deadline = 100000
[security]
segment_steps = 4
"""


def stop(what, fix, code=1):
    print(f"error: {what}\n  fix: {fix}", file=sys.stderr)
    sys.exit(code)


def find_card(number):
    """Name, driver, compute capability and memory, as nvidia-smi says them."""
    try:
        done = subprocess.run(["nvidia-smi", "-i", str(number), "--format=csv,noheader",
                               "--query-gpu=name,driver_version,compute_cap,memory.total"], capture_output=True,
                              text=True, check=False)
    except FileNotFoundError:
        stop("there is no card to record: no nvidia-smi on this machine",
             "run this on a machine with an NVIDIA GPU and its driver; make cuda needs neither", PREFLIGHT)
    words = [word.strip() for word in done.stdout.strip().split(",")]
    if done.returncode != 0 or len(words) != 4:
        stop(f"there is no card {number} to record: nvidia-smi says: {(done.stdout + done.stderr).strip()}",
             "look at nvidia-smi; name another card with --card", PREFLIGHT)
    return dict(zip(("name", "driver", "capability", "memory"), words))


def order_cards():
    """Has everything that is run from here number cards as nvidia-smi does: by itself the driver begins with the
    quickest."""
    if os.environ.get("CUDA_VISIBLE_DEVICES"):
        stop("CUDA_VISIBLE_DEVICES is set, which numbers cards otherwise than nvidia-smi",
             "unset it, and name the card with --card (make cuda-record CARD=1)", PREFLIGHT)
    if os.environ.get("ASSAY_CARD_WITHOUT"):
        stop("ASSAY_CARD_WITHOUT is set, and the record would be of a card that does without something", "unset it",
             PREFLIGHT)
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"


def run(what, command, **more):
    """What a command printed; its failure ends the recording."""
    print(f"record: {what}", flush=True)
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-3000:])
        stop(f"{what}: exit code {done.returncode}", "nothing was written; report it with what is printed above")
    return done.stdout


def last_line(text):
    return [line for line in text.splitlines() if line.strip()][-1]


def train(program, device, folder, profile):
    """The root of a small job, by a worker under confinement."""
    (folder / "job.toml").write_text(JOB.format(profile=profile), encoding="utf-8")
    out = folder / f"{profile}-{device.replace(':', '')}"
    said = run(f"a job in {profile} on {device}", [program, "model", "train", folder / "job.toml", "--device", device,
                                                   "--out", out, "-o", "json"])
    return json.loads(said)["model_root"]


# ASSAY_CARD_WITHOUT, and what a step has then.
WAYS = {"": "as it is", "fused-attention": "attention by squares", "cut-products": "no product cut along k",
        "fused-attention,cut-products": "neither"}
WAYS_STEP = ("i16", (12, 768, 12, 1024, 50257, 8))  # GPT-2 124M, 8 sequences of 1,024 tokens


def ask(worker, line):
    """What a worker's bench answers to a line, without its first word."""
    try:
        worker.stdin.write(line + "\n")
        worker.stdin.flush()
    except BrokenPipeError:
        worker.stdin = None  # it has ended; what it said before comes next
    words = worker.stdout.readline().split()
    if not words or words[0] == "error":
        stop(f"{line}: {' '.join(words) or 'the worker has ended'}",
             "nothing was written; report it with what is printed above")
    return [float(word) for word in words[1:]]


def measure_ways(worker, device, runs=10):
    """Seconds of the step with each of WAYS: medians of runs forwards and backwards through the list, so that a card
    that becomes slower touches all. One worker at a time: each has the whole card for its plan."""
    print("record: a step without each of the ways that can be left out", flush=True)
    profile, sizes = WAYS_STEP
    times = {without: [] for without in WAYS}
    for without in [*WAYS, *reversed(WAYS)]:
        with subprocess.Popen([worker, "--bench", "--device", device], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, env={**os.environ, "ASSAY_CARD_WITHOUT": without}) as side:
            ask(side, f"step {profile} {' '.join(map(str, sizes))}")
            times[without] += ask(side, f"run {runs}")
            side.stdin.close()
    return {without: statistics.median(seconds) for without, seconds in times.items()}


class Findings:
    """What a card was asked and answered, kept in a file after each answer. What it holds of another day, card or
    program counts for nothing."""

    def __init__(self, path, of, anew=False):
        self.path, self.found = path, {}
        if not anew and path.exists():
            self.found = json.loads(path.read_text(encoding="utf-8"))
        if any(self.found.get(key) != value for key, value in of.items()):
            self.found = dict(of)

    def once(self, key, ask):
        """The answer of before, or that of ask()."""
        if key not in self.found:
            self.found[key] = ask()
            self.path.write_text(json.dumps(self.found, indent=1), encoding="utf-8")
        return self.found[key]


def measure_roots(program, device, folder):
    """The root of a small job in each profile, the same on the card and on the processor."""
    text = sorted(ROOT.glob("docs/*.md"))
    run("packing a text", [program, "data", "pack", *text, "--out", folder / "data", "--vocabulary", "512"])
    found = {}
    for profile in ("f32", "i16"):
        roots = {where: train(program, where, folder, profile) for where in ("cpu", device)}
        if roots["cpu"] != roots[device]:
            stop(f"a job in {profile} ends with {roots[device]} on {device} and with {roots['cpu']} on the processor",
                 "nothing was written; report it with the card's name and driver")
        found[profile] = roots[device]
    return found


def compare_digits(tests, device, folder):
    """What cuBLASLt says of the digits that the card's units multiplied."""
    run("digits by the card's units", [tests, "*beside cuBLASLt*"],
        env={**os.environ, "ASSAY_TEST_CARD": device, "ASSAY_INT8_FOLDER": str(folder)})
    python = os.environ.get("ASSAY_PEER_PYTHON", ROOT / ".venv/bin/python")
    return last_line(run("the same by cuBLASLt", [python, ROOT / "tests/tools/cuda_int8.py", folder, device]))


def measure(options):
    """Everything that a card is asked, as one object."""
    device = f"cuda:{options.card}"
    worker, program, tests = (options.bin / name for name in ("assay-worker", "assay", "cuda_card_test"))
    findings = Findings(options.bin / "record.json",
                        {"day": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "device": device,
                         "card": find_card(options.card),
                         "programs": hashlib.sha256(worker.read_bytes() + tests.read_bytes()).hexdigest()}, options.anew)
    named = {**os.environ, "ASSAY_TEST_CARD": device}
    # Not confined, as the self-test is: the driver makes the nodes of its devices.
    run("the driver's cards", [worker, "--cards"])
    findings.once("self_test", lambda: last_line(
        run("self-test", [worker, "--self-test", "--device", device])).split()[0])
    findings.once("golden", lambda: last_line(
        run("golden steps", [options.bin / "golden_steps", ROOT / "tests/vectors/golden_steps.txt"], env=named)))
    findings.once("kernels", lambda: last_line(
        run("every kernel against the law", [tests, "~mutants*"], env=named)))
    with tempfile.TemporaryDirectory() as name:
        findings.once("int8", lambda: compare_digits(tests, device, Path(name)))
        findings.once("roots", lambda: measure_roots(program, device, Path(name)))
    for kind in ("gemm", "train"):
        findings.once(f"bench {kind}", lambda kind=kind: json.loads(
            run(f"{kind} beside PyTorch", [program, "bench", kind, "--device", device, "--seconds", options.seconds,
                                           "-o", "json"])))
    findings.once("ways", lambda: measure_ways(worker, device))
    found = findings.found
    return {**found, "bench": {"machine": found["bench gemm"]["machine"],
                               "rows": found["bench gemm"]["rows"] + found["bench train"]["rows"]}}


def number(value):
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def heading(found):
    card = found["card"]
    return (f"{found['day']}, {card['name']}, compute capability {card['capability']}, {card['memory']}, driver "
            f"{card['driver']}")


def benchmarks_section(found):
    rows = found["bench"]["rows"]
    if found["bench"]["machine"].get("device") != found["device"] or not rows:
        raise ValueError("these are no rows of this card")
    if any(row["target"] != found["device"] or "emulated" in row["name"] for row in rows):
        raise ValueError("an emulation has no speed: its rows are not recorded")
    lines = [f"**{heading(found)}.** `make cuda-record`; {found['bench']['machine']['cpu']}, load "
             f"{found['bench']['machine']['load']:.2f} when it began.", "",
             "| what | shape | profile | ours | unit | peer | peer's | ratio |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        # A kernel's name may look like a tag.
        shape = f"`{row['shape']}`" if row["name"].startswith("part of a step") else row["shape"]
        lines.append(f"| {row['name']} | {shape} | {row['profile'] and '`' + row['profile'] + '`'} | "
                     f"{number(row['value'])} | {row['unit']} | {row['peer'] or '–'} | {number(row['peer_value'])} | "
                     f"{number(row['ratio'])} |")
    profile, sizes = WAYS_STEP
    shape = "layers {}, width {}, heads {}, context {}, vocabulary {}, batch {}".format(*sizes)
    usual = found["ways"][""]
    for without, seconds in found["ways"].items():
        lines.append(f"| a step, GPT-2: {WAYS[without]} | {shape} | `{profile}` | {number(1000 * seconds)} | ms | "
                     f"{'as it is' if without else '–'} | {number(1000 * usual) if without else '–'} | "
                     f"{number(usual / seconds) if without else '–'} |")
    return "\n".join(lines)


def portability_section(found):
    return (f"**{heading(found)}.** Self-test {found['self_test']}; golden steps of both families and profiles; every "
            f"kernel against the law ({found['kernels']}); {found['int8']}; a job by a confined worker, with the "
            f"processor's root: `f32` {found['roots']['f32']}, `i16` {found['roots']['i16']}.")


def insert(page, marker, section):
    """The page with the section behind its marker, before older ones."""
    if page.count(marker) != 1:
        raise ValueError(f"the page has the marker {page.count(marker)} times: {marker}")
    before, after = page.split(marker)
    return f"{before}{marker}\n\n{section}\n\n" + after.lstrip("\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=Path)
    parser.add_argument("--card", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--anew", action="store_true", help="ask again what was answered before")
    parser.add_argument("--has-card", action="store_true", help="only say whether there is one")
    options = parser.parse_args()
    order_cards()
    if options.has_card:
        print(f"record: {find_card(options.card)['name']}")
        return 0
    found = measure(options)
    for (path, marker), section in ((BENCHMARKS, benchmarks_section(found)), (PORTABILITY, portability_section(found))):
        if options.dry:
            print(f"{path.relative_to(ROOT)}:\n{section}\n")
        else:
            path.write_text(insert(path.read_text(encoding="utf-8"), marker, section), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
