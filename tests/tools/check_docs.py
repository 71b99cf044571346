#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documentation: every relative link leads somewhere, every top-level folder explains itself, the glossary is
in order, decision records have their parts. Tables that repeat the code are made from it: reference_pages.cpp."""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_style  # noqa: E402

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FOLDERS = ("contracts", "ledger", "trainer", "verifier", "node", "tests", "docs")
DECISION_PARTS = ("## Context", "## Decision", "## Consequences")


def anchors(text):
    """Anchors that GitHub makes of the headings."""
    found = set()
    for title in re.findall(r"^#+\s+(.*)$", text, re.M):
        found.add(re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-"))
    return found


def check_links(root, pages):
    for page in pages:
        text = (root / page).read_text(encoding="utf-8")
        for number, line in enumerate(re.sub(r"```.*?```", lambda m: "\n" * m[0].count("\n"), text,
                                             flags=re.S).split("\n"), 1):
            for match in LINK.finditer(line):
                target = match[1] or match[2]
                if re.match(r"[a-z]+:", target):
                    continue
                place, _, anchor = target.partition("#")
                path = (root / page).parent / place if place else root / page
                if not path.exists():
                    yield f"{page}:{number}: link to {target}: no such file"
                elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text(encoding="utf-8")):
                    yield f"{page}:{number}: link to {target}: no such heading"


def check_folders(root):
    for folder in FOLDERS:
        if (root / folder).is_dir() and not (root / folder / "README.md").is_file():
            yield f"{folder}: no README.md"


def check_glossary(root):
    page = root / "docs/glossary.md"
    if not page.is_file():
        return
    terms = re.findall(r"^\*\*(.+?)\*\*", page.read_text(encoding="utf-8"), re.M)
    if not terms:
        yield "docs/glossary.md: no terms; write **term** at the beginning of a line"
    for first, second in zip(terms, terms[1:]):
        if first.lower() >= second.lower():
            yield f"docs/glossary.md: '{second}' stands after '{first}': keep the alphabet, each term once"


def check_decisions(root):
    records = sorted((root / "docs/decisions").glob("[0-9]*.md"))
    for number, record in enumerate(records, 1):
        text = record.read_text(encoding="utf-8")
        if not record.name.startswith(f"{number:04d}-"):
            yield f"docs/decisions/{record.name}: numbers run without a gap; {number:04d} is expected"
        for part in DECISION_PARTS:
            if part not in text:
                yield f"docs/decisions/{record.name}: no heading '{part}'"


def check_schemas(root):
    """Schemas that the commands print are on the page, and those of the page are printed."""
    page = root / "docs/reference/json.md"
    if not page.is_file():
        return
    coded = set()
    for path in [*sorted((root / "node/cli").rglob("*.cpp")), root / "node/devnet/report.cpp"]:
        if path.is_file():
            coded |= set(re.findall(r'"(assay\.[a-z.]+/v\d+)"', path.read_text(encoding="utf-8")))
    written = set(re.findall(r"^\|[^|]*\| `(assay[^`]*)` \|", page.read_text(encoding="utf-8"), re.M))
    written.add("assay.error/v1")  # errors have a page of their own
    for schema in sorted(coded - written):
        yield f"docs/reference/json.md: {schema} is missing"
    for schema in sorted(written - coded):
        yield f"docs/reference/json.md: {schema} is nowhere in the code"


def check_named_tests(root):
    """Tests that the concepts' tables name in quotes exist; a name may end in …"""
    names = set()
    for path in sorted((root / "tests").rglob("*.cpp")):
        text = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
        names |= set(re.findall(r'TEST_CASE\(\s*"([^"]+)"', text))
    for page in sorted((root / "docs/concepts").glob("*.md")):
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
            for name in re.findall(r'"([^"]{20,})"', line) if line.startswith("|") else []:
                stem = name.rstrip("… ")
                if not any(known == name or (name != stem and known.startswith(stem)) for known in names):
                    yield f"{page.relative_to(root)}:{number}: no test is called '{name}'"


VERSION = re.compile(r"((?:`[^`]+`, )*`[^`]+`) \(`(\w+)`, `([^`]+)`\)")


def check_format_versions(root):
    """Each row of the formats' table names versions as the code has them, and each page has a row."""
    page = root / "docs/formats/README.md"
    if not page.is_file():
        return
    named = set()
    for line in page.read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        link = re.search(r"\]\((\S+\.md)\)", cells[1]) if len(cells) == 5 else None
        if not link:
            continue
        named.add(link[1])
        found = VERSION.findall(cells[3])
        if not found:
            yield f"docs/formats/README.md: {link[1]}: no version as `value` (`constant`, `file`)"
        for values, constant, name in found:
            path = root / name
            code = path.read_text(encoding="utf-8") if path.is_file() else ""
            for value in re.findall(r"`([^`]+)`", values):
                if not re.search(rf"\b{constant}\W+{re.escape(value)}(?!\w)", code):
                    yield f"docs/formats/README.md: {link[1]}: {constant} in {name} is not {value}"
    for path in sorted((root / "docs/formats").glob("*.md")):
        if path.name != "README.md" and path.name not in named:
            yield f"docs/formats/README.md: {path.name} has no row with a version"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=check_style.ROOT)
    root = parser.parse_args().root
    pages = [name for name in check_style.tracked(root) if name.endswith(".md")]
    wrong = [*check_links(root, pages), *check_folders(root), *check_glossary(root), *check_decisions(root),
             *check_schemas(root), *check_named_tests(root), *check_format_versions(root)]
    for line in wrong:
        print(line)
    print(f"docs: {len(pages)} pages, {len(wrong)} problems")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
