# SPDX-License-Identifier: Apache-2.0
"""The file in which a PyTorch run goes on (torch_run.py): b"APARTS01", SHA-256 of the job, SHA-256 of what follows, and
what follows. A file that is damaged or of another job is refused before anything of it is decoded."""
import hashlib
import os

MAGIC = b"APARTS01"
HEADER = len(MAGIC) + 64


class StateError(Exception):
    """What was wrong, and what to do next."""

    def __init__(self, what, fix):
        super().__init__(f"{what}\n  fix: {fix}")


def identity(described, precision, kind):
    """Of a run: its job.json, its precision with how its products are computed, and the kind of its device: PyTorch's
    numbers depend on all of them."""
    digest = hashlib.sha256(described)
    digest.update(f"\n{precision} on {kind}".encode())
    return digest.digest()


def sync_folder_of(path):
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write(path, job, payload):
    """Afterwards, and after a loss of power too, the file is either the old one or the complete new one."""
    with open(path + ".tmp", "wb") as file:
        file.write(MAGIC + job + hashlib.sha256(payload).digest())
        file.write(payload)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".tmp", path)
    sync_folder_of(path)


def read(path, job):
    """What write() was given. StateError when it is damaged, or of another job."""
    with open(path, "rb") as file:
        data = file.read()
    view = memoryview(data)
    anew = "remove it to begin the run anew, or put back a copy"
    if len(data) < HEADER or data[:len(MAGIC)] != MAGIC:
        raise StateError(f"the state file {path} is no state of a PyTorch run", anew)
    if hashlib.sha256(view[HEADER:]).digest() != data[HEADER - 32 : HEADER]:
        raise StateError(f"the state file {path} is damaged: its hash is another than that of its bytes", anew)
    of = data[len(MAGIC) : len(MAGIC) + 32]
    if of != job:
        raise StateError(f"the state file {path} is of another job: of {of.hex()[:8]}, where the dump, precision, "
                         f"products and device of this run are {job.hex()[:8]}",
                         "give those with which it was begun, or another --state FILE")
    return view[HEADER:]
