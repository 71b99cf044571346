#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Multiplies the digits that cuda_card_test left in a folder by cuBLASLt (torch._int_mm) on the same card.

usage: cuda_int8.py FOLDER cuda:N

FOLDER/a [m,k], FOLDER/b [k,n]: signed bytes; FOLDER/d [m,n]: int32, which the kernel made of them. FOLDER/shape: m n k.
"""
import sys
from pathlib import Path

import torch


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, device = Path(sys.argv[1]), sys.argv[2]
    m, n, k = map(int, (folder / "shape").read_text(encoding="utf-8").split())

    def array(name, kind, *shape):
        return torch.frombuffer(bytearray((folder / name).read_bytes()), dtype=kind).reshape(shape)

    a, b, d = array("a", torch.int8, m, k), array("b", torch.int8, k, n), array("d", torch.int32, m, n)
    by_cublas = torch._int_mm(a.to(device), b.to(device)).cpu()
    if not torch.equal(by_cublas, d):
        wrong = (by_cublas != d).nonzero()[0].tolist()
        sys.exit(f"error: cuBLASLt's product differs from the kernel's at {wrong}")
    print(f"cuBLASLt has the same product of {m}x{n}x{k} digits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
