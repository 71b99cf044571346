#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiled kernels would need at least on an H100, from their counted instructions; nothing is run.

usage: cuda_roofline.py [--cubins FOLDER] [--nvdisasm PATH] [--write]

Counted, in the machine code for sm_90a: the instructions of the innermost loop that multiplies, and of the loop around
it (a block of k), each as if every instruction ran once in a turn; a tile's hash likewise. Assumed: the rates below,
that a kernel takes as long as its busiest unit (issue, matrix units, memory) and that all else is hidden behind that
one. So each time is a lower bound, and no measurement. --write puts the table into docs/gpu.md.
"""
import argparse
import collections
import math
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/gpu.md"
BEGIN, END = "<!-- roofline: made by make cuda-roofline -->", "<!-- end of roofline -->"

# An H100 SXM: 132 processors at the clock of its 67 TFLOP/s; NVIDIA's data sheet.
PROCESSORS, CLOCK = 132, 67e12 / (132 * 128 * 2)
ISSUE = PROCESSORS * 4 * CLOCK  # instructions of a warp a second
INTEGERS = ISSUE / 2            # of them, integer ones: half the lanes have the unit
MATRIX = 0.6 * 1979e12 / (2 * 16 * 8 * 32)  # mma.m16n8k32: assumed of mma.sync: 60 % of the dense rate
MEMORY = 3.35e12                # bytes a second
SGEMM = 51e12                   # assumed of cuBLAS on this card

LABEL = re.compile(r"^\s*(\.L_x_\d+):")
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_]+)[^;]*;")
BRANCH = re.compile(r"BRA\s.*(\.L_x_\d+)")


class Kernel:
    """Instructions in order, and loops: [first, last) of a branch back."""

    def __init__(self, body):
        self.names, self.loops, labels = [], [], {}
        for line in body.split("\n"):
            if label := LABEL.match(line):
                labels[label[1]] = len(self.names)
            elif found := INSTRUCTION.match(line):
                branch = BRANCH.search(line)
                self.names.append(found[1])
                if branch and branch[1] in labels:
                    self.loops.append((labels[branch[1]], len(self.names)))

    def count(self, loop):
        return collections.Counter(self.names[loop[0]:loop[1]])

    def around(self, name):
        """Loops that hold `name`, the innermost first."""
        return sorted((loop for loop in self.loops if self.count(loop)[name]), key=lambda loop: loop[1] - loop[0])


def kernels(text):
    parts = re.split(r"^\.text\.(\w+):$", text, flags=re.MULTILINE)
    return {name: Kernel(body) for name, body in zip(parts[1::2], parts[2::2])}


def one(found, *words):
    names = [name for name in found if all(word in name for word in words)]
    if len(names) != 1:
        sys.exit(f"error: {len(names)} kernels have the words {' '.join(words)}")
    return found[names[0]]


def waves(tiles, held):
    """How much longer it takes than if tiles filled the card: `held` blocks to a processor at a time."""
    room = PROCESSORS * held
    return math.ceil(tiles / room) * room / tiles


class Roofline:
    def __init__(self, f32, i16, arrays):
        self.f32 = {side: one(f32, f"ProductF32ILj{side}E", "4MaskE0E") for side in (128, 64, 32)}
        self.i16 = {planes: one(i16, f"ProductI16ILj2ELj2ELj{planes}E", "4MaskE0E") for planes in (2, 3)}
        self.hash = one(arrays, "TileHashIf")

    def product_f32(self, m, n, k):
        """Seconds, what binds, instructions a multiply-add."""
        side = next((s for s in (128, 64) if math.ceil(m / s) * math.ceil(n / s) >= 96), 32)
        kernel = self.f32[side]
        own = 8 if side == 128 else 4
        whole = own * own * 16  # of a tile of k without a tail
        loops = kernel.around("FFMA")
        tail = [loop for loop in loops if kernel.count(loop)["FFMA"] < whole]
        main = next(loop for loop in loops if kernel.count(loop)["FFMA"] >= whole)
        cut = sum(loop[1] - loop[0] for loop in tail)  # a tail's own loop does not run
        more = kernel.count(main)["FFMA"] - whole - sum(kernel.count(loop)["FFMA"] for loop in tail)
        turn = main[1] - main[0] - cut - max(0, more)
        tiles = math.ceil(m / side) * math.ceil(n / side)
        warps = tiles * (side // own) ** 2 / 32
        issue = warps * math.ceil(k / 16) * turn / ISSUE * waves(tiles, 2)
        memory = 4 * (m * k + k * n + m * n) / MEMORY
        return max(issue, memory), "issue" if issue > memory else "memory", turn / whole

    def product_i16(self, m, n, k, block=16384, planes=2):
        kernel = self.i16[planes]
        inner, outer = kernel.around("IMMA")[:2]
        used = kernel.count(inner)["IMMA"]
        turn, ends = inner[1] - inner[0], outer[1] - outer[0] - (inner[1] - inner[0])
        columns = 64 if planes == 2 else 32
        tiles = math.ceil(m / 64) * math.ceil(n / columns)
        blocks = math.ceil(k / block)
        steps = blocks * math.ceil(min(k, block) / 32)
        issue = tiles * 4 * (steps * turn + blocks * ends) / ISSUE * waves(tiles, 2)
        matrix = tiles * 4 * steps * used / MATRIX * waves(tiles, 2)
        packing = (m * k * (4 + planes) + k * n * 6) / MEMORY
        memory = (m * k * planes + 2 * k * n + 4 * m * n) / MEMORY
        busiest = max((issue, "issue"), (matrix, "matrix units"), (memory, "memory"))
        return busiest[0] + packing, busiest[1], turn / used

    def roots(self, numbers):
        leaves = numbers / 256
        loop = max(self.hash.loops, key=lambda each: each[1] - each[0])
        work = leaves / 32 * 8 * (loop[1] - loop[0])  # eight pieces of 128 bytes
        return max(work / INTEGERS, 4 * numbers / MEMORY)

    def step(self):
        """A step of GPT-2 124M, 8 sequences of 1,024, i16: products, and the rest by the bytes that groups read and
        write."""
        layers, width, heads, context, words, batch = 12, 768, 12, 1024, 50257, 8
        tokens, head = batch * context, width // heads
        products = 0.0
        for into, out in ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)):
            products += layers * (self.product_i16(tokens, out, into)[0] + self.product_i16(tokens, into, out)[0]
                                  + self.product_i16(into, out, tokens, context)[0])
        # Half of each square lies under the mask; keys in blocks of 128.
        attention = (self.product_i16(context, context, head)[0] * 2 +
                     self.product_i16(context, head, context, 128)[0] * 4)
        products += layers * batch * heads * attention / 2 / waves(256, 2)
        products += (self.product_i16(tokens, words, width)[0] + self.product_i16(tokens, width, words, planes=3)[0]
                     + self.product_i16(words, width, tokens, context, 3)[0])
        # Numbers read and written by kernels that are no products. Of rows of the width: norms, GELU and additions;
        # their gradients, those of norms' parameters and of biases; what products wrote, looked at again.
        forward, backward, products_seen = 2 * 2 + 4 * 2 + 2 * 3, 4 * 3 + 2 * 3 + 2 * 3 + 2 * 2 + 9, 10 + 10
        rows = tokens * width * layers * (forward + backward + products_seen)
        # Softmax, the same again, and its gradient; of logits two sums and the gradient in place.
        squares = batch * heads * context * context / 2 * layers * (2 + 2 + 3)
        logits = tokens * words * (3 + 1)
        # The update tried and applied, the norm, zeros; the two gradients of the tied matrix.
        parameters = 124_439_808 * (4 + 7 + 2) + words * width * 3
        return products, 4 * (rows + squares + logits + parameters) / MEMORY


def table(line):
    rows = ["| what | time, at least (counted) | bound by | rate, at most (counted) |", "|---|---|---|---|"]
    shapes = ((8192, 3072, 768, "8192x768x3072"), (4096, 4096, 4096, "4096x4096x4096"))
    for m, n, k, name in shapes:
        seconds, bound, ratio = line.product_f32(m, n, k)
        rate = 2 * m * n * k / seconds
        rows.append(f"| `f32` product {name} | {seconds * 1e6:.0f} µs | {bound}: {ratio:.2f} instructions a "
                    f"multiply-add | {rate / 1e12:.0f} TFLOP/s; 0.8 of SGEMM is {0.8 * SGEMM / 1e12:.0f} |")
    for m, n, k, name in shapes:
        seconds, bound, ratio = line.product_i16(m, n, k)
        rate = 2 * m * n * k / seconds
        rows.append(f"| `i16` product with packing {name} | {seconds * 1e6:.0f} µs | {bound}: {ratio:.1f} instructions "
                    f"an `mma` | {rate / 1e12:.0f} TFLOP/s; 3 times SGEMM is {3 * SGEMM / 1e12:.0f} |")
    products, rest = line.step()
    rows.append(f"| step, GPT-2 124M, 8 x 1,024 tokens, `i16` | {(products + rest) * 1e3:.0f} ms | products "
                f"{products * 1e3:.0f} ms, bytes of what is no product {rest * 1e3:.0f} ms | "
                f"{8192 / (products + rest):,.0f} tokens/s |")
    roots = line.roots(3 * 124_439_808)
    rows.append(f"| roots of the state of 124M parameters | {roots * 1e3:.1f} ms | integer units | at most 5 ms are "
                "wanted |")
    rows.append(f"| tracing a segment of 16 such steps | {100 * roots / (16 * (products + rest)):.2f} % | | at most 1 % "
                "is wanted |")
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cubins", type=Path, default=ROOT / "build/cuda")
    parser.add_argument("--nvdisasm", default="")
    parser.add_argument("--write", action="store_true", help="into docs/gpu.md")
    options = parser.parse_args()
    found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu*/bin/nvdisasm"))
    disassemble = options.nvdisasm or (found[-1] if found else "nvdisasm")

    def read(stem):
        cubin = options.cubins / f"{stem}.80" / f"{stem}.90a.cubin"
        try:
            done = subprocess.run([disassemble, "-c", cubin], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            sys.exit("error: there is no nvdisasm\n  fix: run .ci/setup roofline, or name one with --nvdisasm")
        if done.returncode != 0:
            sys.exit(f"error: {cubin}: {done.stderr.strip()}\n  fix: run make cuda first")
        return kernels(done.stdout)

    rows = table(Roofline(read("products_f32"), read("products_i16"), read("arrays")))
    print("\n".join(rows))
    if options.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(rows) + f"\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
