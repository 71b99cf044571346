#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/cli.md: what `assay --help` and the help of every command say, in one page.

`--bin DIR` names the folder of the program (default: ASSAY_BIN_DIR, else build/bin); `--write` makes the page again,
otherwise it is compared, and the exit code is 1 when it is out of date.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/cli.md"
HEAD = """# Commands

Made from the program's own help by `python3 tests/tools/cli_page.py --write`; a test compares. What a command prints with
`-o json` is in [JSON](json.md), how it ends in [exit codes](exit-codes.md).

Settings come from the flag, else the environment (`ASSAY_HOME`, `ASSAY_NODE`, `ASSAY_OUTPUT`, `ASSAY_TLS_CERT`,
`ASSAY_TLS_KEY`, `ASSAY_TLS_CA`), else `assay.toml` in the home (`node`, `output`, `tls_cert`, `tls_key`, `tls_ca`; its
paths begin at the home), else the default. `ASSAY_THREADS`, `ASSAY_TARGETS`, `ASSAY_MEMORY` and
`ASSAY_DEVICE_MEMORY` set threads, kernels and memory of the worker, `ASSAY_DUTY` the
percent of the time in which it computes.
"""


def help_of(program, words):
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False, timeout=60,
                          env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"})
    if done.returncode != 0:
        sys.exit(f"cli page: assay {words} --help ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def subcommands(text):
    return re.findall(r"^  ([a-z]+) ", text.partition("Subcommands:")[2], re.M)


def section(program, words):
    text = help_of(program, words)
    kept = [line.rstrip() for line in text.strip().split("\n") if "-h,--help" not in line]
    depth = "##" if len(words) == 1 else "###"
    yield f"\n{depth} assay {' '.join(words)}\n\n{kept[0]}.\n\n```\n" + squeeze(kept[1:]) + "\n```\n"
    for name in subcommands(text):
        yield from section(program, [*words, name])


def squeeze(lines):
    """Without the option list that holds --help alone, and without runs of blank lines."""
    text = "\n".join(lines).strip()
    text = re.sub(r"Options:\n+(?=\n|$)", "", text + "\n")
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def page(program):
    text = help_of(program, [])
    shared = squeeze([line.rstrip() for line in text.strip().split("\n")[1:] if "-h,--help" not in line])
    return HEAD + "\n```\n" + shared + "\n```\n" + "".join(
        part for name in subcommands(text) for part in section(program, [name]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=os.environ.get("ASSAY_BIN_DIR", str(ROOT / "build/bin")))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    made = page(str(Path(arguments.bin) / "assay"))
    if arguments.write:
        PAGE.write_text(made, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != made:
        print("docs/reference/cli.md is out of date; run: "
              f"python3 tests/tools/cli_page.py --write --bin {arguments.bin}")
        return 1
    print(f"cli page: {made.count(chr(10) + '#')} headings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
