#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Known answers of personalised BLAKE2b-256, of trees and of blob ids: an independent computation by hashlib.

Prints what tests/vectors/personal_hashes.txt holds. A line is a kind, a name, a length and the digest:
hash: of a message under the personalisation of that name; tree: root over so many leaves, leaf i of the one byte i;
blob: id of so many bytes, computed as one tree over all pieces of 4 KiB. Byte i of a message is (7 i + length) mod 251.
"""
from hashlib import blake2b

NAMES = ["assay/node", "assay/leaf", "assay/piece", "assay/tile", "assay/update", "assay/sums", "assay/digits",
         "assay/maximum", "assay/tensor", "assay/component"]
LENGTHS = [0, 1, 64, 127, 128, 129, 1024, 2048, 4096]
LEAVES = [1, 2, 5, 7, 17]
PIECE, CHUNK = 4096, 1 << 20
BLOBS = [1, 3, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE, CHUNK, CHUNK + 1, 2 * CHUNK + 3 * PIECE + 7]


def personal(name, data):
    return blake2b(data, digest_size=32, person=name.encode()).digest()


def root(level):
    while len(level) > 1:
        pairs = [personal("assay/node", level[i] + level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = pairs + ([level[-1]] if len(level) % 2 else [])
    return level[0]


def message(length):
    return bytes((i * 7 + length) % 251 for i in range(length))


for name in NAMES:
    for length in LENGTHS:
        print("hash", name, length, personal(name, message(length)).hex())
for count in LEAVES:
    print("tree", "assay/leaf", count, root([personal("assay/leaf", bytes([i])) for i in range(count)]).hex())
for length in BLOBS:
    data = message(length)
    pieces = [personal("assay/piece", data[i:i + PIECE]) for i in range(0, length, PIECE)]
    print("blob", "assay/piece", length, root(pieces).hex())
