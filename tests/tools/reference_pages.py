# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/reference that repeat what the code fixes: reasons, parameters, transactions, JSON schemas.

check(root) yields one line per disagreement. As a program, `--write` makes docs/reference/reasons.md again.
"""
import argparse
import re
import sys
from pathlib import Path

CONSEQUENCES = {"kNothing": "none", "kRefused": "refused", "kPaid": "paid", "kUnpaid": "unpaid",
                "kPenalty": "penalty", "kForfeit": "bond forfeited", "kJobEnded": "job ends"}
REASONS_HEAD = """# Reasons

Every refused transaction, every zero payment, every loss and every end of a job carries one of these. Numbers and names
are frozen: they are stored on the ledger and shown by `assay payout explain`, `assay miner why` and errors with exit code
6. A test holds this table to `contracts/rules/reasons.cpp`; `python3 tests/tools/reference_pages.py --write` makes it.

| number | name | consequence | meaning |
|---|---|---|---|
"""


def read(root, name):
    path = root / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def reason_rows(root):
    """[(number, name, consequence, sentence)] in the order of their numbers."""
    numbers = dict(re.findall(r"^\s+(k\w+) = (\d+),", read(root, "contracts/rules/reasons.hpp").partition(
        "enum class Reason")[2], re.M))
    rows = re.findall(r'Row\{Reason::(k\w+),\s*(k\w+),\s*"(\w+)",\s*"([^"]+)"\}',
                      read(root, "contracts/rules/reasons.cpp"))
    found = [(int(numbers[key]), name, CONSEQUENCES[what], text) for key, what, name, text in rows if key in numbers]
    return sorted(found)


def reasons_page(root):
    return REASONS_HEAD + "".join(f"| {number} | `{name}` | {what} | {text} |\n"
                                  for number, name, what, text in reason_rows(root))


def number_of(text, constants):
    """Value of a C++ integer expression made of literals, named constants and products."""
    product = 1
    for factor in re.sub(r"\b(base::)?units\(|\)", "", text).split("*"):
        factor = factor.strip().replace("'", "")
        factor = re.sub(r"(?<=\d)[uUlL]+$", "", factor)
        quotient, _, divisor = factor.partition("/")
        value = constants.get(quotient.strip(), None)
        value = int(quotient) if value is None else value
        product *= value // int(divisor) if divisor else value
    return product


def parameter_rows(root):
    """{name: (default, minimum, maximum)}"""
    header, source = read(root, "contracts/rules/params.hpp"), read(root, "contracts/rules/params.cpp")
    constants = {}
    for name, value in re.findall(r"constexpr std::uint64_t (k\w+) = ([^;]+);", header + source):
        constants[name] = number_of(value, constants)
    defaults = dict(re.findall(r"^\s+(?:std::uint\d+_t|Amount) (\w+) = ([^;]+);", header, re.M))
    rows = re.findall(r"ASSAY_(?:NUMBER|AMOUNT)\((\w+), ([^,]+), ([^)]+)\),", source)
    return {name: tuple(number_of(text, constants) for text in (defaults[name], low, high)) for name, low, high in rows}


def transaction_rows(root):
    """{name: (number, signer, fields)}"""
    header, source = read(root, "contracts/rules/transactions.hpp"), read(root, "contracts/rules/transactions.cpp")
    names = dict(re.findall(r'case TxType::(k\w+): return "(\w+)"', read(root, "contracts/rules/names.cpp")))
    numbers = dict(re.findall(r"^\s+(k\w+) = (\d+),", header.partition("enum class TxType")[2].partition("}")[0], re.M))
    owners = set(re.findall(r"TxType::(k\w+):", source.partition("signer_of")[2].partition("Signer::kOwner")[0]))
    fields = {}
    for kind, body in re.findall(r"kType = TxType::(k\w+);(.*?)visit\((.*?)\);".replace("(.*?)visit", ".*?visit"),
                                 header, re.S):
        fields[kind] = re.findall(r"self\.(\w+)", body)
    return {names[kind]: (int(number), "owner" if kind in owners else "node", fields.get(kind))
            for kind, number in numbers.items() if kind in names}


def cells(page, columns):
    """Rows of a page's tables with so many columns, stripped of back-quotes."""
    for line in page.split("\n"):
        parts = [part.strip().replace("`", "") for part in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(parts) == columns and not set(parts[0]) <= set("-: "):
            yield parts


def check_reasons(root):
    page = read(root, "docs/reference/reasons.md")
    if page and page != reasons_page(root):
        yield "docs/reference/reasons.md: out of date; run: python3 tests/tools/reference_pages.py --write"


def check_parameters(root):
    page, coded = read(root, "docs/reference/parameters.md"), parameter_rows(root)
    if not page:
        return
    written = {row[0]: tuple(row[1:4]) for row in cells(page, 5) if row[0] in coded}
    for name, values in coded.items():
        wanted = tuple(f"{value:,}" for value in values)
        if name not in written:
            yield f"docs/reference/parameters.md: {name} is missing"
        elif written[name] != wanted:
            yield f"docs/reference/parameters.md: {name} is {written[name]}, the code says {wanted}"


def check_transactions(root):
    page, coded = read(root, "docs/reference/transactions.md"), transaction_rows(root)
    if not page:
        return
    reasons = {row[1] for row in reason_rows(root)}
    written = {row[1]: row for row in cells(page, 6) if row[1] in coded}
    for name, (number, signer, fields) in coded.items():
        if name not in written:
            yield f"docs/reference/transactions.md: {name} is missing"
            continue
        row = written[name]
        wanted = [str(number), name, ", ".join(fields or []), signer]
        if row[:4] != wanted:
            yield f"docs/reference/transactions.md: {name} is {row[:4]}, the code says {wanted}"
        for reason in re.findall(r"\w+", row[5]):
            if reason not in reasons:
                yield f"docs/reference/transactions.md: {name}: there is no reason '{reason}'"


def check_schemas(root):
    page = read(root, "docs/reference/json.md")
    if not page:
        return
    coded = set()
    for path in [*sorted((root / "node/cli").rglob("*.cpp")), root / "node/devnet/report.cpp"]:
        if path.is_file():
            coded |= set(re.findall(r'"(assay\.[a-z.]+/v\d+)"', path.read_text(encoding="utf-8")))
    written = {row[1] for row in cells(page, 3)} | {"assay.error/v1"}  # errors have a page of their own
    for schema in sorted(coded - written):
        yield f"docs/reference/json.md: {schema} is missing"
    for schema in sorted(written - coded - {"schema"}):
        yield f"docs/reference/json.md: {schema} is nowhere in the code"


def check(root):
    yield from check_schemas(root)
    yield from check_reasons(root)
    yield from check_parameters(root)
    yield from check_transactions(root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent.parent)
    parser.add_argument("--write", action="store_true", help="make docs/reference/reasons.md again")
    arguments = parser.parse_args()
    if arguments.write:
        (arguments.root / "docs/reference/reasons.md").write_text(reasons_page(arguments.root), encoding="utf-8")
    wrong = list(check(arguments.root))
    print("\n".join([*wrong, f"reference pages: {len(wrong)} problems"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
