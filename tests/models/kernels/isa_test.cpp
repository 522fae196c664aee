#include "models/kernels/isa.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

namespace paceline::isa_test {
namespace {

TEST_CASE("instruction set: the one that PACELINE_ISA names is in use, or else the best") {
    const char* wanted =
        std::getenv("PACELINE_ISA");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (wanted != nullptr && *wanted != '\0')
        CHECK(name_of(chosen_isa()) == wanted);
    else
        CHECK(chosen_isa() == available_isas().back());
}

TEST_CASE("instruction set: the choices ascend, and their names differ") {
    REQUIRE(!available_isas().empty());
    CHECK(std::ranges::is_sorted(available_isas()));
    const auto name = [](Isa isa) { return name_of(isa); };
    for (const Isa isa : available_isas())
        CHECK(std::ranges::count(available_isas(), name(isa), name) == 1);
}

}  // namespace
}  // namespace paceline::isa_test
