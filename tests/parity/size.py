# SPDX-License-Identifier: Apache-2.0
"""Parity at size (run.py --size): GPT-2 124M from its initial weights, 300 steps of 4 × 1,024 tokens of Debian's
documentation, by our i16 and by PyTorch's fp32 and bf16. Runs of different texts or sizes are never shown together."""
import json
import os
import subprocess
import sys

import debian_text
import report
from report import ParityError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNS = [("gpt2", 1, arithmetic) for arithmetic in ("i16", "fp32", "bf16")]
WORDS = {"family": "gpt2", "seed": "1", "layers": "12", "width": "768", "heads": "12", "context": "1024",
         "vocabulary": "50257", "batch": "4", "steps": "300", "every": "50", "held_out": "32", "warmup": "30",
         "rate": "0.0003"}
ALIKE = ("text", "parameters", "steps", "batch", "context", "seed")  # of heads that are compared


def call(words, **more):
    return subprocess.run(words, check=True, **more)


def words_of(options):
    words = dict(WORDS)
    for word in options.words.split():
        key, _, value = word.partition("=")
        words[key] = value
    return words


def manifest_of(options):
    """The manifest of the packed data, or nothing."""
    try:
        with open(os.path.join(options.out, "data", "manifest.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def left_by_runs(options):
    """Files of runs, begun or finished."""
    found = []
    for folder in ("runs", "state"):
        path = os.path.join(options.out, folder)
        if os.path.isdir(path):
            found += [os.path.join(path, name) for name in sorted(os.listdir(path))]
    return found


def prepare(options, binaries):
    """Makes the data where it is not there. The manifest is written last: without one there is no data."""
    if manifest_of(options) is not None:
        return
    if runs := left_by_runs(options):
        raise ParityError(f"{runs[0]} is of data that is gone: there is no {options.out}/data/manifest.json, and text "
                          "that is fetched anew may be another", "bring the data folder back, or take another --out")
    text = options.text or debian_text.write_text(options.out, say=lambda line: print(line, file=sys.stderr))
    source, licence = (os.path.basename(options.text), "unknown") if options.text else \
        (debian_text.SOURCE, debian_text.LICENCE)
    print("parity: packing the text, minutes of a core", file=sys.stderr, flush=True)
    call([os.path.join(binaries, "assay"), "data", "pack", text, "--out", os.path.join(options.out, "data"),
          "--vocabulary", words_of(options)["vocabulary"], "--source", source, "--licence", licence],
         stdout=subprocess.DEVNULL)


def job_words(options):
    """The words of assay_parity. The vocabulary is what the text gave, which is less where a text is short."""
    words = dict(words_of(options), vocabulary=str(manifest_of(options)["vocabulary"]))
    return [f"data={os.path.join(options.out, 'data')}", *(f"{key}={value}" for key, value in words.items())]


def heads(options):
    """(where, head) of every run that is known: begun or finished here, or in docs/parity.json."""
    found = []
    for run in RUNS:
        path = report.curve_path(options.out, *run)
        try:
            with open(path) as file:
                found.append((path, json.loads(file.readline())["run"]))
        except (OSError, ValueError, KeyError):
            continue
    if not options.again:
        found += [(os.path.join(options.docs, "parity.json"), curve["run"])
                  for curve in report.recorded(options.docs, "size_runs").values()]
    return found


def check_alike(options, text=None):
    """That every known run is of one text and one size, and of this text (may be None)."""
    found = heads(options)
    if text is not None:
        found.insert(0, (os.path.join(options.out, "data"), {"text": text}))
    for where, head in found:
        for first, reference in found:
            for key in ALIKE:
                if key in head and key in reference and head[key] != reference[key]:
                    raise ParityError(
                        f"{where} has {key} {head[key]}, and {first} has {key} {reference[key]}: such runs cannot be "
                        "compared", "take another --out; or bring back the data of the recorded runs; or --again, "
                        "which leaves docs/parity.json out of account")


def one_run(options, binaries, words, run):
    arithmetic = run[2]
    out, program = report.curve_path(options.out, *run), os.path.join(binaries, "assay_parity")
    state = os.path.join(options.out, "state", f"{arithmetic}.state")
    os.makedirs(os.path.dirname(state), exist_ok=True)
    if arithmetic == "i16":
        call([program, "train", *words, "profile=i16", f"out={out}", f"state={state}", f"save={options.save}",
              f"until={options.until}", f"device={options.device}", f"threads={options.threads}"])
        return
    dump = os.path.join(options.out, "dump")
    call([program, "dump", *words, f"out={dump}"])
    # The allocator settings under which PyTorch is fastest; they leave the numbers alone.
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads), MALLOC_MMAP_THRESHOLD_="4294967296",
                       MALLOC_TRIM_THRESHOLD_="17179869184", PYTHONDONTWRITEBYTECODE="1")
    call([options.python, os.path.join(ROOT, "tests", "parity", "torch_run.py"), dump, arithmetic, out,
          "--device", options.device, "--state", state, "--save", str(options.save), "--until", str(options.until)],
         env=environment)


def run(options, binaries):
    """Makes the data and, unless told otherwise, the runs that are missing; gives those that failed."""
    if options.report:
        check_alike(options)
        return []
    try:
        prepare(options, binaries)
        words = job_words(options)
        text = call([os.path.join(binaries, "assay_parity"), "text", *words], stdout=subprocess.PIPE,
                    text=True).stdout.strip()
    except (subprocess.CalledProcessError, OSError) as error:
        raise ParityError(f"the data cannot be made or read: {error}", "read the message above") from error
    print(f"parity: text {text}", file=sys.stderr, flush=True)
    if options.prepare:
        return []
    check_alike(options, text)
    known = {} if options.again else {run: curve for run, curve in report.recorded(options.docs, "size_runs").items()
                                      if "reached" not in curve}
    failed = []
    for one in RUNS:
        if options.only not in (None, one[2]):
            continue
        if one in known or report.read_curve(report.curve_path(options.out, *one)):
            continue
        print(f"parity: at size: {one[2]} on {options.device}", file=sys.stderr, flush=True)
        try:
            one_run(options, binaries, words, one)
        except (subprocess.CalledProcessError, OSError) as error:
            failed.append(one)
            print(f"parity: {one[2]} failed: {error}", file=sys.stderr)
    return failed


def reached(curve):
    """How far a curve is; a finished one is further than one that stopped at the same step."""
    return (curve["done"]["done"], "reached" not in curve) if curve else (-1, False)


def curves(options):
    """The runs of the out folder, finished or as far as they are, and the recorded ones that reached further. --again
    gives up recorded ones of another text."""
    new = {run: report.read_curve(report.curve_path(options.out, *run), unfinished=True) for run in RUNS}
    new = {run: curve for run, curve in new.items() if curve}
    old = report.recorded(options.docs, "size_runs")
    texts = {curve["run"]["text"] for curve in new.values()}
    if new and any(curve["run"]["text"] not in texts for curve in old.values()):
        print(f"parity: {len(old)} recorded runs of another text make room for the new ones", file=sys.stderr)
        old = {}
    return {run: max(new.get(run), old.get(run), key=reached) for run in RUNS if run in new or run in old}
