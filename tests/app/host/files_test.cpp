#include "app/host/files.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "app/host/available_memory.hpp"
#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/models/data/data_files.hpp"

namespace paceline::files_test {
namespace {

std::string read_problem_of(const std::string& file) {
    try {
        (void)read_text(file);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no problem";
}

std::string bytes_of(const std::string& file, std::uint64_t limit = most_content) {
    const std::vector<unsigned char> bytes = read_bytes(file, limit);
    return {bytes.begin(), bytes.end()};
}

TEST_CASE("files: a file is read byte for byte") {
    using namespace std::string_view_literals;
    const TemporaryFolder folder;
    const std::string_view text = "a\r\nb\0c\xFF"sv;

    const std::string file = folder.write("file.json", text);

    CHECK(read_text(file) == text);
}

TEST_CASE("files: a file that is not there is told by name and cause") {
    CHECK(read_problem_of("/nowhere/file.json") ==
          "/nowhere/file.json: cannot be read: No such file or directory");
}

TEST_CASE("files: a directory is no file") {
    const TemporaryFolder folder;

    CHECK(read_problem_of(folder.path().string()) ==
          folder.path().string() + ": is a directory; name a file");
}

TEST_CASE("files: a file may have 16 MiB and not a byte more") {
    const TemporaryFolder folder;
    const std::string largest = folder.write("largest.json", std::string(max_file_size, ' '));
    const std::string larger = folder.write("larger.json", std::string(max_file_size + 1, ' '));

    CHECK(read_text(largest).size() == max_file_size);
    CHECK(read_problem_of(larger) == larger + ": is larger than 16 MiB");
}

TEST_CASE("files: a source without end is refused") {
    CHECK(read_problem_of("/dev/zero") == "/dev/zero: is larger than 16 MiB");
}

TEST_CASE("files: a data file is its bytes, gzip or not") {
    const TemporaryFolder folder;
    for (const std::size_t size : {0UL, 1UL, 300000UL}) {
        CAPTURE(size);
        const std::string bytes = some_bytes(size, 1);
        CHECK(bytes_of(folder.write("plain", bytes)) == bytes);
    }
    CHECK(bytes_of(folder.write("packed", gzip("x"))) == gzip("x"));
}

TEST_CASE("files: a data file beyond the limit is refused by its length, and not read") {
    const TemporaryFolder folder;
    const std::string file = folder.write("plain", std::string(100000, 'a'));

    CHECK(bytes_of(file, 100000).size() == 100000);
    CHECK(refusal([&] { bytes_of(file, 99999); }) ==
          "byte 99999: the file has 100000 bytes; at most 99999 are read");
    // 4 GiB without a byte on the disk.
    const std::string hole = folder.write("hole", "");
    std::filesystem::resize_file(hole, std::uintmax_t{1} << 32);
    CHECK(refusal([&] { bytes_of(hole); }) ==
          "byte 1073741824: the file has 4294967296 bytes; at most 1073741824 are read");
}

TEST_CASE("files: data come from regular files") {
    const TemporaryFolder folder;
    for (const std::string& file :
         {folder.path().string(), std::string("/dev/zero"), (folder.path() / "none").string()})
        CHECK(refusal([&] { bytes_of(file); }) == "byte 0: there is no such regular file");
}

TEST_CASE("files: the sources of this machine are its files and its memory") {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", "abc");
    const Sources sources = files_of_this_machine();

    CHECK(sources.text(file) == "abc");
    CHECK(sources.data(file) == std::vector<unsigned char>{'a', 'b', 'c'});
    CHECK(sources.available_memory().bytes.count > 0);
}

}  // namespace
}  // namespace paceline::files_test
