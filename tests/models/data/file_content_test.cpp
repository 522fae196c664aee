#include "models/data/file_content.hpp"

#include <doctest/doctest.h>

#include "tests/models/data/data_files.hpp"

namespace paceline::file_content_test {
namespace {

std::string read(const std::string& path, std::uint64_t limit = most_content) {
    const FileContent content = read_content(path, limit);
    return {content.bytes.begin(), content.bytes.end()};
}

TEST_CASE("file content: a plain file is its bytes, a gzip file what it inflates to") {
    const TemporaryFolder folder;
    for (const std::size_t size : {0UL, 1UL, 2UL, 65535UL, 65536UL, 300000UL}) {
        CAPTURE(size);
        const std::string bytes = some_bytes(size, 1);
        CHECK(read(folder.write("plain", bytes)) == bytes);
        CHECK(read(folder.write("packed", gzip(bytes))) == bytes);
        CHECK(read(folder.write("members", gzip(bytes) + gzip("and more"))) == bytes + "and more");
    }
    CHECK(read_content(folder.write("packed", gzip("x"))).name ==
          folder.path().string() + "/packed (inflated)");
}

TEST_CASE("file content: no more than the limit is read, whatever a file says or inflates to") {
    const TemporaryFolder folder;
    const std::string bytes(100000, 'a');

    CHECK(read(folder.write("plain", bytes), 100000) == bytes);
    CHECK(refusal([&] { read(folder.write("plain", bytes), 99999); }) ==
          "byte 99999: the file has 100000 bytes; at most 99999 are read");
    CHECK(read(folder.write("packed", gzip(bytes)), 100000) == bytes);
    CHECK(refusal([&] {
              read(folder.write("packed", gzip(bytes)), 99999);
          }).ends_with("gzip: the file inflates to more than 99999 bytes"));
    // 4 GiB without a byte on the disk: refused by length, not read.
    const std::string hole = folder.write("hole", "");
    std::filesystem::resize_file(hole, std::uintmax_t{1} << 32);
    CHECK(refusal([&] { read(hole); }) ==
          "byte 1073741824: the file has 4294967296 bytes; at most 1073741824 are read");
}

TEST_CASE("file content: what is no regular file is refused") {
    const TemporaryFolder folder;
    CHECK(refusal([&] { read(folder.path().string()); }) ==
          "byte 0: there is no such regular file");
    CHECK(refusal([&] { read("/dev/zero"); }) == "byte 0: there is no such regular file");
    CHECK(refusal([&] { read((folder.path() / "none").string()); }) ==
          "byte 0: there is no such regular file");
}

TEST_CASE("file content, property: a gzip file cut off anywhere is refused, with where it ends") {
    const TemporaryFolder folder;
    const std::string whole = gzip(some_bytes(300, 2));
    for (std::size_t length = 2; length < whole.size(); ++length) {
        CAPTURE(length);
        const std::string path = folder.write("cut", whole.substr(0, length));
        CHECK(refusal([&] { read(path); }) ==
              "byte " + std::to_string(length) +
                  ": gzip: the gzip file is cut off; its content goes on");
    }
}

TEST_CASE("file content, property: a gzip file with a bit changed is refused or reads the same") {
    const TemporaryFolder folder;
    const std::string content = some_bytes(200, 3);
    const std::string whole = gzip(content);
    for (std::size_t at = 2; at < whole.size(); ++at) {
        CAPTURE(at);
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
        const std::string path = folder.write("changed", changed);
        if (refusal([&] { read(path); }) == "nothing") CHECK(read(path) == content);
    }
}

TEST_CASE("file content: what follows a gzip file is refused, with where it begins") {
    const TemporaryFolder folder;
    const std::string whole = gzip("content");
    const std::string path = folder.write("trailing", whole + "trailing");
    CHECK(refusal([&] { read(path); }).ends_with("gzip: incorrect header check"));
    CHECK_THROWS_WITH_AS(read_content(path), doctest::Contains((path + ": byte ").c_str()),
                         DataError);
}

}  // namespace
}  // namespace paceline::file_content_test
