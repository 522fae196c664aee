#include "tests/fuzz/network_scenario.hpp"

#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "app/json/schema.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/fuzz/judge_ways.hpp"
#include "tests/fuzz/random_scenario.hpp"

namespace paceline::network_scenario_test {
namespace {

TEST_CASE("network scenarios: the same seed gives the same one, another seed another one") {
    CHECK(network_scenario(5).dump() == network_scenario(5).dump());
    CHECK(network_scenario(6).dump() == network_scenario(6).dump());
    CHECK(network_scenario(5).dump() != network_scenario(7).dump());
}

TEST_CASE("network scenarios: the schema calls each of them valid") {
    const auto json = nlohmann::json::parse(scenario_schema().dump());
    valijson::Schema schema;
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(json), schema);
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        CAPTURE(seed);
        const auto scenario = nlohmann::json::parse(network_scenario(seed).dump());
        CAPTURE(scenario.dump());

        CHECK(valijson::Validator().validate(
            schema, valijson::adapters::NlohmannJsonAdapter(scenario), nullptr));
    }
}

// Adds "ring.kind=ring" and the like for the kinds of "fabric" or "algorithm".
void add_kinds(const std::string& list, std::set<std::string>& names) {
    for (const Json& one : scenario_schema().at("definitions").at(list).at("oneOf")) {
        const auto ref = one.at("$ref").get<std::string>();
        const std::string kind = ref.substr(ref.rfind('/') + 1);
        if (kind == "own-part") continue;
        names.insert(kind + ".kind=" + kind);
    }
}

// Every fabric, mixing, collective and algorithm of the schema, by the name of its choice.
std::set<std::string> choices_of_the_network() {
    std::set<std::string> names;
    add_kinds("fabric", names);
    add_kinds("algorithm", names);
    for (const std::string& node : schema_nodes())
        for (const std::string_view choice :
             {"mixing.kind=", "collective.operation=", "collective.method=",
              "collective.all_to_all=", "all_reduce="})
            if (node.starts_with(choice)) names.insert(node);
    names.erase("all_reduce=library");         // stands for one of the others
    names.erase("collective.method=library");  // of clusters whose library chooses, which are rare
    return names;
}

TEST_CASE("network scenarios: 2500 have every fabric, mixing, collective and algorithm") {
    std::set<std::string> missing = choices_of_the_network();
    CHECK(missing.size() > 90);
    for (std::uint64_t seed = 1; seed <= 2500; ++seed)
        for (const std::string& node : schema_nodes_of(network_scenario(seed))) missing.erase(node);

    CHECK_MESSAGE(missing.empty(), fmt::format("{}", fmt::join(missing, "\n")));
}

// `make fuzz` judges ten thousand of them.
TEST_CASE("network scenarios: 1000 of them give the same results however they are simulated") {
    const TemporaryFolder folder;
    write_companions(folder.path());
    int ran = 0;
    int ahead = 0;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        CAPTURE(seed);
        const std::string scenario = network_scenario(seed).dump(1);
        CAPTURE(scenario);

        const Verdict judgement = judge_ways(folder.write("scenario.json", scenario), 0.2);

        CAPTURE(judgement.message);
        CHECK(judgement.fault == "");
        ran += judgement.fate == Fate::ran ? 1 : 0;
        ahead += judgement.message.ends_with("ahead of the queue") ? 1 : 0;
    }
    CHECK(ran > 800);
    CHECK(ahead > 200);  // in others, messages share links, or are gossip
}

}  // namespace
}  // namespace paceline::network_scenario_test
