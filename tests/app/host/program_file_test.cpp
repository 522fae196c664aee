#include "app/host/program_file.hpp"

#include <filesystem>

#include <doctest/doctest.h>

namespace paceline::program_file_test {
namespace {

TEST_CASE("program file: in a program, it is the program") {
    CHECK(program_file() == std::filesystem::read_symlink("/proc/self/exe"));
}

}  // namespace
}  // namespace paceline::program_file_test
