#!/usr/bin/env python3
"""Finds code of the product that nothing in the product calls: what nobody needs any more goes, and tests do not keep it.

    tools/check_callers.py [ROOT]    check the tree at ROOT (default: this repository)

Reads the C++ of sim, topologies, models, algorithms, analysis, app, explorer/engine and python as text. Each function,
type and constant that a header declares must be reached by its name from where the product begins: main(), what is
exported to Python and to the page, and members that override those of another library. What stands only where it is
declared and defined, in its own body, or in bodies that nothing reaches is a fault. A function of the scripts in
analysis/plots, python/paceline and tools needs one use besides its definition, there or in examples.

It compares names, not types: of two members of one name, one call serves both. So it may miss code without a caller,
but what it finds has none.

Prints `file:line: what: who calls it` for each fault. Exit code 1 if there is one. tests/tools/check_callers_test.py
tests it.
"""

import argparse
import ast
import bisect
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

PRODUCT = ["sim", "topologies", "models", "algorithms", "analysis", "app", "explorer/engine", "python"]
OTHERS = ["tests", "bench"]
SCRIPTS = ["analysis/plots", "python/paceline", "tools"]
EXAMPLES = "examples"  # they use what python/paceline is for
BINDINGS = "python/bindings"
SUFFIXES = {".hpp", ".cpp"}

# What the language and other libraries call without a call in our text.
PROTOCOLS = {
    "main", "PYBIND11_MODULE", "operator", "promise_type", "await_ready", "await_suspend", "await_resume",
    "initial_suspend", "final_suspend", "get_return_object", "return_void", "return_value", "unhandled_exception",
    "begin", "end",
}

# (pattern of names that stay although only tests call them, the reason)
EXCEPTIONS = [
    (r"\w+_(keys|table)", "the tables of readers, which the tests compare with the schema"),
    (r"schema_keys|path_problem|resolve_study", "the tests ask the schema about paths and points that nothing has read"),
    (r"exchange_rules|warning_kinds", "the tests hold each rule and each kind against what is said and told of it"),
    (r"events_pending|flows_in_flight|messages_delivered|letters_in|handed_over|linked|rate|restarts",
     "what the tests observe of a simulation, and nothing else shows"),
]

TOKEN = re.compile(r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
                     |(?P<raw>R"(?P<fence>[^(\s]*)\(.*?\)(?P=fence)")
                     |(?P<text>"(?:[^"\\\n]|\\.)*"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+')
                     |(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
                     |(?P<number>\.?[0-9](?:[eEpP][+-]|'?[\w.])*)
                     |(?P<name>[A-Za-z_]\w*)
                     |(?P<sign>::|->|<=>|[<>=!]=|&&|\|\||.)""", re.VERBOSE | re.DOTALL | re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w*$")
OPENING = {"(": ")", "[": "]", "{": "}"}

# Names before a parenthesis that is not the list of a function's parameters.
NO_FUNCTION = {"decltype", "alignas", "explicit", "noexcept", "requires", "__attribute__", "sizeof", "static_assert"}
# Names before another name that do not make it a declaration, as in `return size;`.
NO_TYPE = {"return", "co_return", "co_await", "co_yield", "throw", "else", "case", "and", "or", "not", "new", "delete", "in",
           "using", "typename", "goto", "operator", "template"}


@dataclass
class Declared:
    """A function, type or constant: where it stands, and the code that it reaches once it is reached itself."""
    name: str
    file: Path
    line: int
    in_class: str  # or the qualifier of its definition
    function: bool
    by_class: bool  # reached with its class: it overrides, or other libraries find it by its arguments
    head: list
    body: list


def tokens_of(text):
    """Returns [(token, line)] without comments; a string is `""`. Of a macro it keeps the body, which may call."""
    starts = [m.end() for m in re.finditer("\n", text)]
    tokens = []
    for match in TOKEN.finditer(text):
        kind, line = match.lastgroup, bisect.bisect_right(starts, match.start()) + 1
        if kind in ("name", "sign"):
            tokens.append((match[0], line))
        elif kind in ("text", "raw", "fence"):
            tokens.append(('""', line))
        elif kind == "number":
            tokens.append(("0", line))
    return tokens


def macro_names(text):
    """Returns the names in the bodies of macros."""
    return [name for body in re.findall(r"^[ \t]*#[ \t]*define\s+\w+((?:[^\n\\]|\\.|\\\n)*)", text, re.MULTILINE | re.DOTALL)
            for name in re.findall(r"[A-Za-z_]\w*", body)]


class Reader:
    """Cuts one file into what it declares in namespaces and classes. `found` gets it."""

    def __init__(self, file, text):
        self.file, self.tokens, self.found = file, tokens_of(text), []
        end = self.scope(0, "")
        assert end == len(self.tokens), f"{file}:{self.tokens[end][1]}: a brace that closes nothing"

    def at(self, i):
        return self.tokens[i][0] if 0 <= i < len(self.tokens) else ""

    def past(self, i):
        """Returns the place after the bracket that closes the one at i."""
        close, i = OPENING[self.at(i)], i + 1
        while self.at(i) != close:
            assert i < len(self.tokens), f"{self.file}: a bracket that nothing closes"
            i = self.past(i) if self.at(i) in OPENING else i + 1
        return i + 1

    def past_angles(self, i):
        """Returns the place after the `>` that closes the `<` at i."""
        i += 1
        while self.at(i) != ">" and i < len(self.tokens):
            i = self.past(i) if self.at(i) in OPENING else self.past_angles(i) if self.at(i) == "<" else i + 1
        return i + 1

    def scope(self, i, in_class):
        """Reads statements from i to the brace that ends the scope; returns its place."""
        while i < len(self.tokens) and self.at(i) != "}":
            i = self.statement(i, in_class)
        return i

    def statement(self, i, in_class):
        """Reads one statement of a namespace or class, and returns the place behind it."""
        if in_class and self.at(i) in ("public", "private", "protected") and self.at(i + 1) == ":":
            return i + 2
        start, name_at, assigned, initializers, keyword = i, None, False, False, ""
        while i < len(self.tokens) and self.at(i) not in (";", "}"):
            token = self.at(i)
            if token == "template" and self.at(i + 1) == "<":
                i = self.past_angles(i + 1)
            elif token in ("namespace", "class", "struct", "union", "enum", "using", "extern", "friend") and not keyword and name_at is None:
                keyword, i = token, i + 1
            elif token == "{":
                if keyword in ("namespace", "extern") and name_at is None:
                    return self.scope(i + 1, in_class) + 1
                if keyword in ("class", "struct", "union") and name_at is None:
                    return self.type_with_body(start, i)
                if name_at is not None and not assigned and not (initializers and re.match(r"\w|>", self.at(i - 1))):
                    end = self.past(i)
                    self.add(start, name_at, i, end, in_class, function=True, friend=keyword == "friend")
                    return end + (self.at(end) == ";")
                assigned, i = assigned or name_at is None, self.past(i)
            elif token == "(" and name_at is None and not assigned and keyword not in ("using", "enum"):
                if NAME.match(self.at(i - 1)) and self.at(i - 1) not in NO_FUNCTION and self.at(i + 1) != "*":
                    name_at = i - 1
                elif "operator" in (self.at(j) for j in range(start, i)):
                    name_at = next(j for j in range(start, i) if self.at(j) == "operator")
                    i = self.past(i) if self.at(i + 1) == ")" and self.at(i + 2) == "(" else i
                i = self.past(i)
            elif token in OPENING:
                i = self.past(i)
            elif token == "operator":
                name_at = i if name_at is None and not assigned else name_at
                i += 1
                while self.at(i) != "(" or self.at(i + 1) == ")" and self.at(i + 2) == "(":
                    i += 2 if self.at(i) == "(" else 1
                i = self.past(i)
            elif token == "<" and not assigned and NAME.match(self.at(i - 1)):
                i = self.past_angles(i)
            else:
                assigned = assigned or token == "=" and name_at is None
                initializers = initializers or token == ":" and name_at is not None
                i += 1
        self.plain(start, name_at, i, in_class, keyword)
        return i + (self.at(i) == ";")

    def type_with_body(self, start, brace):
        """Reads a class whose body begins at `brace`."""
        end, i = brace, start
        while i < brace:
            if self.at(i) == "<":
                i = self.past_angles(i)
            elif self.at(i) == ":":
                end = i
                break
            else:
                i += 1
        names = [j for j in range(start, end) if NAME.match(self.at(j)) and self.at(j) != "final"]
        i = end - 1
        while i > start and self.at(i) == ">":  # a specialization: its name stands before its arguments
            i = next(j for j in range(i, start, -1) if self.at(j) == "<" and self.past_angles(j) == i + 1) - 1
        name_at = i if NAME.match(self.at(i)) and self.at(i) != "final" else names[-1]
        name = self.at(name_at)
        self.add(start, name_at, brace, brace, "", function=False)
        close = self.scope(brace + 1, name)
        i = close + 1
        while self.at(i) != ";":
            i += 1
        return i + 1

    def plain(self, start, name_at, end, in_class, keyword):
        """Adds a statement without a body: a declared function, a constant, an alias, a member."""
        if start == end or keyword == "friend" or keyword in ("class", "struct", "union") and end - start == 2:
            return
        if name_at is not None:
            self.add(start, name_at, end, end, in_class, function=True)
            return
        if keyword == "enum":
            names = [j for j in range(start, end) if NAME.match(self.at(j)) and self.at(j) not in ("enum", "class")]
            self.add(start, names[0], names[0] + 1, names[0] + 1, "", function=False)
            return
        stop = next((j for j in range(start, end) if self.at(j) in ("=", "{", "[") and self.at(j + 1) != "["), end)
        names = [j for j in range(start, stop) if NAME.match(self.at(j))]
        if names and self.at(start) not in ("static_assert", "namespace") and not (keyword == "using" and stop == end):
            self.add(start, names[-1], end, end, in_class, function=False)

    def add(self, start, name_at, head_end, body_end, in_class, *, function, friend=False):
        """Adds what is named at `name_at`, with a head from `start` and a body behind it."""
        name, words = self.at(name_at), [token for token, _ in self.tokens[start:head_end]]
        of = in_class or self.qualifier(name_at)
        if self.at(name_at - 1) == "~":
            name = of = in_class or self.qualifier(name_at - 1)
        head = self.tokens[start:name_at] + self.tokens[name_at + 1:head_end]
        self.found.append(Declared(name, self.file, self.tokens[name_at][1], of, function, friend or "override" in words,
                                   head, self.tokens[head_end:body_end]))

    def qualifier(self, i):
        """Returns Class of `Class::name` and `Class<T>::name`, whose name is at i."""
        if self.at(i - 1) != "::":
            return ""
        i -= 2
        if self.at(i) == ">":
            i = next(j for j in range(i, 0, -1) if self.at(j) == "<" and self.past_angles(j) == i + 1) - 1
        return self.at(i)


def is_type_before(token):
    """Whether a token before a name makes it a declaration of that name, as in `Bytes size`."""
    return NAME.match(token) is not None and token not in NO_TYPE or token in (">", "&", "*", "&&")


@dataclass
class Uses:
    """The names in code: `x.name(`, `Class::name`, any other call or value, and all of them."""
    of_members: set
    qualified: set
    plain: set
    all: set


def uses_in(code):
    words = [token for token, _ in code]
    found, local, values = Uses(set(), set(), set(), set()), set(), set()
    for i, word in enumerate(words):
        if not NAME.match(word):
            continue
        found.all.add(word)
        before = words[i - 1] if i > 0 else ""
        after = words[i + 1] if i + 1 < len(words) else ""
        if before in (".", "->"):
            if after in ("(", "<"):
                found.of_members.add(word)
        elif before == "::":
            found.qualified.add(word)
        elif NAME.match(before) and before not in NO_TYPE and after != "<":
            local.add(word)  # Type name
        elif after in ("(", "<"):
            found.plain.add(word)
        elif before in (">", "&", "*", "&&") and i > 1 and is_type_before(words[i - 2]):
            local.add(word)  # Type& name
        else:
            values.add(word)
    found.plain |= values - local  # a local name hides a function, unless it is called
    return found


def read_tree(root, folders):
    """Returns (what the C++ files in the folders declare, the names in bodies of macros, the number of files)."""
    declared, macros, count = [], set(), 0
    for folder in folders:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SUFFIXES:
                text = file.read_text(encoding="utf-8")
                declared += Reader(file.relative_to(root), text).found
                macros.update(macro_names(text))
                count += 1
    return declared, macros, count


def exports_of(root):
    """Returns the functions that the page of `paceline explore` calls: those in extern "C" of explorer/engine."""
    names = set()
    for file in (root / "explorer/engine").glob("*.cpp"):
        exported = file.read_text(encoding="utf-8").partition('extern "C"')[2]
        names.update(re.findall(r"^\S.*?\b(\w+)\(", exported, re.MULTILINE))
    return names


def reached(declared, roots):
    """Returns {(name, whether it is a member's)} that are reached from the roots, which are names."""
    classes = types_of(declared)
    by_key, by_class = defaultdict(list), defaultdict(list)
    for one in declared:
        by_key[key_of(one, classes)].append(one)
        if one.by_class or one.name in PROTOCOLS or not one.function:
            by_class[one.in_class].append(one)
    known, seen, waiting = set(), set(), [(name, member) for name in roots for member in (False, True)]
    while waiting:
        key = waiting.pop()
        if key in known:
            continue
        known.add(key)
        for one in by_key[key] + (by_class[key[0]] if key[0] in classes else []):
            if id(one) in seen:
                continue
            seen.add(id(one))
            uses = uses_in(one.head + one.body)
            members = uses.of_members | uses.qualified | (uses.plain if one.in_class else set())
            others = uses.qualified | uses.plain | (uses.all & classes)
            waiting += [(name, True) for name in members] + [(name, False) for name in others]
    return known


def types_of(declared):
    """Returns the names of types, and of constants outside of them."""
    return {one.name for one in declared if not one.function and not one.in_class}


def key_of(one, classes):
    """Constructors and destructors are reached with their class."""
    return one.name, one.function and one.in_class in classes and one.name != one.in_class and not one.by_class


def faults_of_cpp(root):
    """Returns (number of files, faults, names of exceptions that are needed)."""
    declared, macros, count = read_tree(root, PRODUCT)
    classes = types_of(declared)
    known = reached(declared, PROTOCOLS | macros | exports_of(root))
    tested = set()
    for folder in OTHERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SUFFIXES:
                tested.update(token for token, _ in tokens_of(file.read_text(encoding="utf-8")))
    faults, used = {}, set()
    for one in declared:
        if one.file.suffix != ".hpp" or one.by_class or key_of(one, classes) in known:
            continue
        if not one.function and one.in_class:
            continue  # a member that holds a value
        exception = next((pattern for pattern, _ in EXCEPTIONS if re.fullmatch(pattern, one.name)), None)
        if exception is not None and one.name in tested:
            used.add(exception)
            continue
        what = f"{one.in_class}::{one.name}" if one.in_class in classes and one.in_class != one.name else one.name
        who = "only tests call it" if one.name in tested else "nothing calls it"
        faults.setdefault(what, f"{one.file}:{one.line}: {what}: {who}")
    return count, list(faults.values()), used


def faults_of_scripts(root):
    """Returns (number of files, faults) of the Python of the product."""
    files = [file for folder in SCRIPTS for file in sorted((root / folder).rglob("*.py"))]
    users = sorted((root / EXAMPLES).rglob("*.py"))
    defined, uses = [], defaultdict(int)
    for file in files + users:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and file not in users:
                # What a decorator takes is called through it; _names_ are called by Python and by Jupyter.
                if not node.decorator_list and not re.fullmatch(r"_\w+_", node.name):
                    defined.append((file.relative_to(root), node.lineno, node.name))
            elif isinstance(node, ast.Name):
                uses[node.id] += 1
            elif isinstance(node, ast.Attribute):
                uses[node.attr] += 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                uses[node.value] += 1  # __all__, getattr
    for file in sorted((root / BINDINGS).rglob("*.cpp")):  # the engine calls by name
        for name in re.findall(r'\battr\("(\w+)"\)', file.read_text(encoding="utf-8")):
            uses[name] += 1
    return len(files), [f"{file}:{line}: {name}: nothing calls it" for file, line, name in defined if uses[name] == 0]


def faults_of(root):
    """Returns (number of files, faults) of a tree."""
    count, faults, used = faults_of_cpp(root)
    scripts, more = faults_of_scripts(root)
    return count + scripts, faults + more, used


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    root = parser.parse_args().root
    count, faults, used = faults_of(root)
    if count == 0:
        faults.append(f"{root}: no file found: nothing was checked")
    faults += [f"tools/check_callers.py: no name needs the exception {pattern}; take it out"
               for pattern, _ in EXCEPTIONS if pattern not in used]
    print("\n".join(faults) if faults else f"check_callers: {count} files, all that is declared has a caller")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
