#include "app/study/results_folder.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::results_folder_test {
namespace {

namespace fs = std::filesystem;

std::string manifest(const std::string& scenario) {
    return "{\n  \"program\": \"paceline\",\n  \"version\": \"1\",\n  \"scenario\": " + scenario +
           ",\n  \"title\": \"t\",\n  \"points\": [\n    {\n      \"scenario\": {}\n    }\n  "
           "]\n}\n";
}

TEST_CASE("results folder: an empty one and one of the same scenario are free") {
    const TemporaryFolder folder;
    CHECK(what_else_is_in(folder.path(), "a.json").empty());
    (void)folder.write("results.csv", "point,algorithm\n");
    CHECK(what_else_is_in(folder.path(), "a.json").empty());  // killed before the manifest
    (void)folder.write("manifest.json", manifest("\"old/place/a.json\""));
    CHECK(what_else_is_in(folder.path(), "new/a.json").empty());
}

TEST_CASE("results folder: results of another scenario and a user's files are told") {
    const TemporaryFolder folder;
    (void)folder.write("manifest.json", manifest("\"a \\\"b\\\".json\""));
    CHECK(what_else_is_in(folder.path(), "b.json") ==
          "holds results of another scenario, a \"b\".json");
    for (const char* text : {"{}", "", "[1, 2", "{\n  \"scenario\": \"b.json\"\n}\n"}) {
        (void)folder.write("manifest.json", text);
        CHECK(what_else_is_in(folder.path(), "b.json") ==
              "has a manifest.json that is not of paceline");
    }
    fs::remove(folder.path() / "manifest.json");
    fs::create_symlink("/nowhere", folder.path() / "summary.csv");
    CHECK(what_else_is_in(folder.path(), "b.json") == "has a summary.csv that is not of paceline");
}

TEST_CASE("results folder: a manifest that is a FIFO is not waited for") {
    const TemporaryFolder folder;
    CHECK(::mkfifo((folder.path() / "manifest.json").c_str(), 0600) == 0);
    CHECK(what_else_is_in(folder.path(), "b.json") ==
          "has a manifest.json that is not of paceline");
}

TEST_CASE("results folder: only listed figures in the folder itself are removed") {
    const TemporaryFolder folder;
    for (const char* name : {"speedup.svg", "mine.png", "inner/x.pdf", "results.csv", "dir.svg/x"})
        (void)folder.write(name, "text");
    (void)folder.write(
        "figures.txt",
        "dir.svg\ngone.svg\ninner/x.pdf\n../speedup.svg\nresults.csv\nspeedup.svg\n");

    CHECK(remove_figures(folder.path()) == std::vector<std::string>{"speedup.svg"});

    for (const char* name : {"mine.png", "inner/x.pdf", "results.csv", "dir.svg/x"})
        CHECK(fs::exists(folder.path() / name));
    CHECK_FALSE(fs::exists(folder.path() / "figures.txt"));
    CHECK(remove_figures(folder.path()).empty());
}

TEST_CASE("results folder: the hash is of the tables") {
    const TemporaryFolder folder;
    const std::string nothing = hash_of_tables(folder.path());
    (void)folder.write("results.csv", "a");
    const std::string one = hash_of_tables(folder.path());
    (void)folder.write("table.txt", "b");
    CHECK(one != nothing);
    CHECK(hash_of_tables(folder.path()) == one);
    (void)folder.write("timeline.csv", "c");
    CHECK(hash_of_tables(folder.path()) != one);
}

}  // namespace
}  // namespace paceline::results_folder_test
