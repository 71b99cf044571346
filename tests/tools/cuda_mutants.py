#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the CUDA kernels one line at a time (tests/trainer/cuda/mutants.json) and looks whether their tests see it.

usage: cuda_mutants.py [--check] [--only TEXT] [--since COMMIT] [--jobs N]

A mutant's file lies in a folder that the compiler looks into first; the kernels' tests are built with it, and must
fail: first those of its family, then all, whole steps too. Tests that look for planted faults of their own ("mutants
of …") do not count. A mutant that lives is a missing test. --check compiles nothing: every mutant's line must be
found once in its file, and every file of kernels must have some. Needs a build with tests.
"""
import argparse
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "tests/trainer/cuda/mutants.json"
TESTS = "tests/trainer/cuda/"
LAUNCH = "trainer/cuda/launch/"
# What instantiates the kernels of a file: sources that launch them, and tests.
FAMILIES = {
    "operand": (["products_f32.cpp", "products_i16.cpp"], ["products_f32_test.cpp", "products_i16_test.cpp"]),
    "product_f32": (["products_f32.cpp"], ["products_f32_test.cpp"]),
    "products_f32": (["products_f32.cpp"], ["products_f32_test.cpp"]),
    "product_i16": (["products_i16.cpp"], ["products_i16_test.cpp"]),
    "product_i16_wide": (["products_i16.cpp"], ["products_i16_test.cpp", "products_cut_test.cpp"]),
    "wide_tiles": (["products_i16.cpp"], ["products_i16_test.cpp", "products_cut_test.cpp"]),
    "products_i16": (["products_i16.cpp"], ["products_i16_test.cpp", "products_cut_test.cpp"]),
    "split_k": (["products_i16.cpp"], ["products_i16_test.cpp", "products_cut_test.cpp"]),
    "pack_i16": (["products_i16.cpp"], ["pack_i16_test.cpp", "products_i16_test.cpp"]),
    "pack_held_i16": (["products_i16.cpp"], ["pack_i16_test.cpp", "products_i16_test.cpp"]),
    "fixed_point": (["products_i16.cpp"], ["products_i16_test.cpp", "elementary_test.cpp"]),
    "hashes": (["arrays.cpp"], ["arrays_test.cpp"]),
    "round": (["arrays.cpp"], ["arrays_test.cpp"]),
    "arrays": (["arrays.cpp"], ["arrays_test.cpp"]),
    "rows": (["rows.cpp"], ["rows_test.cpp", "update_test.cpp", "fused_rows_test.cpp", "number_watch_test.cpp"]),
    "warp_row": (["rows.cpp", "attention.cpp", "products_i16.cpp"],
                 ["rows_test.cpp", "fused_rows_test.cpp", "attention_test.cpp"]),
    "softmax": (["rows.cpp"], ["fused_rows_test.cpp"]),
    "attention_i16": (["attention.cpp", "products_i16.cpp"], ["attention_test.cpp"]),
    "attention_tiles": (["attention.cpp", "products_i16.cpp"], ["attention_test.cpp"]),
    "attention_numbers": (["attention.cpp", "products_i16.cpp"], ["attention_test.cpp"]),
    "attention_rows": (["attention.cpp", "products_i16.cpp"], ["attention_test.cpp"]),
    "attention": (["attention.cpp", "products_i16.cpp"], ["attention_test.cpp"]),
    "loss_rows": (["rows.cpp"], ["fused_rows_test.cpp"]),
    "quotient": (["attention.cpp", "rows.cpp", "products_i16.cpp"],
                 ["attention_test.cpp", "fused_rows_test.cpp", "elementary_test.cpp"]),
    "loss_blocks": (["rows.cpp"], ["fused_rows_test.cpp", "elementary_test.cpp"]),
    "number_watch": (["rows.cpp", "products_f32.cpp", "products_i16.cpp"],
                     ["number_watch_test.cpp", "update_test.cpp", "products_f32_test.cpp", "products_i16_test.cpp"]),
    "columns": (["rows.cpp"], ["rows_test.cpp", "fused_rows_test.cpp", "number_watch_test.cpp"]),
    "pointwise": (["rows.cpp"], ["rows_test.cpp", "number_watch_test.cpp"]),
    "gather": (["arrays.cpp"], ["card_lanes_test.cpp", "cuda_host_device_test.cpp"]),
    "update": (["rows.cpp", "arrays.cpp"], ["update_test.cpp", "arrays_test.cpp", "number_watch_test.cpp"]),
}
SECONDS = 900  # a mutant that never ends is found


def mutants():
    return json.loads(LIST.read_text(encoding="utf-8"))


def since(listed, commit):
    """Those of `listed` that the list of `commit` does not have."""
    told = subprocess.run(["git", "show", f"{commit}:{LIST.relative_to(ROOT)}"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    if told.returncode:
        sys.exit(f"error: no list at {commit}: {told.stderr.strip()}")
    before = json.loads(told.stdout)
    return [one for one in listed if one not in before]


def problems(listed):
    """What is wrong with the list, compared with the kernels of today."""
    seen = set()
    for one in listed:
        path = ROOT / one["file"]
        seen.add(path.name)
        found = path.read_text(encoding="utf-8").count(one["from"]) if path.exists() else 0
        if found != 1:
            yield f"{one['file']}: {one['what']}: its line is there {found} times"
        if path.stem not in FAMILIES:
            yield f"{one['file']}: no test is named for it in cuda_mutants.py"
    kernels, launches = (ROOT / "trainer/cuda" / name for name in ("kernels", "launch"))
    for path in [*sorted(kernels.glob("*.hpp")), *sorted(launches.glob("*.cpp"))]:
        if path.name not in seen:
            yield f"{path.relative_to(ROOT)} has no mutant"


class Builder:
    """Compiles and links as the build does, with a mutant's folder before the tree's."""

    def __init__(self, build):
        self.build = build
        entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.commands = {str(Path(entry["file"]).relative_to(ROOT)): shlex.split(entry["command"]) for entry in entries
                         if Path(entry["file"]).is_relative_to(ROOT)}
        said = subprocess.run(["ninja", "-C", build, "-t", "commands", "bin/cuda_host_test"], capture_output=True,
                              text=True, check=True).stdout
        link = next(line for line in reversed(said.splitlines()) if " -o bin/cuda_host_test " in line)
        words = shlex.split(link)
        while words[0] != ":" and "c++" not in words[0] and "g++" not in words[0]:
            words = words[1:]
        self.link = [word for word in words if word not in (":", "&&")]
        self.tests = [word for word in self.link if word.endswith("_test.cpp.o")]

    def compile(self, source, folder):
        command = [word for word in self.commands[source] if word != "-Werror"]
        command[1:1] = [f"-I{folder}"]
        target = folder / (Path(source).name + ".o")
        command[command.index("-o") + 1] = target
        # A source that is itself the mutant is compiled from its folder.
        if (folder / source).exists():
            command[command.index("-c") + 1] = folder / source
        command += ["-O1", "-w"]
        done = subprocess.run(command, cwd=self.build, capture_output=True, text=True, check=False)
        return target, done.stderr if done.returncode else ""

    def test(self, folder, launched, tests, whole):
        """True where the tests fail."""
        replaced = {Path(test).name for test in tests}
        others = [word for word in self.tests if Path(word).name not in replaced] if whole else []
        rest = [word for word in self.link if word not in self.tests]
        rest[rest.index("-o") + 1] = str(folder / "test")
        at = rest.index("-o")
        command = rest[:at] + [*map(str, launched), *map(str, tests), *others] + rest[at:]
        done = subprocess.run(command, cwd=self.build, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"error: the test program was not linked:\n{done.stderr[-2000:]}")
        try:
            ran = subprocess.run([folder / "test", "--abort", "~mutants*"], capture_output=True, text=True, check=False,
                                 timeout=SECONDS, env={**os.environ, "ASSAY_BIN_DIR": str(self.build / "bin")})
        except subprocess.TimeoutExpired:
            return True
        return ran.returncode != 0

    def fails_unchanged(self):
        """True where the build's own program fails."""
        ran = subprocess.run([self.build / "bin/cuda_host_test", "--abort", "~mutants*"], capture_output=True, text=True,
                             check=False, env={**os.environ, "ASSAY_BIN_DIR": str(self.build / "bin")})
        return ran.returncode != 0


def judge(builder, folder, one):
    """'killed', 'killed by steps', 'lives' or 'does not compile: …'."""
    path = folder / one["file"]
    path.parent.mkdir(parents=True)
    text = (ROOT / one["file"]).read_text(encoding="utf-8")
    path.write_text(text.replace(one["from"], one["to"]), encoding="utf-8")
    sources, tests = FAMILIES[path.stem]
    objects = []
    for source in [LAUNCH + name for name in sources] + [TESTS + name for name in tests]:
        target, wrong = builder.compile(source, folder)
        if wrong:
            return f"does not compile: {wrong.splitlines()[0]}"
        objects.append(target)
    launched, tested = objects[:len(sources)], objects[len(sources):]
    for whole, verdict in ((False, "killed"), (True, "killed by whole steps")):
        if builder.test(folder, launched, tested, whole):
            return verdict
    return "LIVES"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="look at the list only")
    parser.add_argument("--only", default="", help="mutants whose file or words contain this text")
    parser.add_argument("--since", metavar="COMMIT", help="mutants that the list of this commit does not have")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    listed = mutants()
    wrong = list(problems(listed))
    for line in wrong:
        print(f"refused: {line}")
    if wrong or options.check:
        print(f"cuda mutants: {len(listed)} listed, {len(wrong)} problems; none built")
        return 1 if wrong else 0
    started = time.monotonic()
    builder = Builder(options.build)
    wanted = [one for one in listed if options.only in f"{one['file']}: {one['what']}"]
    wanted = since(wanted, options.since) if options.since else wanted
    out = options.build / "mutants"
    shutil.rmtree(out, ignore_errors=True)

    if builder.fails_unchanged():
        print("refused: the tests fail without a mutant, so that they would kill anything")
        return 1

    def work(number_and_mutant):
        number, one = number_and_mutant
        folder = out / str(number)
        verdict = judge(builder, folder, one)
        shutil.rmtree(folder)
        print(f"{verdict:21}  {one['file']}: {one['what']}", flush=True)
        return verdict

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(work, enumerate(wanted)))
    bad = [verdict for verdict in verdicts if not verdict.startswith("killed")]
    by_steps = verdicts.count("killed by whole steps")
    print(f"cuda mutants: {len(verdicts)} built, {len(verdicts) - len(bad)} killed ({by_steps} of them by whole steps "
          f"alone), {len(bad)} not; {time.monotonic() - started:.0f} s")
    return 1 if bad or not verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
