#include "tests/fuzz/random_scenario.hpp"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "app/json/schema.hpp"
#include "app/scenario/study.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/fuzz/judge.hpp"

namespace paceline::random_scenario_test {
namespace {

TEST_CASE("random scenarios: the same seed gives the same one, another seed another one") {
    CHECK(random_scenario(5).dump() == random_scenario(5).dump());
    CHECK(random_scenario(5).dump() != random_scenario(6).dump());
}

TEST_CASE("random scenarios: the schema calls each of them valid") {
    const auto json = nlohmann::json::parse(scenario_schema().dump());
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(json), schema);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        const auto scenario = nlohmann::json::parse(random_scenario(seed).dump());
        CAPTURE(scenario.dump());

        CHECK(valijson::Validator().validate(
            schema, valijson::adapters::NlohmannJsonAdapter(scenario), nullptr));
    }
}

// Speeds by device require a profile that was measured on it. The others belong to SwarmSGD's
// exchange, which is rare, or is one of eleven compressors of methods that are rare themselves.
const std::set<std::string> rare{"speeds.kind=device", "lattice-exchange.kind=exact",
                                 "lattice-exchange.kind=lattice", "codec-8-bit.kind=8-bit"};

TEST_CASE("random scenarios: fifteen hundred have every kind of everything, and most other keys") {
    std::set<std::string> missing = schema_nodes();
    const std::size_t all = missing.size();
    for (std::uint64_t seed = 1; seed <= 1500; ++seed)
        for (const std::string& node : schema_nodes_of(random_scenario(seed))) missing.erase(node);

    CHECK(all > 600);
    CHECK_MESSAGE(10 * missing.size() < all, fmt::format("{}", fmt::join(missing, "\n")));
    for (const std::string& node : missing) {
        CAPTURE(node);
        CHECK((node.find(".kind=") == std::string::npos || rare.contains(node)));
    }
}

TEST_CASE("random scenarios: 200 of them obey the laws, repeat exactly, or report what is wrong") {
    const TemporaryFolder folder;
    write_companions(folder.path());
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        const std::string scenario = random_scenario(seed).dump(1);
        CAPTURE(scenario);

        const Verdict judgement =
            judge(folder.write("scenario.json", scenario), {.twice = seed % 4 == 0});

        CAPTURE(judgement.message);
        CHECK(judgement.fault == "");
        ran += judgement.fate == Fate::ran ? 1 : 0;
    }
    CHECK(ran > 100);  // if most scenarios are refused, little is tested
}

}  // namespace
}  // namespace paceline::random_scenario_test
