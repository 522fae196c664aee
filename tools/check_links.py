#!/usr/bin/env python3
"""Checks that the links of every *.md page work, that the index links to every page of docs/, and that the pages name
sources that exist.

    tools/check_links.py               exit 1 and name each broken link
    tools/check_links.py --self-test   check that the checker finds faults

Checks relative links and their anchors, but no links to other sites. An anchor is a heading as
GitHub spells it, or an <a id="...">. A source is `layer/.../file.cpp` or .hpp; one with foo in its name is an example,
and the pages of docs/adding name those of their patches.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = "docs/README.md"

FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.M | re.S)
INDENTED = re.compile(r"(?:^|\n)\n((?:    [^\n]*\n)+)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
SOURCE = re.compile(r"`((?:sim|topologies|models|algorithms|analysis|app|explorer|python|tests|bench|tools)/[\w/]+\.[ch]pp)`")


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


def problems(root, pages):
    """Returns a line for each fault of the pages."""
    texts = {page: (root / page).read_text() for page in pages}
    known = {page: anchors(text) for page, text in texts.items()}
    wrong = []
    reached, todo = {INDEX}, [INDEX]
    leads_to = {}
    for page, text in texts.items():
        leads_to[page] = set()
        for link in links(text):
            path, _, anchor = link.partition("#")
            target = ((root / page).parent / path).resolve() if path else (root / page).resolve()
            if not target.exists() or not target.is_relative_to(root):
                wrong.append(f"{page}: {link}: there is no such file")
                continue
            name = target.relative_to(root).as_posix()
            leads_to[page].add(name)
            if anchor and name in known and anchor not in known[name]:
                wrong.append(f"{page}: {link}: there is no such heading")
        if not page.startswith("docs/adding/"):
            wrong += [f"{page}: {source}: there is no such source" for source in SOURCE.findall(text)
                      if "foo" not in source and not (root / source).exists()]
    while todo:
        for name in leads_to.get(todo.pop(), ()):
            if name in texts and name not in reached:
                reached.add(name)
                todo.append(name)
    wrong += [f"{page}: {INDEX} does not lead to it" for page in pages
              if page.startswith("docs/") and page not in reached]
    return wrong


def pages_of_repository():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return sorted(page for page in listed if (ROOT / page).exists())


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        (root / "docs").mkdir()
        (root / "docs" / "README.md").write_text(
            "# A\n\n[b](b.md#two-words-kind)\n[x](gone.md)\n[y](b.md#gone)\n`[z](gone.md)`\n\n    [z](gone.md)\n\n[w](b.md#key.name)\n")
        (root / "docs" / "b.md").write_text('## Two words: `"kind"`\n\n<a id="key.name"></a>\n```sh\n# not a heading\n```\n[c](#not-a-heading)\n')
        (root / "docs" / "alone.md").write_text("[net](https://example.org/#x) `app/gone.cpp`, `app/foo.cpp`\n")
        found = problems(root, ["docs/README.md", "docs/alone.md", "docs/b.md"])
    expected = ["docs/README.md: gone.md: there is no such file", "docs/README.md: b.md#gone: there is no such heading",
                "docs/alone.md: app/gone.cpp: there is no such source",
                "docs/b.md: #not-a-heading: there is no such heading", "docs/alone.md: docs/README.md does not lead to it"]
    if found != expected:
        print("check_links: self-test failed:", *found, sep="\n  ", file=sys.stderr)
        return 1
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    wrong = problems(ROOT, pages_of_repository())
    for line in wrong:
        print(f"check_links: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
