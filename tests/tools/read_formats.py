#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of the files that docs/formats describes, written from those pages with Python's standard library.

`read_formats.py HOME…` checks every block log, genesis, key file, blob, state file, token file and
birth certificate under each folder.
Signatures are left out (no Ed25519 in the standard library), and so is the state root, which takes the rules to compute.
"""
import hashlib
import json
import struct
import sys
from pathlib import Path

STATES = {b"ABASE001": (16, 8), b"AUPDT001": (8, 8)}  # magic: bytes before, bytes a parameter
PIECE = 4096


class Wrong(Exception):
    pass


def need(truth, what):
    if not truth:
        raise Wrong(what)


def blake(*parts):
    return hashlib.blake2b(b"".join(parts), digest_size=32).digest()


def tagged(tag, *parts):
    return blake(bytes([len(tag)]), tag.encode(), *parts)


def personal(name, data):
    return hashlib.blake2b(data, digest_size=32, person=name).digest()


def leaf(data):
    return personal(b"assay/leaf", data)


def merkle(level):
    if not level:
        return tagged("merkle/empty")
    while len(level) > 1:
        level = [personal(b"assay/node", level[i] + level[i + 1]) if i + 1 < len(level) else level[i]
                 for i in range(0, len(level), 2)]
    return level[0]


def make_crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC = make_crc_table()


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ CRC[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def number(data, at, width):
    need(at + width <= len(data), "bytes end inside a number")
    return int.from_bytes(data[at:at + width], "little")


def check_genesis(data):
    """Returns (hash, chain id, {validator's node key: power})."""
    need(data[:8] == b"AGENES01", "magic")
    record, seal = data[8:-32], data[-32:]
    need(tagged("assay/genesis", record) == seal, "hash at the end")
    version = number(record, 0, 4)
    need(version == 8, "version")
    length = number(record, 4, 4)
    after = at = 8 + length
    count, at = number(record, at, 4), at + 4
    need(1 <= count <= 128, "number of validators")
    listed = [(record[i:i + 32], number(record, i + 32, 8)) for i in range(at, at + 40 * count, 40)]
    validators, at = dict(listed), at + 40 * count
    need([key for key, _ in listed] == sorted(validators), "order of the validators")
    need(all(validators.values()) and sum(validators.values()) <= 1 << 60, "powers of the validators")
    at += 4 + number(record, at, 4)
    need(at + 8 == len(record), "length of the rules")
    need(number(record, at, 8) <= 60_000, "block interval")
    return seal, record[8:after], validators


def check_transaction(data):
    length = number(data, 0, 4)
    need(len(data) == 4 + length + 64, "length of a transaction")
    need(1 <= number(data, 4, 2) <= 23, "type of a transaction")


def check_block(payload, height, parent, chain, validators):
    """Returns (header hash, number of transactions)."""
    need(number(payload, 0, 4) == 1 and payload[4:36] == tagged("assay/chain", chain), "version or chain")
    need(number(payload, 36, 8) == height and payload[44:76] == parent, "height or parent")
    need(3 * validators.get(payload[180:212], 0) > 2 * sum(validators.values()), "proposer")
    at, leaves = 280, []
    for _ in range(number(payload, 276, 4)):
        length = number(payload, at, 4)
        check_transaction(payload[at + 4:at + 4 + length])
        leaves.append(leaf(payload[at + 4:at + 4 + length]))
        at += 4 + length
    need(at == len(payload), "bytes after the last transaction")
    need(merkle(leaves) == payload[76:108], "transactions root")
    return tagged("assay/header", payload[:212]), len(leaves)


def check_log(folder):
    parent, chain, validators = check_genesis((folder / "genesis.bin").read_bytes())
    log = (folder / "blocks.log").read_bytes()
    need(log[:8] == b"ABLOGS01" and log[8:40] == parent and number(log, 40, 4) == crc32c(log[:40]), "log header")
    at, height, transactions = 44, 0, 0
    while at < len(log):
        height += 1
        length = number(log, at + 4, 4)
        payload = log[at + 16:at + 16 + length]
        need(log[at:at + 4] == b"AFRM" and number(log, at + 12, 4) == crc32c(log[at:at + 12]), f"frame {height}")
        need(len(payload) == length and number(log, at + 8, 4) == crc32c(payload), f"payload {height}")
        parent, count = check_block(payload, height, parent, chain, validators)
        transactions += count
        at += 16 + length
    return f"{height} blocks, {transactions} transactions"


def check_key(data):
    need(len(data) == 145 and data[:7] == b"ASYKEY\x01" and data[7] in (1, 2), "head of a key file")
    cost = {1: (3, 256 << 20), 2: (2, 64 << 20)}[data[8]]
    need((number(data, 9, 8), number(data, 17, 8)) == cost, "cost of a key file")


TOKEN_FILES = {(20240520, 1): 2, (20240801, 7): 4}  # magic and version to bytes of a token


def check_head(data):
    """The head of a slot state: step, cursor, age where there is one, then arrays, each named once."""
    aged = number(data, 24, 1)
    need(aged in (0, 1), "age of a head")
    at = 25 + 8 * aged
    count, at = number(data, at, 4), at + 4
    need(len(data) == at + 65 * count, "length of a head")
    arrays = [data[at + 65 * i] for i in range(count)]
    need(len(set(arrays)) == count and all(1 <= array <= 5 for array in arrays), "arrays of a head")


def check_blob(path):
    """Name by content; then what is inside, as far as its magic says. Returns the kind."""
    data = path.read_bytes()
    found = merkle([personal(b"assay/piece", data[i:i + PIECE]) for i in range(0, len(data), PIECE)]).hex()
    need(path.parent.name + path.name == found, "name of a blob")
    if data[:8] in STATES:
        before, each = STATES[data[:8]]
        need((len(data) - before) % each == 0, "length of a state file")
        return data[:5].decode()
    if data[:8] == b"AHEAD001":
        check_head(data)
        return "AHEAD"
    width = TOKEN_FILES.get(struct.unpack_from("<ii", data)) if len(data) >= 1024 else None
    if width:
        need(len(data) == 1024 + width * number(data, 8, 4) and not any(data[12:1024]), "token file")
        return "tokens"
    return "other"


def check_certificate(path):
    """Head and end of a birth certificate: the job and the parameters that the folder's assay.json names."""
    data = path.read_bytes()
    need(data[:8] == b"ACERT001", "head of a certificate")
    at = 12 + number(data, 8, 4)
    data[12:at].decode()  # the chain's id is text
    about = json.loads((path.parent / "assay.json").read_text())
    need(data[at:at + 32].hex() == about["job_id"], "job of a certificate")
    need(data[-64:-32].hex() == about["parameters_root"], "parameters of a certificate")


def check_home(home):
    """Lines that say what was found; Wrong names the file that is not as the pages say."""
    kinds = {}
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        try:
            if path.name == "blocks.log":
                yield f"{path}: {check_log(path.parent)}"
            elif path.parent.name == "blobs" and path.name == "format":
                need(path.read_bytes() == b"assay.blobs/v2\n", "format of the blobs")
            elif path.name == "certificate.bin":
                check_certificate(path)
                kinds["certificate"] = kinds.get("certificate", 0) + 1
            elif path.suffix == ".key":
                check_key(path.read_bytes())
                kinds["key"] = kinds.get("key", 0) + 1
            elif path.parent.parent.name == "blobs" and len(path.name) == 62:
                kind = check_blob(path)
                kinds[kind] = kinds.get(kind, 0) + 1
        except Wrong as wrong:
            raise Wrong(f"{path}: {wrong}") from wrong
    yield f"{home}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def main():
    try:
        for home in sys.argv[1:]:
            for line in check_home(Path(home)):
                print(line)
    except Wrong as wrong:
        print(wrong)
        return 1
    return 0 if sys.argv[1:] else 2


if __name__ == "__main__":
    sys.exit(main())
