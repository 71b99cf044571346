#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the demo, then trains its whole job again on the emulated GPU and compares the root of every round.

usage: cuda_host_demo.py BIN [FLAGS OF assay devnet demo]

The demo's home (build/cuda-host-demo) stays, and is used again where it is complete, so that a run that was interrupted
begins with the training. What is printed last is the line for docs/portability.md.
"""
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def run(command, **options):
    done = subprocess.run(list(map(str, command)), check=False, **options)
    if done.returncode != 0:
        sys.exit(f"error: {command[1]} {command[2]} ended with exit code {done.returncode}")
    return done.stdout


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = Path(sys.argv[1]) / "assay"
    home = ROOT / "build" / "cuda-host-demo"
    if not (home / "model").exists():
        if home.exists():
            sys.exit(f"error: {home} is left from a demo that did not end\n  fix: remove it and run this again")
        run([program, "devnet", "demo", "--home", home, *sys.argv[2:]])
    record = home / "record.json"
    rounds = json.loads(record.read_text(encoding="utf-8"))["rounds"]
    out = home / "trained-on-cuda-host"
    began = time.monotonic()
    # The record makes it compare the root of every round, and take the slots that the network merged.
    said = run([program, "model", "train", home / "job.toml", "--record", record, "--device", "cuda-host", "--out", out,
                "-o", "json"], stdout=subprocess.PIPE)
    hours = (time.monotonic() - began) / 3600
    trained = json.loads(said)
    if trained["model_root"] != rounds[-1]["result_root"]:
        sys.exit(f"error: the emulated GPU ends with root {trained['model_root']}, the network with "
                 f"{rounds[-1]['result_root']}")
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}: {trained['steps']} steps in {len(rounds)} rounds on the emulated "
          f"GPU in {hours:.1f} hours; the root of every round is the network's; the last one is {trained['model_root']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
