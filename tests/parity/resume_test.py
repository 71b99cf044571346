#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that was stopped, or killed at any moment, goes on from its last state and ends with the curve and the root of
one that was not. A state that is damaged or of another job is refused."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("ASSAY_BIN_DIR", os.path.join(ROOT, "build", "bin"))
PROGRAM = os.path.join(BIN, "assay_parity")
SIZES = ["layers=2", "width=64", "heads=2", "context=64", "vocabulary=512", "batch=4", "steps=40", "every=20",
         "warmup=10", "rate=0.003", "held_out=8", "profile=i16"]
USAGE, VERIFICATION, PREFLIGHT = 2, 7, 8  # exit codes


class Runs:
    def __init__(self, folder):
        self.folder, self.data = folder, os.path.join(folder, "data")
        text = os.path.join(folder, "text.txt")
        with open(text, "wb") as file:
            subprocess.run(["bible", "-f", "gen1:1-gen50:26"], check=True, stdout=file)
        subprocess.run([os.path.join(BIN, "assay"), "data", "pack", text, "--out", self.data, "--vocabulary", "512"],
                       check=True, stdout=subprocess.DEVNULL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def words(self, name, *more):
        return [PROGRAM, "train", f"data={self.data}", *SIZES, f"out={self.path(name + '.jsonl')}", *more]

    def resumable(self, name, *more):
        return self.words(name, f"state={self.path(name + '.state')}", "save=4", *more)

    def curve(self, name):
        """Its lines, without the seconds of the last."""
        with open(self.path(name + ".jsonl")) as file:
            lines = [json.loads(line) for line in file]
        lines[-1].pop("seconds", None)
        return lines


def finish(words):
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)


def refused(words, code, *said):
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    assert done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr}"
    for text in said:
        assert text in done.stderr, f"'{text}' is missing: {done.stderr}"


def stopped_and_resumed(runs, whole):
    finish(runs.resumable("stopped", "until=8"))
    assert "done" not in runs.curve("stopped")[-1] and runs.curve("stopped")[-1]["step"] == 8
    finish(runs.resumable("stopped", "until=13"))  # not where it saves
    finish(runs.resumable("stopped", "until=13"))  # nothing is left to do
    assert runs.curve("stopped")[-1]["step"] == 13
    finish(runs.resumable("stopped", "until=99", "threads=2"))  # beyond the end
    assert runs.curve("stopped") == whole
    assert not os.path.exists(runs.path("stopped.state"))


def killed_and_resumed(runs, whole):
    """Killed when its curve has a line more than the state, which then lacks it."""
    for steps in (6, 22):
        process = subprocess.Popen(runs.resumable("killed"), stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if runs.curve("killed")[-1]["step"] >= steps:
                    break
            except (OSError, ValueError, KeyError, IndexError):
                pass
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert os.path.exists(runs.path("killed.state"))
    finish(runs.resumable("killed"))
    assert runs.curve("killed") == whole


def bad_states_are_refused(runs):
    finish(runs.resumable("bad", "until=8"))
    state, good = runs.path("bad.state"), runs.path("good.state")
    shutil.copy(state, good)
    refused(runs.resumable("bad", "seed=2"), USAGE, "is of another job")
    refused(runs.resumable("bad", "steps=60"), USAGE, "is of another job")
    with open(good, "rb") as file:
        whole = file.read()
    flipped = bytearray(whole)
    flipped[len(flipped) // 2] ^= 1
    for bytes_, said in ((bytes(flipped), "have changed"), (whole[:-1], "have changed"), (whole + b"\0", "have changed"),
                         (whole[:20], "too early"), (b"BPARS001" + whole[8:], "APARS001"), (b"", "too early")):
        with open(state, "wb") as file:
            file.write(bytes_)
        refused(runs.resumable("bad"), VERIFICATION, said)
    shutil.copy(good, state)
    finish(runs.resumable("bad"))


def wrong_words_are_refused(runs):
    refused(runs.words("words", "until=8"), USAGE, "state=FILE")
    refused(runs.words("words", "device=abacus"), PREFLIGHT, "device 'abacus' is not there")
    refused(runs.words("words", f"state={runs.path('words.state')}", "steps=400", "save=1"), USAGE, "400 segments")


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(folder)
        finish(runs.words("whole"))
        whole = runs.curve("whole")
        assert whole[-1]["done"] == 40 and len(whole) == 1 + 40 + 3 + 1
        stopped_and_resumed(runs, whole)
        killed_and_resumed(runs, whole)
        bad_states_are_refused(runs)
        wrong_words_are_refused(runs)
    print("parity: stopped, killed and resumed runs end as one that was not: root " + whole[-1]["root"][:16] + "…")
    return 0


if __name__ == "__main__":
    sys.exit(main())
