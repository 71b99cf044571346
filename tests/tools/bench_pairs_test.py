#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_pairs.py with programs whose times are given, and with the one that is built: its lines are these.

usage: bench_pairs_test.py ASSAY_WORKER"""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import bench_pairs

WORKER = None
# Answers as assay-worker --bench does. TIMES: what its runs take, one after the other, from the first on again.
PROGRAM = """#!/usr/bin/env python3
import itertools, os, sys
times = itertools.cycle(os.environ["TIMES"].split())
for line in sys.stdin:
    word, *rest = line.split()
    with open(os.environ["LOG"], "a") as log:
        print(os.environ["ME"], os.environ["ASSAY_THREADS"], line.strip(), file=log)
    if word == "run":
        print("times", *(next(times) for _ in range(int(rest[0]))), flush=True)
    else:
        print(os.environ.get("ANSWER", "ready"), flush=True)
"""


class WithPrograms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "log"
        program = self.folder / "assay-worker"
        program.write_text(PROGRAM)
        program.chmod(0o755)

    def run_pairs(self, *words, base="0.5", new="0.5"):
        out, err = io.StringIO(), io.StringIO()
        command = ["bench_pairs.py", str(self.folder), str(self.folder), "--base-set", f"TIMES={base}", "--new-set",
                   f"TIMES={new}", "--base-set", "ME=base", "--new-set", "ME=new", *words]
        with mock.patch.object(sys, "argv", command), mock.patch.dict(os.environ, {"LOG": str(self.log)}), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = bench_pairs.main()
        return code, out.getvalue().splitlines()[1:], err.getvalue()

    def asked(self):
        return self.log.read_text().splitlines()

    def test_the_least_time_of_a_start_counts(self):
        code, rows, _ = self.run_pairs("--profile", "i16", "--threads", "2", "--starts", "6",
                                       base="0.9 0.5 0.8", new="0.7 0.625 0.9")
        self.assertEqual(code, 1)
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0].split(), ["GPT-2", "5M", "i16", "2", "6", "500.00", "625.00", "0.800", "0.800", "to",
                                           "0.800"])

    def test_who_begins_alternates_in_a_start_and_between_starts(self):
        code, _, _ = self.run_pairs("--profile", "f32", "--threads", "1", "--starts", "2", "--turns", "2", "--runs", "3")
        self.assertEqual(code, 0)
        case, run = "1 step f32 4 256 4 256 8192 8", "1 run 3"
        self.assertEqual(self.asked(), [f"base {case}", f"new {case}", f"base {run}", f"new {run}", f"new {run}",
                                        f"base {run}", f"new {case}", f"base {case}", f"new {run}", f"base {run}",
                                        f"base {run}", f"new {run}"])

    def test_every_profile_and_thread_count_of_a_step_is_a_case(self):
        code, rows, _ = self.run_pairs("--starts", "1")
        self.assertEqual(code, 0)
        self.assertEqual([row.split()[2:4] for row in rows], [["f32", "1"], ["f32", "2"], ["i16", "1"], ["i16", "2"]])

    def test_a_product_runs_a_tenth_of_a_second_a_turn(self):
        code, rows, _ = self.run_pairs("--products", "--only", "head input", "--profile", "i16", "--starts", "1",
                                       "--turns", "1", base="0.03", new="0.03")
        self.assertEqual((code, len(rows)), (0, 1))
        case = "1 gemm i16 head-input 2048 256 8192"
        self.assertEqual(self.asked(), [f"base {case}", f"new {case}", "base 1 run 1", "base 1 run 4", "new 1 run 4"])

    def test_a_program_that_cannot_says_why(self):
        code, _, err = self.run_pairs("--new-set", "ANSWER=error there is not enough memory for this case")
        self.assertEqual(code, 2)
        self.assertIn("there is not enough memory for this case", err)

    def test_a_program_that_ends_is_told_from_one_that_answers(self):
        (self.folder / "assay-worker").write_text("#!/bin/sh\nexit 1\n")
        code, _, err = self.run_pairs()
        self.assertEqual(code, 2)
        self.assertIn("answers 'step f32 4 256 4 256 8192 8' with ''", err)

    def test_a_folder_without_the_program_is_an_error(self):
        (self.folder / "assay-worker").unlink()
        code, _, err = self.run_pairs()
        self.assertEqual(code, 2)
        self.assertIn("No such file", err)

    def test_a_setting_without_a_value_is_an_error(self):
        code, _, err = self.run_pairs("--new-set", "ASSAY_TARGETS")
        self.assertEqual(code, 2)
        self.assertIn("'ASSAY_TARGETS' is not NAME=VALUE", err)


class Interval(unittest.TestCase):
    def test_few_values_have_their_extremes(self):
        self.assertEqual(bench_pairs.bounds([3.0]), (3.0, 3.0))
        self.assertEqual(bench_pairs.bounds([2.0, 1.0, 3.0]), (1.0, 3.0))

    def test_of_eight_values_the_extremes_hold_the_median_with_95_percent_and_the_next_do_not(self):
        # P(median below the least of 8) = 2^-8; below the second least = 9 · 2^-8 = 0.035, more than 0.025.
        self.assertEqual(bench_pairs.bounds([float(i) for i in range(8)]), (0.0, 7.0))
        # Of 9 values: 10 · 2^-9 = 0.0195.
        self.assertEqual(bench_pairs.bounds([float(i) for i in range(9)]), (1.0, 7.0))

    def test_only_an_interval_below_the_limit_says_slower(self):
        self.assertFalse(bench_pairs.row("x", "f32", "1", [(1.0, 1.1)] * 5 + [(1.0, 1.0)])[1])
        self.assertTrue(bench_pairs.row("x", "f32", "1", [(1.0, 1.1)] * 5 + [(1.0, 1.05)])[1])

    def test_a_few_starts_say_nothing(self):
        self.assertFalse(bench_pairs.row("x", "f32", "1", [(1.0, 2.0)] * 5)[1])


class Built(unittest.TestCase):
    def test_the_built_program_speaks_these_lines(self):
        side = bench_pairs.Side(Path(WORKER).parent, "step i16 1 32 2 16 64 1", {"ASSAY_THREADS": "1"})
        try:
            times = side.times(2)
        finally:
            side.end()
        self.assertEqual(len(times), 2)
        self.assertGreater(min(times), 0)


if __name__ == "__main__":
    WORKER = sys.argv.pop(1)
    unittest.main()
