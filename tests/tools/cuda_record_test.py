#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of `make cuda-record`, from figures that no card gave, and what it does without a card.

usage: cuda_record_test.py assay-worker
"""
import copy
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cuda_record as record

WORKER = None  # the program: an argument
ROW = {"name": "forward", "shape": "8192x768x3072", "profile": "i16", "target": "cuda:0", "threads": 1, "value": 123456.0,
       "unit": "GFLOP/s", "peer": "PyTorch 9.9 fp32", "peer_value": 41152.0, "ratio": 3.0}
FOUND = {
    "day": "2031-02-03", "device": "cuda:0",
    "card": {"name": "NVIDIA Test 1", "driver": "1.2.3", "capability": "9.0", "memory": "8 MiB"},
    "self_test": "aa" * 32, "kernels": "All tests passed (7 assertions in 3 test cases)",
    "int8": "cuBLASLt has the same product of 1x1x1 digits", "roots": {"f32": "bb" * 32, "i16": "cc" * 32},
    "ways": {"": 0.08, "fused-attention": 0.1, "cut-products": 0.0875, "fused-attention,cut-products": 0.108},
    "bench": {"machine": {"cpu": "Some CPU", "targets": ["scalar"], "threads": 1, "load": 0.5, "device": "cuda:0"},
              "rows": [ROW, {**ROW, "name": "roots of a slot's state", "profile": "", "value": 2.5, "unit": "ms",
                             "peer": "", "peer_value": None, "ratio": None},
                       {**ROW, "name": "part of a step, GPT-2", "shape": "linear/Pack<0,2>, 9 launches", "value": 0.25,
                        "unit": "ms", "peer": "", "peer_value": None, "ratio": None}]},
}


class Pages(unittest.TestCase):
    def test_a_section_has_the_card_its_driver_and_every_row(self):
        text = record.benchmarks_section(FOUND)
        self.assertIn("2031-02-03, NVIDIA Test 1, compute capability 9.0, 8 MiB, driver 1.2.3", text)
        self.assertIn("| forward | 8192x768x3072 | `i16` | 123,456 | GFLOP/s | PyTorch 9.9 fp32 | 41,152 | 3.00 |", text)
        self.assertIn("| part of a step, GPT-2 | `linear/Pack<0,2>, 9 launches` | `i16` | 0.25 | ms | – | – | – |", text)
        self.assertIn("| roots of a slot's state | 8192x768x3072 |  | 2.50 | ms | – | – | – |", text)
        self.assertIn("| `i16` | 80.00 | ms | – | – | – |", text)
        self.assertIn("| a step, GPT-2: attention by squares |", text)
        self.assertIn("| `i16` | 100 | ms | as it is | 80.00 | 0.80 |", text)

    def test_a_section_has_every_hash(self):
        text = record.portability_section(FOUND)
        for word in ("aa" * 32, "bb" * 32, "cc" * 32, "7 assertions", "cuBLASLt has the same product", "driver 1.2.3"):
            self.assertIn(word, text)

    def test_rows_of_an_emulation_or_of_another_card_are_refused(self):
        for change in ({"target": "cuda-host"}, {"name": "emulated forward"}, {"target": "cuda:1"}):
            found = copy.deepcopy(FOUND)
            found["bench"]["rows"][1].update(change)
            with self.assertRaises(ValueError):
                record.benchmarks_section(found)
        found = copy.deepcopy(FOUND)
        found["bench"]["rows"] = []
        with self.assertRaises(ValueError):
            record.benchmarks_section(found)

    def test_the_newest_section_comes_first_and_nothing_else_moves(self):
        page = "before\n\nMARK\n\nafter\n"
        once = record.insert(page, "MARK", "first")
        self.assertEqual(once, "before\n\nMARK\n\nfirst\n\nafter\n")
        self.assertEqual(record.insert(once, "MARK", "second"), "before\n\nMARK\n\nsecond\n\nfirst\n\nafter\n")

    def test_a_page_without_its_marker_is_refused(self):
        for page in ("nothing", "MARK MARK"):
            with self.assertRaises(ValueError):
                record.insert(page, "MARK", "text")

    def test_the_pages_of_the_project_have_their_markers(self):
        for path, marker in (record.BENCHMARKS, record.PORTABILITY):
            self.assertIn("text of a test", record.insert(path.read_text(encoding="utf-8"), marker, "text of a test"))


class Order(unittest.TestCase):
    def test_everything_that_is_run_numbers_cards_as_nvidia_smi(self):
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            os.environ["CUDA_DEVICE_ORDER"] = "FASTEST_FIRST"
            record.order_cards()
            said = record.run("a child's order", [sys.executable, "-c",
                                                  "import os; print(os.environ['CUDA_DEVICE_ORDER'])"])
        self.assertEqual(said.strip(), "PCI_BUS_ID")

    def test_other_numbers_than_nvidia_smis_are_refused(self):
        done = subprocess.run([sys.executable, record.__file__, "build/bin"], capture_output=True, text=True, check=False,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": "1"})
        self.assertEqual(done.returncode, record.PREFLIGHT)
        self.assertIn("CUDA_VISIBLE_DEVICES is set", done.stderr)


class Ways(unittest.TestCase):
    def test_a_step_is_timed_without_each_way(self):
        with unittest.mock.patch.object(record, "WAYS_STEP", ("i16", (1, 16, 2, 8, 50, 2))):
            found = record.measure_ways(WORKER, "cuda-host", runs=2)
        self.assertEqual(list(found), list(record.WAYS))
        self.assertTrue(all(seconds > 0 for seconds in found.values()))

    def test_a_way_that_the_worker_does_not_know_ends_it(self):
        with unittest.mock.patch.object(record, "WAYS", {"": "as it is", "nonsense": "a word of no meaning"}):
            with unittest.mock.patch.object(record, "WAYS_STEP", ("i16", (1, 16, 2, 8, 50, 2))):
                with self.assertRaises(SystemExit):
                    record.measure_ways(WORKER, "cuda-host", runs=1)

    def test_a_device_that_fails_ends_it(self):
        with unittest.mock.patch.dict(os.environ, {"ASSAY_DEVICE_FAULT": "cuda-host lost 3"}):
            with unittest.mock.patch.object(record, "WAYS_STEP", ("i16", (1, 16, 2, 8, 50, 2))):
                with self.assertRaises(SystemExit):
                    record.measure_ways(WORKER, "cuda-host", runs=1)


class Kept(unittest.TestCase):
    OF = {"day": "2031-02-03", "programs": "aa"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "record.json"

    def test_who_is_interrupted_goes_on_behind_the_last_answer(self):
        with self.assertRaises(KeyboardInterrupt):
            findings = record.Findings(self.path, self.OF)
            findings.once("self_test", lambda: "first")
            findings.once("kernels", self.interrupt)
        again = record.Findings(self.path, self.OF)
        self.assertEqual(again.once("self_test", self.interrupt), "first")
        self.assertEqual(again.once("kernels", lambda: "second"), "second")
        self.assertEqual(again.found, {**self.OF, "self_test": "first", "kernels": "second"})

    def test_answers_of_another_day_or_program_or_that_nobody_wants_are_asked_again(self):
        record.Findings(self.path, self.OF).once("self_test", lambda: "first")
        for of, anew in (({**self.OF, "day": "2031-02-04"}, False), ({**self.OF, "programs": "bb"}, False),
                         (self.OF, True)):
            findings = record.Findings(self.path, of, anew)
            self.assertEqual(findings.found, of)
            with self.assertRaises(KeyboardInterrupt):
                findings.once("self_test", self.interrupt)

    @staticmethod
    def interrupt():
        raise KeyboardInterrupt


class WithoutCard(unittest.TestCase):
    def test_it_stops_at_once_and_says_why(self):
        done = subprocess.run([sys.executable, record.__file__, "build/bin"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": "/nonexistent", "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, record.PREFLIGHT)
        self.assertIn("there is no card to record", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    WORKER = Path(sys.argv.pop())
    unittest.main(verbosity=0)
