#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The root of a small trace, computed without this project's code; tests/contracts/program/trace_test.cpp has it.

Five steps in segments of two. Merkle trees as docs/formats/trace.md and RFC 6962 describe them."""
import hashlib
import struct


def blake(data, person=b""):
    return hashlib.blake2b(data, digest_size=32, person=person.ljust(16, b"\0")).digest()


def tagged(tag, data):
    return blake(bytes([len(tag)]) + tag.encode() + data)


def leaf_hash(data):
    return blake(data, b"assay/leaf")


def node_hash(left, right):
    return blake(left + right, b"assay/node")


def root(hashes):
    while len(hashes) > 1:
        above = [node_hash(hashes[i], hashes[i + 1]) for i in range(0, len(hashes) - 1, 2)]
        if len(hashes) % 2:
            above.append(hashes[-1])
        hashes = above
    return hashes[0]


def leaf_salt(salt, index):
    return tagged("assay/trace/salt", salt + struct.pack("<I", index))


def main():
    boundaries = [bytes([i]) * 32 for i in range(4)]
    salt = bytes([7]) * 32
    leaves = []
    for segment in range(3):
        leaves.append((1, segment, boundaries[segment]))
        leaves.append((2, segment, boundaries[segment + 1]))
    for step in range(5):
        leaves.append((3, step, struct.pack("<II", 100 + step, 200 + step)))
    leaves.append((4, 0, boundaries[3]))
    leaves.append((5, 0, bytes([9]) * 32 + b"\x00"))
    leaves.append((6, 0, b""))
    hashes = []
    for index, (kind, place, content) in enumerate(leaves):
        data = struct.pack("<BI", kind, place) + struct.pack("<I", len(content)) + content
        hashes.append(leaf_hash(data + leaf_salt(salt, index)))
    print("salt of leaf 3:", leaf_salt(salt, 3).hex())
    print("root:", root(hashes).hex())


main()
