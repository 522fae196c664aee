#!/usr/bin/env python3
"""Checks that the links of every *.md page work, that the index links to every page of docs/, and that pages and code
refer to pages, headings and sources that exist.

    tools/check_links.py               exit 1 and name each broken link
    tools/check_links.py --self-test   check that the checker finds faults

On a page, checks relative links and their anchors, but no links to other sites, and sources in backquotes. An anchor is
a heading as GitHub spells it, or an <a id="...">. A name with foo or NAME in it is an example.

In code and in descriptions of the schema, checks

  pages               docs/page.md, docs/page.md#anchor, and docs/page.md, "Heading" or Heading) behind it; also in strings
  comments            paths that begin with a folder of the tree, such as models/profile.hpp
  comments of C++     shorter ones, such as profile.hpp or rounds/rounds.hpp, which some path must end with

A path with " @" and a commit behind it is another repository's.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import make_reference

ROOT = Path(__file__).resolve().parent.parent
INDEX = "docs/README.md"
EXAMPLE = re.compile("foo|NAME")
NOT_CODE = re.compile(r"tests/tools/|tools/check_links\.py")  # made-up names, as input of tests

FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
INDENTED = re.compile(r"(?:^|\n)\n((?:    [^\n]*\n)+)")
LINK = re.compile(r"\]\(([^)\s]+)\)")

FOLDERS = "algorithms|analysis|app|bench|cmake|docs|examples|explorer|models|python|scenarios|sim|tests|tools|topologies"
SOURCE = re.compile(rf"(?<![\w./@-])(?:{FOLDERS})/[\w/-]+\.(?:[ch]pp|cmake|json|md|mjs|py|sh|ts)\b(?! @)")
SHORT_SOURCE = re.compile(r"(?<![\w./-])(?!include/)[a-z][\w/]*(?:\.hpp|_test\.cpp)\b")
PAGE = re.compile(r"(?<![\w./-])(docs/(?:[a-z\d-]+/)*(?:[a-z\d-]+|README)\.md)(?! @)(?:#([\w-]+)|, \"([^\"\n]+)\"|, ([A-Z][\w ]+)\))?")
SLASHES = re.compile(r"//.*")
HASHES = re.compile(r'(?<!\S)#[^\n]*|""".*?"""', re.S)


def without_code(text, inline=True):
    text = FENCE.sub("", text)
    text = INDENTED.sub("\n", text)
    return re.sub(r"`[^`\n]*`", "", text) if inline else text


def slug(heading):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(text):
    seen = {}
    names = set(re.findall(r'<a id="([^"]*)">', text))
    for heading in re.findall(r"^#{1,6} +(.*?) *$", without_code(text, inline=False), re.M):
        name = slug(heading)
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def links(text):
    return [link for link in LINK.findall(without_code(text)) if not re.match(r"[a-z]+:", link)]


def comments(path, text):
    if path.endswith(".json"):
        return text
    pattern = SLASHES if path.endswith(("pp", "ts", "mjs")) else HASHES
    return "\n".join(pattern.findall(text))


def page_faults(root, texts, known, files):
    """Yields a line for each fault of the pages."""
    leads_to = {}
    for page, text in texts.items():
        leads_to[page] = set()
        for link in links(text):
            path, _, anchor = link.partition("#")
            target = ((root / page).parent / path).resolve() if path else (root / page).resolve()
            if not target.exists() or not target.is_relative_to(root):
                yield f"{page}: {link}: there is no such file"
                continue
            name = target.relative_to(root).as_posix()
            leads_to[page].add(name)
            if anchor and name in known and anchor not in known[name]:
                yield f"{page}: {link}: there is no such heading"
        for source in re.findall(r"`([^`\s]*)`(?! @)", text):
            if SOURCE.fullmatch(source) and not EXAMPLE.search(source) and source not in files:
                yield f"{page}: {source}: there is no such source"
    reached, todo = {INDEX}, [INDEX]
    while todo:
        new = {name for name in leads_to.get(todo.pop(), ()) if name in texts} - reached
        reached |= new
        todo += new
    yield from (f"{page}: {INDEX} does not lead to it" for page in texts if page.startswith("docs/") and page not in reached)


def code_faults(path, text, known, files, ends):
    """Yields what a file of code refers to and is not there."""
    for page, *places in PAGE.findall(text):
        place = next(filter(None, places), None)
        if page not in known:
            yield page
        elif place and slug(place) not in known[page]:
            yield f"{page}#{slug(place)}"
    said = comments(path, text)
    yield from (name for name in SOURCE.findall(said) if name not in files and not EXAMPLE.search(name))
    if path.endswith("pp"):
        yield from (name for name in SHORT_SOURCE.findall(said) if name not in ends)


def problems(root, files, made=()):
    """Returns a line for each fault of the files, which are all that a reference may name. `made` are pages in full length."""
    texts = {file: (root / file).read_text() for file in files if file.endswith(".md")} | dict(made)
    known = {page: anchors(text) for page, text in texts.items()}
    wrong = list(page_faults(root, texts, known, set(files)))
    ends = {file.split("/", cut)[-1] for file in files for cut in range(file.count("/") + 1)}
    for file in files:
        if re.search(r"\.([ch]pp|cmake|mjs|py|sh|ts)$|CMakeLists\.txt$|\.schema\.json$", file) and not NOT_CODE.match(file):
            faults = code_faults(file, (root / file).read_text(), known, set(files), ends)
            wrong += [f"{file}: {fault}: there is no such page, heading or source" for fault in dict.fromkeys(faults)]
    return wrong


def files_of_repository():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(file for file in listed if (ROOT / file).is_file())


SELF_TEST = {
    "docs/README.md": "# A\n\n[b](b.md#two-words-kind)\n[x](gone.md)\n[y](b.md#gone)\n`[z](gone.md)`\n\n    [z](gone.md)\n\n[w](b.md#key.name)\n",
    "docs/alone.md": "[net](https://example.org/#x) `app/gone.cpp`, `app/foo.cpp`\n",
    "docs/b.md": '## Two words: `"kind"`\n\n<a id="key.name"></a>\n```sh\n# not a heading\n```\n[c](#not-a-heading)\n',
    "app/a.hpp": '#include "app/made.hpp"\n// docs/b.md, docs/gone.md (docs/b.md, "Two words: kind"; docs/b.md, Nowhere)\n'
                 '// app/a.hpp, see a.hpp, app/lost.hpp, b/a.hpp, docs/their.md @1a2b3c4\nf("app/unseen.hpp, docs/b.md#never");\n',
    "tools/a.py": '"""See docs/b.md#two-words-kind and\napp/lost.hpp."""\nname = "app/unseen.hpp"  # app/a.hpp, tools/lost.py\n',
    "s.schema.json": '{"description": "docs/b.md, docs/none.md, \\"x\\""}\n',
}
EXPECTED = [
    "docs/README.md: gone.md: there is no such file",
    "docs/README.md: b.md#gone: there is no such heading",
    "docs/alone.md: app/gone.cpp: there is no such source",
    "docs/b.md: #not-a-heading: there is no such heading",
    "docs/alone.md: docs/README.md does not lead to it",
    *(f"{fault}: there is no such page, heading or source" for fault in (
        "app/a.hpp: docs/gone.md", "app/a.hpp: docs/b.md#nowhere", "app/a.hpp: docs/b.md#never",
        "app/a.hpp: app/lost.hpp", "app/a.hpp: b/a.hpp",
        "tools/a.py: app/lost.hpp", "tools/a.py: tools/lost.py", "s.schema.json: docs/none.md"))]


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        for file, text in SELF_TEST.items():
            (root / file).parent.mkdir(exist_ok=True)
            (root / file).write_text(text)
        found = problems(root, list(SELF_TEST))
    if found != EXPECTED:
        print("check_links: self-test failed:", *found, sep="\n  ", file=sys.stderr)
        return 1
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = problems(ROOT, files_of_repository(), {"docs/reference.md": make_reference.page_of_keys()})
    for line in wrong:
        print(f"check_links: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
