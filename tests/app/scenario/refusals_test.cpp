// Every scenario of tests/refusals is refused, each for its own reason.
// tests/app/scenario/refused_scenarios.hpp says how they are written.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/run/memory_check.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/scenario/refused_scenarios.hpp"

namespace paceline::refusals_test {
namespace {

namespace fs = std::filesystem;

const fs::path source = PACELINE_SOURCE_DIR;

std::optional<ConfigError> refusal(const std::string& file, const std::string& text) {
    try {
        check_memory(read_study(ScenarioText{file, text, files_of_this_machine()}, {}), 1);
    } catch (const ConfigError& error) {
        return error;
    }
    return std::nullopt;
}

bool is_one_line(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return c >= '\0' && c < ' '; });
}

TEST_CASE("refusals: every refused scenario says why, and there are many") {
    const std::vector<RefusedScenario> scenarios = refused_scenarios(source);

    CHECK(scenarios.size() >= 730);
    for (const RefusedScenario& scenario : scenarios) {
        CAPTURE(scenario.table);
        CAPTURE(scenario.name);
        CHECK(scenario.says != "");
    }
}

TEST_CASE("refusals: each names its file, the path of the fault and what is wrong or right") {
    for (const RefusedScenario& scenario : refused_scenarios(source)) {
        CAPTURE(scenario.table);
        CAPTURE(scenario.name);
        const std::string& file = scenario.file;
        const fs::path other = fs::path(file).parent_path() / scenario.in;

        const std::optional<ConfigError> error = refusal(file, scenario.text);

        CHECK(error.has_value());
        if (!error) continue;
        CAPTURE(error->problem().substr(0, 300));
        CAPTURE(scenario.says);
        CHECK(error->file() == (scenario.in.empty() ? file : other.string()));
        CHECK(error->path() == scenario.at);
        CHECK(error->problem().find(scenario.says) != std::string::npos);
        CHECK(is_one_line(error->what()));
        CHECK(std::string_view(error->what()).size() < 700 + file.size());
    }
}

// So the reason is in what a case changes.
TEST_CASE("refusals: the scenarios that they change are accepted") {
    for (const BaseScenario& base : bases_of_refused_scenarios(source)) {
        CAPTURE(base.file);
        const std::optional<ConfigError> error = refusal(base.file, base.text);

        CHECK((error ? error->what() : std::string()) == "");
    }
}

}  // namespace
}  // namespace paceline::refusals_test
