#include "app/study/ranks/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace paceline {

namespace {

std::optional<int> number(const char* text) {
    if (text == nullptr) return std::nullopt;
    const std::string_view digits(text);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc() || end != digits.end() || value < 0) return std::nullopt;
    return value;
}

}  // namespace

std::optional<Launch> launch(const Environment& environment) {
    const auto read = [&](const char* name) { return number(environment(name)); };
    if (const auto ranks = read("OMPI_COMM_WORLD_SIZE"))
        return Launch{"mpirun", read("OMPI_COMM_WORLD_RANK").value_or(0), ranks};
    if (const auto rank = read("PMIX_RANK"))
        return Launch{"a PMIx launcher", *rank, read("SLURM_STEP_NUM_TASKS")};
    if (const auto ranks = read("PMI_SIZE"))
        return Launch{"a PMI launcher", read("PMI_RANK").value_or(0), ranks};
    return std::nullopt;
}

std::optional<Launch> launch() {
    return launch([](const char* name) { return std::getenv(name); });
}

}  // namespace paceline
