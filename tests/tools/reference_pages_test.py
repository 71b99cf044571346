#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference says what the program reference_pages makes of the code's tables, and the program finds what does not.

ASSAY_BIN_DIR names the folder of the program (default: build/bin).
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("ASSAY_BIN_DIR", ROOT / "build/bin")) / "reference_pages"


def run(root, *flags):
    done = subprocess.run([PROGRAM, "--root", root, *flags], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout


class ReferencePages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(ROOT / "docs/reference", self.root / "docs/reference")

    def page(self, name):
        return self.root / "docs/reference" / name

    def refused_then_repaired(self, name, pattern, instead):
        """The page with one place changed is refused; --write puts it right again and touches nothing else."""
        right = self.page(name).read_text(encoding="utf-8")
        wrong, count = re.subn(pattern, instead, right, count=1, flags=re.M)
        self.assertEqual(count, 1)
        self.page(name).write_text(wrong, encoding="utf-8")
        code, output = run(self.root)
        self.assertEqual(code, 1, output)
        self.assertRegex(output, rf"docs/reference/{re.escape(name)}:\d+: .* out of date")
        self.assertEqual(run(self.root, "--write")[0], 0)
        self.assertEqual(self.page(name).read_text(encoding="utf-8"), right)

    def test_the_pages_say_what_the_code_says(self):
        code, output = run(ROOT)
        self.assertEqual(code, 0, output)

    def test_a_reason_that_the_page_lacks(self):
        self.refused_then_repaired("reasons.md", r"^\| 49 \|.*\n", "")

    def test_a_parameter_whose_default_moved(self):
        self.refused_then_repaired("parameters.md", r"^(\| `max_missed` \|) 2 ", r"\1 3 ")

    def test_a_limit_that_moved(self):
        self.refused_then_repaired("parameters.md", r"^\| 16,384 \| running", "| 2,048 | running")

    def test_a_limit_of_a_job_that_moved(self):
        self.refused_then_repaired("limits.md", r"from 1 to 10000 ", "from 1 to 20000 ")
        self.refused_then_repaired("limits.md", r"at most 8192 audit units", "at most 8193 audit units")

    def test_a_transaction_with_other_fields(self):
        self.refused_then_repaired("transactions.md", r"\| to, amount \|", "| to |")

    def test_an_exit_code_that_the_page_lacks(self):
        self.refused_then_repaired("exit-codes.md", r"^\| 8 \|.*\n", "")

    def test_a_page_without_the_place_for_its_table(self):
        text = self.page("reasons.md").read_text(encoding="utf-8")
        self.page("reasons.md").write_text(text.replace("<!-- end reasons -->\n", ""), encoding="utf-8")
        for flags in ([], ["--write"]):
            code, output = run(self.root, *flags)
            self.assertEqual(code, 1, output)
            self.assertIn("marks of the table 'reasons'", output)


if __name__ == "__main__":
    unittest.main()
