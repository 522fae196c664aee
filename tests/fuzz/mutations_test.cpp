#include "tests/fuzz/mutations.hpp"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/app/host/temporary_folder.hpp"
#include "tests/fuzz/judge.hpp"
#include "tests/fuzz/left_files.hpp"

namespace paceline::mutations_test {
namespace {

namespace fs = std::filesystem;

const Corpus& corpus() {
    static const Corpus all(PACELINE_SOURCE_DIR);
    return all;
}

TEST_CASE("mutations: the same kind and seed give the same files") {
    const TemporaryFolder folder;
    for (const std::string_view kind : mutation_kinds()) {
        CAPTURE(kind);
        const fs::path first = corpus().write(kind, 3, folder.path() / "a");
        const fs::path second = corpus().write(kind, 3, folder.path() / "b");

        CHECK(content(first) == content(second));
    }
}

// `make fuzz` judges ten thousand of them.
TEST_CASE("mutations: every faulty input is refused with a message, or obeys the laws") {
    const TemporaryFolder folder;
    for (const std::string_view kind : mutation_kinds()) {
        // random_scenario_test.cpp, failing_scenario_test.cpp, network_scenario_test.cpp
        if (kind == "scenario" || kind == "failures" || kind == "network") continue;
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            CAPTURE(kind);
            CAPTURE(seed);
            const fs::path file = corpus().write(kind, seed, folder.path() / kind);
            const std::string scenario = content(file);
            CAPTURE(scenario);
            if (const auto json = Json::parse(scenario, nullptr, false);
                !json.is_discarded() && makes_much_data(json))
                continue;

            const Verdict judgement = judge(file);

            CAPTURE(judgement.message);
            CHECK(judgement.fault == "");
        }
    }
}

TEST_CASE("mutations: the program leaves whole files, or none") {
    const TemporaryFolder folder;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        const fs::path here = folder.path() / std::to_string(seed);
        const fs::path file = corpus().write(seed % 2 == 0 ? "structure" : "scenario", seed, here);

        CHECK(fault_of_process(PACELINE_BINARY, file) == "");
    }
}

}  // namespace
}  // namespace paceline::mutations_test
