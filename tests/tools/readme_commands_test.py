#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the README as a reader would: in order, in one empty folder, with the built programs on PATH.

Fenced blocks are marked in their info string:
  ```bash run          runs to its end; a failing command fails the test
  ```bash background   keeps running (a second terminal): awaited until it prints, and must not end by itself
  ```bash silent       the same for a command that prints nothing at first
  ```text expect       every line must be in the output of the last `run` block; … stands for anything

A page about several machines is run on this one: `--address OLD=NEW` puts an address of this machine into the place of
one of the page's, and free ports into the place of the page's, which lie from 7400 to 7499. Such a page says itself
which node its commands ask.

At the end read_formats.py reads what the commands left in `net`.
"""
import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import read_formats  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```(bash run|bash background|bash silent|text expect)\n(.*?)^```$", re.M | re.S)
LIMIT = 120  # seconds a block may take


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def on_this_machine(text, addresses):
    """The page's text with addresses and ports of this machine."""
    for old, new in addresses.items():
        if old not in text:
            raise SystemExit(f"the page has no address {old}")
        text = text.replace(old, new)
    ports = {}
    return re.sub(r"(?<=:)74\d\d\b", lambda found: str(ports.setdefault(found[0], free_port())), text)


class Reader:
    """One reader's folder, environment and open terminals."""

    def __init__(self, folder, programs, node=None):
        self.folder, self.terminals, self.output = folder, [], ""
        self.environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        if node is not None:
            self.environment["ASSAY_NODE"] = node

    def run(self, block):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
        self.output = done.stdout
        print(done.stdout, end="")
        if done.returncode != 0:
            raise AssertionError(f"ended with exit code {done.returncode}")

    def background(self, block, patience=300):
        log = self.folder / f"terminal-{len(self.terminals)}.log"
        with log.open("w", encoding="utf-8") as out:
            process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", f"exec {block.strip()}"], cwd=self.folder,
                                       env=self.environment, stdout=out, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        self.terminals.append((process, log))
        # As a shell does: whoever ended is reaped at once, or another process would take it for running.
        threading.Thread(target=process.wait, daemon=True).start()
        give_up = time.monotonic() + patience
        while time.monotonic() < give_up and not log.stat().st_size and process.poll() is None:
            time.sleep(0.05)
        if process.poll() is not None:
            raise AssertionError(f"ended with exit code {process.returncode}: {log.read_text(encoding='utf-8')}")
        print(log.read_text(encoding="utf-8"), end="")

    def silent(self, block):
        self.background(block, patience=1)

    def expect(self, block):
        for line in filter(None, block.split("\n")):
            parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split("…")]
            if not re.search(".*".join(parts), self.output):
                raise AssertionError(f"the output has no line like: {line}")

    def close(self):
        for process, _ in reversed(self.terminals):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(timeout=20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=os.environ.get("ASSAY_BIN_DIR", str(ROOT / "build/bin")))
    parser.add_argument("--page", type=Path, default=ROOT / "README.md")
    parser.add_argument("--address", action="append", default=[], metavar="OLD=NEW")
    arguments = parser.parse_args()
    text = arguments.page.read_text(encoding="utf-8")
    node = f"127.0.0.1:{free_port()}"
    if arguments.address:
        text, node = on_this_machine(text, dict(pair.split("=") for pair in arguments.address)), None
    blocks = list(BLOCK.finditer(text))
    if not any(block[1] == "bash run" for block in blocks):
        print(f"{arguments.page}: no block is marked to be run")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder), Path(arguments.bin).resolve(), node)
        try:
            for block in blocks:
                line = text.count("\n", 0, block.start()) + 1
                began = time.monotonic()
                print(f"--- {arguments.page.name}:{line} ({block[1]})", flush=True)
                {"bash run": reader.run, "bash background": reader.background,
                 "bash silent": reader.silent, "text expect": reader.expect}[block[1]](block[2])
                print(f"    {time.monotonic() - began:.1f} s", flush=True)
            # What the commands left behind is what docs/formats says, to a reader written from those pages.
            for found in read_formats.check_home(Path(folder) / "net") if (Path(folder) / "net").is_dir() else []:
                print(found)
        except (AssertionError, subprocess.TimeoutExpired, read_formats.Wrong) as problem:
            print(f"{arguments.page.name}:{line}: {problem}")
            for _, log in reader.terminals:
                print(f"--- {log.name}\n{log.read_text(encoding='utf-8')}")
            return 1
        finally:
            reader.close()
    print(f"{arguments.page.name}: {len(blocks)} blocks, all as written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
