#include "app/study/point_key.hpp"

#include <set>

#include <doctest/doctest.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::point_key_test {
namespace {

TEST_CASE("point key: it is of the scenario, the kind of run and the content of every file named") {
    const TemporaryFolder folder;
    const std::string scenario = folder.write("study.json", "{}");
    (void)folder.write("data/rows.csv", "x,y\n1,2\n");
    const std::string resolved =
        R"({"seed": 1, "workload": {"data": {"kind": "csv", "files": ["data/rows.csv"]}}})";
    const auto key = [&](const std::string& text, std::string_view kind = "point") {
        return PointKeys(scenario).key(text, kind);
    };
    const std::string first = key(resolved);

    CHECK(first.size() == 32);
    CHECK(key(resolved) == first);
    CHECK(key(resolved, "baseline") != first);
    CHECK(
        key(R"({"seed": 2, "workload": {"data": {"kind": "csv", "files": ["data/rows.csv"]}}})") !=
        first);

    (void)folder.write("data/rows.csv", "x,y\n1,3\n");
    const std::string changed = key(resolved);
    CHECK(changed != first);

    std::filesystem::remove(folder.path() / "data/rows.csv");
    CHECK(key(resolved) != changed);
    CHECK(key(resolved) != first);

    (void)folder.write("data/rows.csv", "x,y\n1,2\n");
    CHECK(key(resolved) == first);
}

TEST_CASE("point key: which file has a content matters, and nothing else of the folder does") {
    const TemporaryFolder folder;
    const std::string scenario = folder.write("study.json", "{}");
    (void)folder.write("a", "1");
    (void)folder.write("b", "2");
    const std::string resolved = R"({"train": "a", "test": "b"})";
    const std::string first = PointKeys(scenario).key(resolved);

    (void)folder.write("c", "3");
    CHECK(PointKeys(scenario).key(resolved) == first);

    (void)folder.write("a", "2");
    (void)folder.write("b", "1");
    CHECK(PointKeys(scenario).key(resolved) != first);
}

TEST_CASE("point key: the schema that a scenario names for editors does not matter") {
    const TemporaryFolder folder;
    const std::string scenario = folder.write("study.json", "{}");
    const std::string resolved = R"({"$schema": "scenario.schema.json", "seed": 1})";
    const std::string first = PointKeys(scenario).key(resolved);

    (void)folder.write("scenario.schema.json", "{}");

    CHECK(PointKeys(scenario).key(resolved) == first);
}

}  // namespace
}  // namespace paceline::point_key_test
