#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Independent computation of the roots that tests/contracts/program/root_test.cpp expects."""
import struct
from hashlib import blake2b


def leaf(kind, data):
    return blake2b(data, digest_size=32, person=kind).digest()


def root(level):
    while len(level) > 1:
        pairs = [leaf(b"assay/node", level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0]


def tensor_root(kind, fmt, rows, cols, values):
    leaves = []
    for top in range(0, rows, 16):
        for left in range(0, cols, 16):
            data = b""
            for i in range(top, top + 16):
                for j in range(left, left + 16):
                    data += struct.pack(fmt, values[i * cols + j] if i < rows and j < cols else 0)
            leaves.append(leaf(kind, data))
    return root(leaves)


def array_root(tensors, values):
    leaves, offset = [], 0
    for name, rows, cols in tensors:
        part = values[offset:offset + rows * cols]
        offset += rows * cols
        data = struct.pack("<I", len(name)) + name + struct.pack("<QQ", rows, cols)
        leaves.append(leaf(b"assay/tensor", data + tensor_root(b"assay/tile", "<f", rows, cols, part)))
    return root(leaves)


values = [i * 0.25 - 3.0 for i in range(17 * 18)]
update = [i * 1000000007 - 5 for i in range(17 * 18)]
tensors = [(b"a", 16, 16), (b"b", 1, 50)]
print("tensor", tensor_root(b"assay/tile", "<f", 17, 18, values).hex())
print("update", tensor_root(b"assay/update", "<q", 17, 18, update).hex())
print("array ", array_root(tensors, values).hex())
zero, number = bytes(32), lambda n: struct.pack("<Q", n)
array = array_root(tensors, values)


def state_root(step, age, moments):
    """Eight components, whatever the job: the fourth is step count and age of the moments."""
    parts = [array, moments, moments, number(step) + number(age), zero, array, number(0), number(0)]
    return root([leaf(b"assay/component", bytes([i]) + part) for i, part in enumerate(parts)])


print("state ", state_root(10, 10, zero).hex())
print("aged  ", state_root(10, 7, array).hex())
