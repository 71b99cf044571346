#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Include edges between folders, against layers.json (see there).

Refuses, with file and line: edges that are not listed, third-party headers outside their folder, includes of
files that do not exist, sources of C and C++ with a suffix that no lint reads, and cycles: between files, between
the folders of the list, and between these cut to their first one, two, three... parts. `--root DIR` checks another
tree, `--layers FILE` against another list.
"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


READ = (".cpp", ".hpp", ".cu", ".cuh")  # what the lints read as C++
UNREAD = re.compile(r"\.(c|cc|cxx|c\+\+|C|h|hh|hxx|h\+\+|H|inl|inc|ipp|ixx|tcc|tpp|cppm|m|mm|hip|cl)$")


def tracked(root):
    """Every file that git tracks or would track; all of them where there is no git."""
    try:
        found = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                               capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        found = [str(path.relative_to(root)) for path in root.rglob("*")]
    return sorted(f for f in found if f and (root / f).is_file())


def sources(root):
    """Every C++ file among them."""
    return [file for file in tracked(root) if file.endswith(READ)]


def check_suffixes(root):
    """Sources that no lint would read."""
    return [f"{file}:1: no lint reads this suffix; C++ ends in {', '.join(READ)}"
            for file in tracked(root) if UNREAD.search(file)]


def under(path, folder):
    return path == folder or path.startswith(folder + "/")


def reach(edges, start):
    """Everything that `start` can include, directly or through others."""
    seen, todo = set(), [start]
    while todo:
        for target in edges.get(todo.pop(), []):
            if target not in seen:
                seen.add(target)
                todo.append(target)
    return seen


def cycle(edges):
    """One cycle as a list of nodes, or None."""
    state, trail = {}, []

    def visit(node):
        state[node] = "open"
        trail.append(node)
        for target in edges.get(node, []):
            if state.get(target) == "open":
                return trail[trail.index(target):] + [target]
            if target not in state:
                found = visit(target)
                if found:
                    return found
        trail.pop()
        state[node] = "done"
        return None

    for node in sorted(edges):
        if node not in state:
            found = visit(node)
            if found:
                return found
    return None


def collapsed(folders, depth):
    """The edges between folders, each cut to its first `depth` parts; without those inside of one."""
    edges = {}
    for folder, targets in folders.items():
        source = "/".join(folder.split("/")[:depth])
        ends = {"/".join(target.split("/")[:depth]) for target in targets}
        edges.setdefault(source, set()).update(ends - {source})
    return {source: sorted(ends) for source, ends in edges.items()}


def check_list(layers):
    """The list itself: no cycle at any depth, no forbidden road, no unknown name."""
    folders, wrong = layers["folders"], []
    for folder, targets in folders.items():
        for target in targets:
            if target not in folders:
                wrong.append(f"layers.json: {folder} may include {target}, which is not a folder of the list")
    for depth in range(1, 1 + max((folder.count("/") + 1 for folder in folders), default=0)):
        found = cycle(collapsed(folders, depth))
        if found:
            wrong.append(f"layers.json: cycle at depth {depth}: " + " -> ".join(found))
    for source, target in layers["never"]:
        for folder in folders:
            if under(folder, source):
                for end in sorted(reach(folders, folder)):
                    if under(end, target):
                        wrong.append(f"layers.json: {folder} reaches {end}; {source} must never see {target}")
    return wrong


def check_quoted(layers, root, file, included):
    folder, target = str(Path(file).parent), str(Path(included).parent)
    if not (root / included).is_file():
        return f'"{included}" does not exist; includes are full paths from the root of the tree'
    for top in layers["nobody_includes"]:
        if under(target, top) and not under(folder, top):
            return f"{folder} may not include {target}: nothing includes {top}"
    if folder == target or any(under(folder, top) for top in layers["anything"]):
        return None
    if folder not in layers["folders"]:
        return f"folder {folder} is not in layers.json; add it with the folders it may include"
    if target not in layers["folders"][folder]:
        return f"{folder} may not include {target}; allowed: {', '.join(layers['folders'][folder]) or 'nothing'}"
    return None


def check_angled(layers, file, included):
    for prefix, places in layers["third_party"].items():
        if included.startswith(prefix):
            if any(under(file, place) for place in places):
                return None
            return f"<{included}> belongs in {', '.join(places)} only"
    if "/" not in included and not included.endswith(".h"):  # the standard library
        for top, refused in layers["standard_refused"].items():
            if under(file, top) and included in refused:
                return f"<{included}> is refused in {top}: pure code takes time, randomness and I/O as arguments"
        return None
    if any(under(file, place) for place in layers["system_headers"]):
        return None
    return f"<{included}> is refused here: system headers are for {', '.join(layers['system_headers'])}"


def check_tree(layers, root):
    wrong, edges = [], {}
    for file in sources(root):
        edges[file] = []
        for number, line in enumerate((root / file).read_text(encoding="utf-8").split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, included = match[1] == '"', match[2]
            # Highway wants quotes, and protoc's headers are in no folder of the tree.
            foreign = any(included.startswith(prefix) for prefix in layers["third_party"])
            if quoted and not foreign:
                problem = check_quoted(layers, root, file, included)
                edges[file].append(included)
            else:
                problem = check_angled(layers, file, included)
            if problem:
                wrong.append(f"{file}:{number}: {problem}")
    found = cycle(edges)
    if found:
        wrong.append("cycle between files: " + " -> ".join(found))
    return wrong, edges


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=TOOLS.parent.parent)
    parser.add_argument("--layers", type=Path, default=TOOLS / "layers.json")
    arguments = parser.parse_args()
    layers = json.loads(arguments.layers.read_text(encoding="utf-8"))
    wrong, edges = check_tree(layers, arguments.root)
    wrong = check_list(layers) + check_suffixes(arguments.root) + wrong
    for line in wrong:
        print(line)
    if not edges:
        print(f"error: no C++ file under {arguments.root}")
        return 1
    print(f"layers: {len(edges)} files, {sum(map(len, edges.values()))} includes, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
