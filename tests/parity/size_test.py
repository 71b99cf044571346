#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make parity-size from end to end with a tiny model and a text of this machine: data, the three runs, stopped and
resumed, and the pages; what must not be mixed is refused. The pages of Debian's packages are read from an archive that
the test makes."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

import debian_text
import report
import torch_state

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = os.path.join(ROOT, ".venv", "bin", "python")
WORDS = "layers=2 width=64 heads=2 context=64 vocabulary=512 batch=4 steps=8 every=4 held_out=8 warmup=4 rate=0.003"
PAGE = """<!DOCTYPE html><html><head><title>no</title><script>no()</script><body><nav>no</nav>
<h1>One &amp;   two</h1><p>three<br>four</p><pre>  kept
    so</pre></body></html>"""


def html_is_stripped():
    assert debian_text.text_of_html(PAGE).split("\n") == \
        [" ", "One & two", "", "three", "four", "", "  kept", "    so", ""], debian_text.text_of_html(PAGE).split("\n")


def make_archive(folder, package, pages):
    tree = os.path.join(folder, package)
    docs = os.path.join(tree, "usr", "share", "doc", package)
    os.makedirs(os.path.join(tree, "DEBIAN"))
    with open(os.path.join(tree, "DEBIAN", "control"), "w") as file:
        file.write(f"Package: {package}\nVersion: 1:2-3\nArchitecture: all\nMaintainer: nobody\n"
                   "Description: pages of a test\n")
    os.makedirs(docs)
    for name, text in pages.items():
        with (gzip.open if name.endswith(".gz") else open)(os.path.join(docs, name), "wt") as file:
            file.write(text)
    archives = os.path.join(folder, "out", "archives")
    os.makedirs(archives, exist_ok=True)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, os.path.join(archives, f"{package}_2-3_all.deb")],
                   check=True, stdout=subprocess.DEVNULL)


def packages_become_text(folder):
    long = "A sentence of a page. " * 200
    make_archive(folder, "some-doc", {"a.html": f"<p>{long}one</p>", "a.txt": long + "left out: a.html is there",
                                      "b.txt.gz": long + "two", "c.txt": "too short", "d.png": "no text"})
    make_archive(folder, "other-doc", {"same.txt": long + "two", "e.txt": long + "three"})
    out = os.path.join(folder, "out")
    left = os.path.join(out, "unpacked", "some-doc_2-3_all.deb")  # by an unpacking that did not end
    os.makedirs(left)
    with open(os.path.join(left, "stray.txt"), "w") as file:
        file.write(long + "stray")
    text = debian_text.write_text(out, ("some-doc", "other-doc"), say=lambda line: None)
    with open(text, encoding="utf-8") as file:
        ends = sorted(json.loads(line)["text"].strip().rpartition(" ")[2] for line in file)
    assert ends == ["one", "three", "two"], ends
    with open(os.path.join(out, "text.json")) as file:
        rows = json.load(file)["packages"]
    assert [(row["package"], row["version"], row["pages"]) for row in rows] == \
        [("some-doc", "1:2-3", 2), ("other-doc", "1:2-3", 1)], rows


class Tool:
    """run.py --size on a text, into pages of its own."""

    def __init__(self, folder):
        self.folder, self.docs = folder, os.path.join(folder, "docs")
        os.makedirs(self.docs)
        for name in ("parity.md", "parity.svg"):
            shutil.copy(os.path.join(ROOT, "docs", name), self.docs)
        with open(os.path.join(ROOT, "docs", "parity.json")) as file:
            body = json.load(file)
        body.pop("size_runs", None)  # of another text and size
        with open(os.path.join(self.docs, "parity.json"), "w") as file:
            file.write(report.json_text(body))
        self.before = self.page("parity.json")

    def text(self, name, verses):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            subprocess.run(["bible", "-f", verses], check=True, stdout=file)
        return path

    def page(self, name):
        with open(os.path.join(self.docs, name)) as file:
            return file.read()

    def run(self, out, *more):
        return subprocess.run(
            [sys.executable, os.path.join(HERE, "run.py"), "--size", "--words", WORDS, "--docs", self.docs, "--python",
             PYTHON, "--threads", "1", "--out", os.path.join(self.folder, out), *more], stderr=subprocess.PIPE, text=True)

    def good(self, out, *more):
        done = self.run(out, *more)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def refused(self, out, said, *more):
        pages = [self.page(name) for name in sorted(os.listdir(self.docs))]
        done = self.run(out, *more)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        for text in said:
            assert text in done.stderr, f"'{text}' is missing: {done.stderr}"
        assert pages == [self.page(name) for name in sorted(os.listdir(self.docs))]


def text_hash(said):
    return next(line.split()[-1] for line in said.splitlines() if line.startswith("parity: text "))


def torch_state_is_strict(tool):
    """Of another job, and damaged; the good one then goes on to the same curve."""
    state = os.path.join(tool.folder, "one", "state", "fp32.state")
    with open(state, "rb") as file:
        whole = bytearray(file.read())
    with open(os.path.join(tool.folder, "one", "dump", "job.json"), "rb") as file:
        described = file.read()
    job, other = (torch_state.identity(described, precision, "cpu") for precision in ("fp32", "bf16"))
    flipped = bytearray(whole)
    flipped[-1] ^= 1
    path = os.path.join(tool.folder, "bad.state")
    for content, wanted, said in ((whole, other, "is of another job"), (whole[:50], job, "is no state"),
                                  (flipped, job, "is damaged")):
        with open(path, "wb") as file:
            file.write(content)
        try:
            torch_state.read(path, wanted)
            raise AssertionError(f"a state that {said} was read")
        except torch_state.StateError as error:
            assert said in str(error), error
    words = [PYTHON, os.path.join(HERE, "torch_run.py"), os.path.join(tool.folder, "one", "dump"), "fp32"]
    done = subprocess.run([*words, os.path.join(tool.folder, "bad.jsonl"), "--state", path], stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 1 and "is damaged" in done.stderr and "Traceback" not in done.stderr, done.stderr
    subprocess.run([*words, os.path.join(tool.folder, "whole.jsonl")], check=True)
    tool.good("one", "--only", "fp32", "--until", "99")
    curves = []
    for path in ("whole.jsonl", os.path.join("one", "runs", "gpt2-1-fp32.jsonl")):
        with open(os.path.join(tool.folder, path)) as file:
            curves.append([{**json.loads(line), "seconds": 0} for line in file])
    assert curves[0] == curves[1], "a resumed PyTorch run has another curve"


def runs_are_recorded(tool):
    text = tool.text("one.txt", "gen1:1-gen50:26")
    first = text_hash(tool.good("one", "--text", text, "--prepare"))
    tool.good("one", "--report")
    assert "No curve is there yet" in tool.page("parity.md")
    assert tool.page("parity.json") == tool.before
    for arithmetic in ("i16", "fp32"):
        tool.good("one", "--only", arithmetic, "--save", "2", "--until", "3")
    assert "No curve is there yet" in tool.page("parity.md")  # no held-out loss is later than the first
    for arithmetic in ("i16", "fp32"):
        tool.good("one", "--only", arithmetic, "--save", "2", "--until", "5")
    assert "Not run to its end yet: Assay `i16` (step 4 so far), PyTorch fp32 (step 4 so far), PyTorch bf16" \
        in tool.page("parity.md")
    assert [run["reached"] for run in json.loads(tool.page("parity.json"))["size_runs"]] == [4, 4]
    assert "up to step 4" in tool.page("parity.md")
    tool.good("elsewhere", "--report")  # what is recorded stays, where there is nothing of it
    assert [run["reached"] for run in json.loads(tool.page("parity.json"))["size_runs"]] == [4, 4]
    torch_state_is_strict(tool)
    assert "Not run to its end yet: Assay `i16` (step 4 so far), PyTorch bf16" in tool.page("parity.md")
    tool.good("one")
    assert os.listdir(os.path.join(tool.folder, "one", "state")) == []
    body = json.loads(tool.page("parity.json"))
    assert not any("reached" in run for run in body["size_runs"])
    assert [(run["model"], run["arithmetic"]) for run in body["size_runs"]] == \
        [("gpt2-124m", "i16"), ("gpt2-124m", "fp32"), ("gpt2-124m", "bf16")]
    assert body["runs"] == json.loads(tool.before)["runs"]
    assert {run["text"] for run in body["size_runs"]} == {first}
    assert "Every run of the list is there" in tool.page("parity.md") and tool.page("parity.svg").count("held-out") == 3
    return first


def mixtures_are_refused(tool, first):
    other = tool.text("two.txt", "ex1:1-ex40:38")
    second = text_hash(tool.good("two", "--text", other, "--prepare"))
    assert second != first
    tool.refused("two", (first, second, "parity.json"), "--only", "i16")
    one, two = (os.path.join(tool.folder, name, "runs") for name in ("one", "two"))
    shutil.copytree(one, two, dirs_exist_ok=True)
    tool.refused("two", (first, second, "gpt2-1-i16.jsonl"), "--again")
    shutil.rmtree(os.path.join(tool.folder, "one", "data"))
    tool.refused("one", ("is of data that is gone",), "--text", other, "--prepare")
    before = tool.page("parity.json")
    tool.good("one", "--report")
    assert tool.page("parity.json") == before
    done = subprocess.run([sys.executable, os.path.join(HERE, "run.py"), "--prepare"], stderr=subprocess.PIPE,
                          text=True)
    assert done.returncode == 2 and "--prepare needs --size" in done.stderr


def main():
    html_is_stripped()
    if not os.path.exists(PYTHON):
        sys.exit("FAILED: no .venv, so PyTorch is missing to compare with; .ci/setup test makes it")
    with tempfile.TemporaryDirectory() as folder:
        packages_become_text(folder)
        tool = Tool(folder)
        first = runs_are_recorded(tool)
        mixtures_are_refused(tool, first)
    print("parity: a run at size in small: recorded, and never mixed with another text")
    return 0


if __name__ == "__main__":
    sys.exit(main())
