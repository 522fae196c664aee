#include "models/data/files/file_content.hpp"

#include <doctest/doctest.h>

#include "tests/models/data/data_files.hpp"

namespace paceline::file_content_test {
namespace {

std::string read(std::string_view bytes, std::uint64_t limit = most_content) {
    const FileContent content = inflated({"file", {bytes.begin(), bytes.end()}}, limit);
    return {content.bytes.begin(), content.bytes.end()};
}

TEST_CASE("file content: a plain file is its bytes, a gzip file what it inflates to") {
    for (const std::size_t size : {0UL, 1UL, 2UL, 65535UL, 65536UL, 300000UL}) {
        CAPTURE(size);
        const std::string bytes = some_bytes(size, 1);
        CHECK(read(bytes) == bytes);
        CHECK(read(gzip(bytes)) == bytes);
        CHECK(read(gzip(bytes) + gzip("and more")) == bytes + "and more");
    }
    CHECK(file_of("x").name == "file");
    CHECK(file_of(gzip("x")).name == "file (inflated)");
}

TEST_CASE("file content: no more than the limit is read, whatever a file says or inflates to") {
    const std::string bytes(100000, 'a');

    CHECK(read(bytes, 100000) == bytes);
    CHECK(refusal([&] { read(bytes, 99999); }) ==
          "byte 99999: the file has 100000 bytes; at most 99999 are read");
    CHECK(read(gzip(bytes), 100000) == bytes);
    CHECK(refusal([&] {
              read(gzip(bytes), 99999);
          }).ends_with("gzip: the file inflates to more than 99999 bytes"));
}

TEST_CASE("file content, property: a gzip file cut off anywhere is refused, with where it ends") {
    const std::string whole = gzip(some_bytes(300, 2));
    for (std::size_t length = 2; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK(refusal([&] { read(whole.substr(0, length)); }) ==
              "byte " + std::to_string(length) + ": gzip: the gzip file is truncated");
    }
}

TEST_CASE("file content, property: a gzip file with a bit changed is refused or reads the same") {
    const std::string content = some_bytes(200, 3);
    const std::string whole = gzip(content);
    for (std::size_t at = 2; at < whole.size(); ++at) {
        CAPTURE(at);
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
        if (refusal([&] { read(changed); }) == "nothing") CHECK(read(changed) == content);
    }
}

TEST_CASE("file content: what follows a gzip file is refused, with where it begins") {
    const std::string whole = gzip("content");
    CHECK(refusal([&] { read(whole + "trailing"); }).ends_with("gzip: incorrect header check"));
    CHECK_THROWS_WITH_AS(file_of(whole + "trailing"), doctest::Contains("file: byte "), DataError);
}

}  // namespace
}  // namespace paceline::file_content_test
