#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Independent computation of the roots that tests/contracts/program/root_test.cpp expects."""
import struct
from hashlib import blake2b


def raw(data):
    return blake2b(data, digest_size=32).digest()


def leaf(data):
    return raw(b"\0" + data)


def root(level):
    while len(level) > 1:
        pairs = [raw(b"\1" + level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0]


def tensor_root(kind, fmt, rows, cols, values):
    leaves = []
    for top in range(0, rows, 16):
        for left in range(0, cols, 16):
            data = bytes([kind])
            for i in range(top, top + 16):
                for j in range(left, left + 16):
                    data += struct.pack(fmt, values[i * cols + j] if i < rows and j < cols else 0)
            leaves.append(leaf(data))
    return root(leaves)


def array_root(tensors, values):
    leaves, offset = [], 0
    for name, rows, cols in tensors:
        part = values[offset:offset + rows * cols]
        offset += rows * cols
        data = struct.pack("<I", len(name)) + name + struct.pack("<QQ", rows, cols)
        leaves.append(leaf(data + tensor_root(1, "<f", rows, cols, part)))
    return root(leaves)


values = [i * 0.25 - 3.0 for i in range(17 * 18)]
update = [i * 1000000007 - 5 for i in range(17 * 18)]
tensors = [(b"a", 16, 16), (b"b", 1, 50)]
print("tensor", tensor_root(1, "<f", 17, 18, values).hex())
print("update", tensor_root(4, "<q", 17, 18, update).hex())
print("array ", array_root(tensors, values).hex())
zero, number = bytes(32), lambda n: struct.pack("<Q", n)
state = [array_root(tensors, values), zero, zero, number(10), zero, array_root(tensors, values), number(0), number(0)]
print("state ", root([leaf(bytes([i]) + part) for i, part in enumerate(state)]).hex())
