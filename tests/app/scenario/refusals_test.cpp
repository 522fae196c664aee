// Every scenario of tests/refusals is refused, each for its own reason. Next to each <name>.json is
// <name>.expected: a line with the path of the fault (empty where there is none), a line with a part
// of the message and, where the schema sees no fault, a line "valid by the schema". The fault of
// profile-file-*.json lies in the file that its profile names, that
// of data-file-*.json in a file that its data names, at a byte of it, and that of trace-file-*.json
// in a line of the trace.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/json/config_error.hpp"
#include "app/run/memory_check.hpp"
#include "app/scenario/study.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::refusals_test {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(PACELINE_SOURCE_DIR) / "tests" / "refusals";

std::vector<std::string> names_with_ending(const std::string& ending) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().extension() == ending)
            names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::optional<ConfigError> refusal(const std::string& file) {
    try {
        check_memory(read_study(file, {}), 1);
    } catch (const ConfigError& error) {
        return error;
    }
    return std::nullopt;
}

bool is_one_line(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return c >= '\0' && c < ' '; });
}

TEST_CASE("refusals: every refused scenario says why, and there are many") {
    const std::vector<std::string> scenarios = names_with_ending(".json");
    const std::vector<std::string> reasons = names_with_ending(".expected");

    CHECK(scenarios == reasons);
    CHECK(scenarios.size() >= 60);
}

TEST_CASE("refusals: each names its file, the path of the fault and what is wrong or right") {
    for (const std::string& name : names_with_ending(".json")) {
        CAPTURE(name);
        const std::string file = (folder / (name + ".json")).string();
        std::istringstream expected(content(folder / (name + ".expected")));
        std::string path;
        std::string phrase;
        std::getline(expected, path);
        std::getline(expected, phrase);
        const bool in_data = name.starts_with("data-file-") || name.starts_with("trace-file-");
        const bool elsewhere = in_data || name.starts_with("profile-file-");

        const std::optional<ConfigError> error = refusal(file);

        CHECK(error.has_value());
        if (!error) continue;
        CHECK((error->file() == file) == !elsewhere);
        CHECK((in_data || error->file().ends_with(".json")));
        CHECK(error->path() == path);
        CHECK(!phrase.empty());
        CHECK(error->problem().find(phrase) != std::string::npos);
        CAPTURE(error->problem().substr(0, 300));
        CHECK(is_one_line(error->what()));
        CHECK(std::string_view(error->what()).size() < 700 + file.size());
    }
}

}  // namespace
}  // namespace paceline::refusals_test
