#include "app/host/output.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/app/host/no_room.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::output_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

std::string problem_of_folder(const fs::path& folder) {
    try {
        prepare_folder(folder);
    } catch (const OutputError& error) {
        return error.what();
    }
    return "no problem";
}

std::string problem_of_file(const fs::path& file, std::string_view text) {
    try {
        write_file(file, text);
    } catch (const OutputError& error) {
        return error.what();
    }
    return "no problem";
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

TEST_CASE("output: a file is written whole, byte for byte") {
    using namespace std::string_view_literals;
    const TemporaryFolder folder;
    const std::string_view text = "a\r\n\0b"sv;

    write_file(folder.path() / "file", text);

    CHECK(content(folder.path() / "file") == text);
    CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("output: a file is replaced, not written over") {
    const TemporaryFolder folder;
    const fs::path file = folder.write("file", "a longer old text");
    fs::create_hard_link(file, folder.path() / "second name");

    write_file(file, "new");

    CHECK(content(file) == "new");
    CHECK(content(folder.path() / "second name") == "a longer old text");
}

TEST_CASE("output: an empty text makes an empty file") {
    const TemporaryFolder folder;

    write_file(folder.path() / "file", "");

    CHECK(fs::exists(folder.path() / "file"));
    CHECK(fs::file_size(folder.path() / "file") == 0);
}

TEST_CASE("output: a leftover of an interrupted run does no harm") {
    const TemporaryFolder folder;
    const fs::path old = folder.write("file.0123456789abcdef.tmp", "half of a much longer text");
    const fs::path young = folder.write("file.fedcba9876543210.tmp", "of a process that is at it");
    const fs::path foreign = folder.write("mine.tmp", "a user's");
    for (const fs::path& file : {old, foreign})
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));

    prepare_folder(folder.path());
    write_file(folder.path() / "file", "new");

    CHECK(content(folder.path() / "file") == "new");
    CHECK(names_in(folder.path()) ==
          std::vector<std::string>{"file", "file.fedcba9876543210.tmp", "mine.tmp"});
}

TEST_CASE("output: when the disk is full the old file stays, and nothing else") {
    const TemporaryFolder folder;
    const fs::path file = folder.write("file", "old");
    const NoRoom no_room;

    const std::string problem = problem_of_file(file, "new");

    CHECK(contains(problem, "file: cannot be written completely: File too large"));
    CHECK(content(file) == "old");
    CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("output: a link is replaced, and what it leads to stays") {
    const TemporaryFolder folder;
    const std::string target = folder.write("target", "precious");
    fs::create_symlink(target, folder.path() / "file");
    fs::create_symlink(target, folder.path() / "file.tmp");  // the name of earlier versions

    write_file(folder.path() / "file", "new");

    CHECK(content(target) == "precious");
    CHECK(content(folder.path() / "file") == "new");
    CHECK_FALSE(fs::is_symlink(folder.path() / "file"));
}

TEST_CASE("output: many writers of one file do not meet, and one of their texts is there, whole") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "file";
    std::atomic<int> faults = 0;
    {
        std::vector<std::jthread> writers;
        for (char name = 'a'; name < 'i'; ++name)
            writers.emplace_back([&, name] {
                for (int i = 0; i < 50; ++i)
                    if (problem_of_file(file, std::string(5000, name)) != "no problem") ++faults;
            });
    }
    CHECK(faults == 0);
    const std::string text = content(file);
    CHECK(text == std::string(5000, text.front()));
    CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("output: a file in a folder that is not there is told by name and cause") {
    const std::string problem = problem_of_file("/nowhere/file", "text");

    CHECK(contains(problem, "/nowhere/file"));
    CHECK(contains(problem, "No such file or directory"));
}

TEST_CASE("output: a file that is a folder is not replaced, and nothing is left behind") {
    const TemporaryFolder folder;
    (void)folder.write("file/inside", "old");

    const std::string problem = problem_of_file(folder.path() / "file", "new");

    CHECK(contains(problem, "cannot be renamed"));
    CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
    CHECK(content(folder.path() / "file" / "inside") == "old");
}

TEST_CASE("output: a folder is made with all folders above it, and is empty") {
    const TemporaryFolder folder;
    const fs::path deep = folder.path() / "a" / "b" / "c";

    prepare_folder(deep);

    CHECK(fs::is_directory(deep));
    CHECK(names_in(deep).empty());
}

TEST_CASE("output: a folder that is there keeps its files") {
    const TemporaryFolder folder;
    (void)folder.write("results.csv", "old");

    prepare_folder(folder.path());

    CHECK(names_in(folder.path()) == std::vector<std::string>{"results.csv"});
    CHECK(content(folder.path() / "results.csv") == "old");
}

TEST_CASE("output: a folder that is a file is refused, with what would be right") {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "old");

    const std::string problem = problem_of_folder(file);

    CHECK(contains(problem, file));
    CHECK(contains(problem, "--out"));
    CHECK(content(file) == "old");
}

TEST_CASE("output: a folder below a file is refused") {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "old");

    CHECK(contains(problem_of_folder(fs::path(file) / "below"), "Not a directory"));
}

TEST_CASE("output: a folder that cannot be made is refused, with what would be right") {
    const std::string problem = problem_of_folder("/proc/paceline");

    CHECK(contains(problem, "/proc/paceline"));
    CHECK(contains(problem, "--out"));
}

TEST_CASE("output: a folder in which no file can be written is refused before anything runs") {
    CHECK(contains(problem_of_folder("/proc"), "--out"));
}

}  // namespace
}  // namespace paceline::output_test
