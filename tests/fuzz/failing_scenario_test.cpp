#include "tests/fuzz/failing_scenario.hpp"

#include <set>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "app/json/schema.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/words.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/fuzz/judge_failures.hpp"
#include "tests/fuzz/random_scenario.hpp"

namespace paceline::failing_scenario_test {
namespace {

TEST_CASE("failing scenarios: the same seed gives the same one, another seed another one") {
    CHECK(failing_scenario(5).dump() == failing_scenario(5).dump());
    CHECK(failing_scenario(5).dump() != failing_scenario(6).dump());
}

TEST_CASE("failing scenarios: the schema calls each of them valid") {
    const auto json = nlohmann::json::parse(scenario_schema().dump());
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(json), schema);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const auto scenario = nlohmann::json::parse(failing_scenario(seed).dump());
        CAPTURE(scenario.dump());

        CHECK(valijson::Validator().validate(
            schema, valijson::adapters::NlohmannJsonAdapter(scenario), nullptr));
    }
}

TEST_CASE("failing scenarios: a thousand have every algorithm and every reaction to a death") {
    const std::string file = "failing.json";
    std::set<std::string> missing;
    for (const AlgorithmEntry& entry : algorithm_table()) missing.emplace(entry.name);
    for (const char* value :
         {"go-on", "stall", "restart", "own", "peer", "joined-peer", "checkpoint"})
        missing.emplace(value);
    int islands = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        const Json scenario = failing_scenario(seed);
        const Json& failures = scenario.at("cluster").at("failures");
        const Json& algorithm = scenario.at("algorithm");
        const Words today = in_todays_words({&algorithm, &file, "algorithm"});
        missing.erase(today.algorithm->at("kind").get<std::string>());
        missing.erase(failures.at("on_death").get<std::string>());
        missing.erase(failures.value("return_from", ""));
        islands += today.algorithm->contains("islands") ? 1 : 0;
    }

    CHECK(missing == std::set<std::string>{});
    CHECK(islands > 20);
}

// `make fuzz` judges two thousand of them, each with longer runs.
TEST_CASE("failing scenarios: 200 of them end, account for all time, and hold little") {
    const TemporaryFolder folder;
    write_companions(folder.path());
    int ran = 0;
    int islands = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        const std::string scenario = failing_scenario(seed).dump(1);
        CAPTURE(scenario);

        const Verdict judgement = judge_failures(
            folder.write("scenario.json", scenario),
            {.twice = seed % 8 == 0, .longer = seed % 8 == 4, .idle = seed % 8 == 2});

        CAPTURE(judgement.message);
        CHECK(judgement.fault == "");
        ran += judgement.fate == Fate::ran ? 1 : 0;
        islands += judgement.fate == Fate::ran && scenario.find("\"islands\"") != scenario.npos;
    }
    CHECK(islands > 5);
    CHECK(ran > 100);  // others draw an exchange that survivors cannot run again
}

}  // namespace
}  // namespace paceline::failing_scenario_test
