#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay` and `assay-worker` link no LibTorch (they start at once and run where there is none); `assay-worker` links
neither gRPC nor LevelDB (it has no network and no store). Usage: links_test.py BIN_DIR"""
import subprocess
import sys

FORBIDDEN = {"assay": ("torch", "c10"), "assay-worker": ("torch", "c10", "grpc", "leveldb")}


def main() -> int:
    problems = 0
    for program, words in FORBIDDEN.items():
        path = f"{sys.argv[1]}/{program}"
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        if listed.returncode != 0 or "libc.so" not in listed.stdout:
            print(f"{path}: ldd said nothing useful: {listed.stderr.strip()}")
            problems += 1
            continue
        for line in listed.stdout.splitlines():
            library = (line.split() or [""])[0]  # what follows is a path, or an address, which may hold any digits
            if any(word in library for word in words):
                print(f"{path} links {library}")
                problems += 1
    print(f"links: {len(FORBIDDEN)} programs, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
