#!/usr/bin/env python3
"""Tests that tools/check_callers.py finds code without a caller in the product, and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_callers  # noqa: E402

HEADER = """\
#pragma once
// used_by_main(), and comments_call() nothing.
namespace paceline {
struct Options {
    int steps = usual_steps;
    std::string (*text)(int);
};
inline constexpr int usual_steps = 3;
using Names = std::vector<std::string>;
class Part {
  public:
    explicit Part(const Options& options) : options_{options}, steps_(doubled(options.steps)) {}
    [[nodiscard]] int steps() const { return inner(); }
    friend double tan_of(Part part) { return part.steps_; }
    bool operator==(const Part& other) const = default;

  private:
    int inner() const { return steps_; }
    Options options_;
    int steps_;
};
template <class T>
[[nodiscard]] T doubled(T x) noexcept(true) {
    return 2 * x;
}
int used_by_main(const Names& names);
int passed_on(int x);
}  // namespace paceline
"""
SOURCE = """\
#include "app/a.hpp"
namespace paceline {
namespace {
const std::array table{Options{1, nullptr}, Options{2, nullptr}};
int helper(const Part& part) { return part.steps(); }
}  // namespace
int used_by_main(const Names& names) {
    const Part part(table[0]);
    std::ranges::transform(names, names.begin(), passed_on);
    return helper(part);
}
int passed_on(int x) { return x; }
}  // namespace paceline
int main() { return paceline::used_by_main({}); }
"""
SCRIPT = "import sys\n\n\ndef main():\n    pass\n\n\nif __name__ == '__main__':\n    sys.exit(main())\n"


def faults(declared="", defined="", tested="", script="", header=HEADER, source=SOURCE, binding=""):
    """Returns the faults of a small product with a few lines more."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {"app/a.hpp": header.replace("int passed_on", declared + "int passed_on"),
                           "app/a.cpp": source.replace("int passed_on", defined + "int passed_on", 1),
                           "tests/a_test.cpp": tested, "tools/a.py": script + SCRIPT,
                           "python/bindings/a.cpp": binding}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return check_callers.faults_of(root)[1]


class Callers(unittest.TestCase):
    def assert_one(self, found, *words):
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_a_product_in_which_all_is_called_has_no_fault(self):
        self.assertEqual(faults(), [])

    def test_a_function_that_nothing_calls(self):
        self.assert_one(faults("int alone(int x);\n", "int alone(int x) { return x; }\n"),
                        "app/a.hpp:27: alone: nothing calls it")

    def test_a_declaration_without_a_definition(self):
        self.assert_one(faults("int promised(int x);\n"), "promised: nothing calls it")

    def test_a_function_that_tests_alone_call(self):
        self.assert_one(faults("int alone(int x);\n", "int alone(int x) { return x; }\n", "CHECK(alone(1) == 1);"),
                        "alone: only tests call it")

    def test_a_comment_a_string_and_its_own_body_are_no_calls(self):
        self.assert_one(faults("int alone(int x);\n", "// alone(1)\nint alone(int x) { return x > 0 ? alone(x - 1) : 0; }\n"),
                        "alone")
        self.assert_one(faults("int alone(int x);\n", "const std::string text = R\"(alone(1))\" \"alone(2)\";\n"), "alone")

    def test_what_only_code_without_a_caller_calls(self):
        found = faults("int first(int x);\nint second(int x);\n",
                       "int first(int x) { return second(x); }\nint second(int x) { return x; }\n")
        self.assertEqual(len(found), 2, found)

    def test_a_local_name_is_no_use_of_a_function(self):
        self.assert_one(faults("int alone(int x);\n", "int other(int x);\n",
                               source=SOURCE.replace("const Part part", "const int alone = 3;\n    helper(alone);\n    const Part part")),
                        "alone")

    def test_a_member_that_nothing_calls(self):
        member = HEADER.replace("  private:", "    [[nodiscard]] int alone() const { return steps_; }\n  private:")
        self.assert_one(faults(header=member), "Part::alone: nothing calls it")
        self.assert_one(faults(header=member, tested="CHECK(part.alone() == 1);"), "Part::alone: only tests call it")
        self.assertEqual(faults(header=member, source=SOURCE.replace("part.steps()", "part.alone() + part.steps()")), [])

    def test_a_member_and_a_function_of_one_name_are_two(self):
        self.assert_one(faults("int steps(int x);\n", "int steps(int x) { return x; }\n"), "a.hpp:27: steps:")

    def test_a_type_and_a_constant_that_nothing_uses(self):
        self.assert_one(faults("struct Alone {\n    int x = 0;\n};\n"), "Alone")
        self.assert_one(faults("enum class Alone : std::uint8_t { one, two };\n"), "Alone")
        self.assert_one(faults("inline constexpr int alone = 3;\n"), "alone")
        self.assert_one(faults("using Alone = std::vector<int>;\n"), "Alone")

    def test_what_an_overriding_member_calls_is_called_with_its_class(self):
        more = ("int told(int x);\nstruct Buffer : std::streambuf {\n"
                "    int overflow(int x) override { return told(x); }\n};\n")
        self.assertEqual(len(faults(more)), 2)  # Buffer and told
        self.assertEqual(faults(more, source=SOURCE.replace("const Part part", "const Buffer buffer;\n    const Part part")), [])

    def test_what_a_macro_calls(self):
        self.assertEqual(faults("[[noreturn]] void refuse(int line);\n#define CHECKED(x) \\\n    (x) ? 0 : refuse(__LINE__)\n"), [])

    def test_a_function_of_a_script(self):
        self.assert_one(faults(script="def alone():\n    pass\n\n\n"), "tools/a.py:1: alone: nothing calls it")
        self.assertEqual(faults(script="def named():\n    pass\n\n\n__all__ = [\"named\"]\n"), [])

    def test_a_function_that_the_engine_calls_by_name(self):
        self.assertEqual(faults(script="def told():\n    pass\n\n\n", binding="void f() { object.attr(\"told\")(); }\n"),
                         faults(binding="void f() { object.attr(\"told\")(); }\n"))

    def test_an_exception_holds_only_while_tests_call_it(self):
        named = "Names cable_keys();\n"
        self.assertEqual(faults(named, tested="cable_keys()"), [])
        self.assert_one(faults(named), "cable_keys: nothing calls it")


if __name__ == "__main__":
    unittest.main()
