#include "app/host/program_file.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "tests/app/host/temporary_folder.hpp"

namespace paceline::program_file_test {
namespace {

TEST_CASE("program file: in a program, it is the program") {
    CHECK(program_file() == std::filesystem::read_symlink("/proc/self/exe"));
}

TEST_CASE("program file: the build ID is the one that the linker has written into it") {
    const std::optional<std::string> id = build_id();
    REQUIRE(id);
    std::string note("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16);
    for (std::size_t i = 0; i < id->size(); i += 2)
        note += static_cast<char>(std::stoi(id->substr(i, 2), nullptr, 16));

    CHECK(id->size() == 40);
    CHECK(content(program_file()).find(note) != std::string::npos);
}

}  // namespace
}  // namespace paceline::program_file_test
