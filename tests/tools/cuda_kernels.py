#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every CUDA kernel (trainer/cuda/launch) for every architecture, and the device that launches them, and
looks at what came out; and the tests of kernels that run on a card. Where memory comes from, CUDA's runtime or
LibTorch, is compiled by the host's compiler.

A row a kernel and architecture (--rows): registers, bytes of shared memory, bytes spilled, forbidden instructions.
Refused are instructions that change a bit or make it depend on the order of threads (.ftz, .approx, .satfinite, atomics
on floating point), spills in products, and products of warpgroups that ptxas does one after another. Nothing is run:
that needs a card. With unchanged sources the last compilation is looked at again.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ARCHITECTURES = {"75": ("75",), "80": ("80", "100"), "90a": ("90a",)}  # of the PTX: of what is assembled from it
FLAGS = ["-x", "cu", "-std=c++20", "-fmad=false", "-ftz=false", "-prec-div=true", "-prec-sqrt=true", f"-I{ROOT}"]
FORBIDDEN = re.compile(r"\.ftz\b|\.approx\b|\.satfinite\b|\b(?:atom|red)\b[.\w:]*\.(?:f16|bf16|f32|f64)\w*")
ENTRY = re.compile(r"\.entry\s+(\w+)\s*\(")
COMPILED = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads"
                      r".*?Used (\d+) registers(?:[^\n]*?(\d+) bytes smem)?", re.DOTALL)
PRODUCT = re.compile(r"^(Product|Pack|AddParts|Attention)")


def find_nvcc(given):
    """The compiler that was named, else the one that .ci/setup installed."""
    if given:
        return Path(given)
    found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc"))
    if not found:
        sys.exit("error: there is no CUDA compiler\n  fix: run .ci/setup cuda, or name one with --nvcc")
    return found[-1]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def short_names(mangled):
    """Names for people: ProductF32<128, 128, 8, 0, 0>."""
    plain = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True).stdout
    names = []
    for name in plain.split("\n")[:len(mangled)]:
        name = re.sub(r"\((?:\w+::)+\w+\)(?=\d)|assay::trainer::cuda::|gpu::|(?<=\d)u\b", "", name)
        names.append(re.sub(r"^void entry<(.*)>\(.*$", r"\1", name).strip())
    return dict(zip(mangled, names))


def forbidden(ptx):
    """Forbidden instructions by the kernel that has them."""
    parts = ENTRY.split(ptx)
    return {name: sorted(set(FORBIDDEN.findall(body))) for name, body in zip(parts[1::2], parts[2::2])}


def assemble(nvcc, ptx, architecture):
    """Rows of one PTX file for one architecture: mangled name, registers, shared, spilled, forbidden."""
    cubin = ptx.with_suffix(f".{architecture}.cubin")
    said = run([nvcc.parent / "ptxas", "-v", f"-arch=sm_{architecture}", "-o", cubin, ptx])
    bad = forbidden(ptx.read_text(encoding="utf-8"))
    for name, found in bad.items():
        if any("serialized" in line and name in line for line in said.splitlines()):
            found.append("wgmma, serialized")
    rows = []
    for name, stores, loads, registers, shared in COMPILED.findall(said):
        rows.append({"name": name, "architecture": f"sm_{architecture}", "registers": int(registers),
                     "shared": int(shared or 0), "spilled": int(stores) + int(loads), "forbidden": bad.pop(name)})
    if bad or not rows:
        sys.exit(f"error: {ptx}: kernels of which ptxas said nothing: {', '.join(bad) or 'all'}")
    return rows


def compile_one(nvcc, out, source, virtual):
    """Rows of one source for every architecture that PTX of `virtual` serves."""
    # An object, which is linked with nothing: the half of the source that launches is compiled with it.
    folder = out / f"{source.stem}.{virtual}"
    folder.mkdir(exist_ok=True)
    run([nvcc, *FLAGS, "-O3", "-gencode", f"arch=compute_{virtual},code=compute_{virtual}", "--keep", "--keep-dir",
         folder, "-c", "-o", folder / "object.o", source])
    ptx = next(folder.glob("*.ptx"))
    return [row for architecture in ARCHITECTURES[virtual] for row in assemble(nvcc, ptx, architecture)]


def host_sources():
    """What a card's device is made of besides launches; what the host's compiler makes for both, and what only the
    emulation has, is not compiled here."""
    emulated = {"card_budget", "emulated_card", "lane_queues"}
    return [path for path in sorted((ROOT / "trainer" / "cuda").glob("*.cpp"))
            if path.stem not in emulated and not path.stem.startswith("card_pool_")]


def compile_host(nvcc, out, source):
    run([nvcc, *FLAGS, "-O3", "-gencode", "arch=compute_80,code=compute_80", "-c", "-o", out / f"{source.stem}.o",
         source])


def card_tests():
    """Tests of kernels that run on a card (tests/trainer/cuda/card_support-inl.hpp): those that the build lists."""
    folder = ROOT / "tests" / "trainer" / "cuda"
    listed = re.search(r"foreach\(source ([\w\s]+)\)", (folder / "CMakeLists.txt").read_text(encoding="utf-8"))
    return [folder / f"{name}_test.cpp" for name in listed[1].split()]


def compile_tests(nvcc, out):
    """One object of all: the host's compiler makes one of each, so that a header that one forgot is found there."""
    catch2 = ["-DASSAY_CATCH2_V2"] if Path("/usr/include/catch2/catch.hpp").exists() else []
    together = out / "tests.cpp"
    together.write_text("".join(f'#include "{source}"\n' for source in card_tests()), encoding="utf-8")
    run([nvcc, *FLAGS, "-O1", "-w", *catch2, "-gencode", "arch=compute_80,code=compute_80", "-c", "-o",
         out / "tests.o", together])


def torch_headers():
    """Headers of a LibTorch with CUDA: those of the wheel that .ci/setup test installs. None: there is none."""
    found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/torch/include/c10/cuda/impl/cuda_cmake_macros.h"))
    return found[-1].parents[3] if found else None


def pools(nvcc, out):
    """Where a card's memory comes from: CUDA's runtime, and LibTorch where its headers for CUDA are there."""
    flags = ["c++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}", "-isystem",
             nvcc.resolve().parent.parent / "include"]
    torch = torch_headers()
    wanted = {"card_pool_runtime": flags}
    if torch:
        wanted["card_pool_torch"] = [*flags, "-isystem", torch]
    return [[*command, "-c", "-o", out / f"{name}.o", ROOT / "trainer" / "cuda" / f"{name}.cpp"]
            for name, command in wanted.items()]


def digest(nvcc, sources):
    """Of everything that the result depends on."""
    said = hashlib.sha256(f"{run([nvcc, '--version'])}{torch_headers()}".encode())
    for path in sorted({*sources, Path(__file__), *ROOT.glob("trainer/cuda/**/*.[hc]pp"),
                        *ROOT.glob("tests/trainer/cuda/*.[hc]pp"), *ROOT.glob("trainer/step/*.hpp"),
                        *ROOT.glob("tests/support/*.hpp"), *ROOT.glob("contracts/**/*.hpp")}):
        said.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return said.hexdigest()


def compile_all(nvcc, out, sources):
    out.mkdir(parents=True, exist_ok=True)
    stamp, wanted = out / "rows.json", digest(nvcc, sources)
    if stamp.exists():
        kept = json.loads(stamp.read_text(encoding="utf-8"))
        if kept["digest"] == wanted:
            return kept["rows"]
    work = [(source, architecture) for source in sources for architecture in ARCHITECTURES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # The longest begins first. The device that launches kernels has none of its own.
        others = [pool.submit(compile_tests, nvcc, out),
                  *(pool.submit(compile_host, nvcc, out, source) for source in host_sources()),
                  *(pool.submit(run, command) for command in pools(nvcc, out))]
        rows = [row for part in pool.map(lambda one: compile_one(nvcc, out, *one), work) for row in part]
        for other in others:
            other.result()
    names = short_names(sorted({row["name"] for row in rows}))
    for row in rows:
        row["name"] = names[row["name"]]
    stamp.write_text(json.dumps({"digest": wanted, "rows": rows}), encoding="utf-8")
    return rows


def problems(rows):
    if not any(PRODUCT.match(row["name"]) for row in rows):
        yield "no kernel has a product's name, so that nobody looked at their spills"
    for row in rows:
        if row["forbidden"]:
            yield f"{row['name']} for {row['architecture']}: {', '.join(row['forbidden'])}"
        if row["spilled"] and PRODUCT.match(row["name"]):
            yield f"{row['name']} for {row['architecture']}: {row['spilled']} bytes spilled"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "cuda")
    parser.add_argument("--rows", action="store_true", help="print a row a kernel and architecture")
    options = parser.parse_args()
    started = time.monotonic()
    sources = sorted((ROOT / "trainer" / "cuda" / "launch").glob("*.cpp"))
    rows = compile_all(find_nvcc(options.nvcc), options.out, sources)
    if options.rows:
        print(f"{'kernel':44} {'arch':7} {'registers':>9} {'shared':>7} {'spilled':>7}  forbidden")
        for row in sorted(rows, key=lambda row: (row["name"], row["architecture"])):
            print(f"{row['name']:44} {row['architecture']:7} {row['registers']:9} {row['shared']:7} "
                  f"{row['spilled']:7}  {', '.join(row['forbidden']) or 'none'}")
    wrong = list(problems(rows))
    for line in wrong:
        print(f"refused: {line}")
    architectures = {row["architecture"] for row in rows}
    adapters = "CUDA's runtime and LibTorch" if torch_headers() else "CUDA's runtime (no LibTorch with CUDA is there)"
    print(f"cuda: {len({row['name'] for row in rows})} kernels for {len(architectures)} architectures compiled, and "
          f"memory by {adapters}; none run; {len(wrong)} problems, {time.monotonic() - started:.0f} s")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
