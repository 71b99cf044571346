# SPDX-License-Identifier: Apache-2.0
"""Real text of more than 100 MB: the pages of Debian's documentation packages, without their markup (size.py).

Packages are fetched by `apt-get download` and opened by `dpkg-deb -x`: nothing is installed, and nobody has to be root.
What is there is not fetched again."""
import gzip
import hashlib
import html.parser
import json
import os
import re
import shutil
import subprocess

from report import ParityError

# In English, free, and mostly sentences or commented code. Their order does not matter: pages are ordered by hash.
PACKAGES = ("erlang-doc", "git-doc", "libboost1.74-doc", "linux-doc-6.1", "llvm-14-doc", "postgresql-doc-15",
            "python-django-doc", "python3.11-doc", "qtbase5-doc-html", "sqlite3-doc")
SOURCE = "Debian packages " + ", ".join(PACKAGES)
LICENCE = "Debian packages, each with its own licence; not redistributed"
PAGES = (".html", ".htm", ".txt", ".rst")
SHORTEST = 2000  # bytes of text: shorter pages are mostly lists of links
FIX = "run it on a Debian 12 machine with a network, or carry the out folder from one"


class Page(html.parser.HTMLParser):
    """The text of a page as a reader sees it: a line for each block, and `pre` as it stands."""

    SKIPPED = {"script", "style", "head", "nav", "svg", "template"}
    BLOCKS = {"address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "footer", "h1", "h2", "h3",
              "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.skipped, self.depth, self.pre = [], None, 0, 0

    def handle_starttag(self, tag, attrs):
        if self.skipped == "head" and tag == "body":  # a head whose end is left out
            self.skipped = None
        if self.skipped:
            self.depth += tag == self.skipped
            return
        if tag in self.SKIPPED:
            self.skipped, self.depth = tag, 1
            return
        self.pre += tag == "pre"
        if tag in self.BLOCKS:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_startendtag(self, tag, attrs):
        if not self.skipped and tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        if self.skipped:
            self.depth -= tag == self.skipped
            if self.depth == 0:
                self.skipped = None
            return
        if tag == "pre":
            self.pre = max(0, self.pre - 1)
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.skipped:
            self.parts.append(data if self.pre else re.sub(r"\s+", " ", data))


def text_of_html(page):
    parser = Page()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts)


def text_of_file(path):
    """The text of a page, plain or under gzip; without zero characters, trailing spaces and more than one empty line."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if path.removesuffix(".gz").endswith((".html", ".htm")):
        text = text_of_html(text)
    lines = [line.rstrip() for line in text.replace("\0", "").splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def page_paths(folder):
    """Paths of the pages below a folder, sorted. Sources of pages that are there as HTML are left out."""
    found = []
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "_sources")
        stems = {name.removesuffix(".gz").rpartition(".")[0] for name in files
                 if name.removesuffix(".gz").endswith((".html", ".htm"))}
        for name in sorted(files):
            stem, _, kind = name.removesuffix(".gz").rpartition(".")
            is_double = kind in ("txt", "rst") and stem in stems
            path = os.path.join(at, name)
            if "." + kind in PAGES and not is_double and not os.path.islink(path):
                found.append(path)
    return found


def call(words, **more):
    try:
        return subprocess.run(words, check=True, **more)
    except OSError as error:
        raise ParityError(f"cannot run {words[0]}: {error.strerror}", FIX) from error
    except subprocess.CalledProcessError as error:
        raise ParityError(f"{' '.join(words[:3])} failed with exit code {error.returncode}", FIX) from error


def archive_of(folder, package):
    """The package's archive, fetched when there is none. It gets its name only when all of it is there."""
    archives, partial = os.path.join(folder, "archives"), os.path.join(folder, "partial")
    os.makedirs(archives, exist_ok=True)
    found = sorted(name for name in os.listdir(archives) if name.startswith(package + "_") and name.endswith(".deb"))
    if len(found) > 1:
        raise ParityError(f"two archives of {package}: {', '.join(found)}", f"leave one in {archives}")
    if not found:
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        # As root, apt would say that another user of its own cannot write here.
        call(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", package], cwd=partial)
        found = os.listdir(partial)
        if len(found) != 1:
            raise ParityError(f"apt-get download {package} left {len(found)} files", f"look into {partial}")
        with open(os.path.join(partial, found[0]), "rb") as file:
            os.fsync(file.fileno())
        os.rename(os.path.join(partial, found[0]), os.path.join(archives, found[0]))
    return os.path.join(archives, found[0])


def unpacked(folder, archive):
    """The folder of an archive's files: of this very archive, and whole, which a mark beside it says."""
    out = os.path.join(folder, "unpacked", os.path.basename(archive))
    if not os.path.exists(out + ".complete"):
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        call(["dpkg-deb", "-x", archive, out])
        os.sync()
        with open(out + ".complete", "w"):
            pass
    return out


def field(archive, name):
    return call(["dpkg-deb", "-f", archive, name], stdout=subprocess.PIPE, text=True).stdout.strip()


def write_text(folder, packages=PACKAGES, say=print):
    """Writes folder/text.jsonl, a page a line, and folder/text.json, which says what it is made of; gives the former.
    Pages are ordered by the hash of their text, so that any part of it is of every package; equal ones occur once."""
    text, described = os.path.join(folder, "text.jsonl"), os.path.join(folder, "text.json")
    if os.path.exists(described):  # written last
        return text
    pages, rows = {}, []
    for package in packages:
        archive = archive_of(folder, package)
        row = {"package": package, "version": field(archive, "Version"), "pages": 0, "bytes": 0}
        for path in page_paths(unpacked(folder, archive)):
            page = text_of_file(path).encode()
            key = hashlib.sha256(page).digest()
            if len(page) >= SHORTEST and key not in pages:
                pages[key] = page.decode()
                row["pages"] += 1
                row["bytes"] += len(page)
        say(f"parity: {package} {row['version']}: {row['pages']:,} pages, {row['bytes']:,} bytes of text")
        rows.append(row)
    with open(text + ".tmp", "w", encoding="utf-8") as file:
        for key in sorted(pages):
            file.write(json.dumps({"text": pages[key]}, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(text + ".tmp", text)
    body = {"schema": "assay.parity_text/v1", "licence": LICENCE, "bytes": sum(row["bytes"] for row in rows),
            "packages": rows}
    with open(described + ".tmp", "w") as file:
        file.write(json.dumps(body, indent=1) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(described + ".tmp", described)
    return text
