#include "app/scenario/algorithms/words.hpp"

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/scenario.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::words_test {
namespace {

Json today(const Json& algorithm) {
    const std::string file = "scenario.json";
    return *in_todays_words({&algorithm, &file, "algorithm"}).algorithm;
}

TEST_CASE("words: keys of earlier scenarios become those within codec, aggregation and schedule") {
    for (
        const auto& [old_words, words] :
        {std::pair{R"({"kind": "dense", "all_reduce": "tree", "wire": "fp16"})",
                   R"({"kind": "dense", "wire": "fp16",
                        "aggregation": {"kind": "all-reduce", "plan": "tree"}})"},
         {R"({"kind": "sgd", "codec": "qsgd", "transport": "two-phase"})",
          R"({"kind": "sgd", "codec": "qsgd", "aggregation": "two-phase"})"},
         {R"({"kind": "dense-overlapped", "bucket": "40B"})",
          R"({"kind": "sgd", "label": "dense-overlapped",
               "schedule": {"pieces": "40B", "begin": "beside-backward"}})"},
         {R"({"kind": "compressed-sgd", "compressor": {"kind": "qsgd", "levels": 7},
               "exchange": "all-gather-bruck", "coding_step": "0s", "error_feedback": true})",
          R"({"kind": "sgd", "label": "compressed-sgd",
               "codec": {"kind": "qsgd", "levels": 7, "error_feedback": true, "coding_step": "0s"},
               "aggregation": {"kind": "all-gather", "how": "bruck"}})"},
         {R"({"kind": "compressed-sgd", "compressor": {"kind": "random-k"}, "exchange": "tree"})",
          R"({"kind": "sgd", "label": "compressed-sgd", "codec": {"kind": "random-k"},
               "aggregation": {"kind": "all-reduce", "plan": "tree"}})"},
         {R"({"kind": "power-sgd", "rank": 4, "label": "P"})",
          R"({"kind": "power-sgd", "label": "P", "codec": {"kind": "power-sgd", "rank": 4}})"},
         {R"({"kind": "dgc", "density": 0.01, "exchange": "all-gather-ring", "all_reduce": "tree"})",
          R"({"kind": "dgc", "codec": {"kind": "dgc", "density": 0.01},
               "aggregation": {"kind": "all-gather", "how": "ring", "plan": "tree"}})"},
         {R"({"kind": "dgc", "exchange": "recursive-doubling"})",
          R"({"kind": "dgc", "aggregation": {"kind": "sparse-all-reduce"}})"},
         {R"({"kind": "one-bit-lamb", "all_reduce": "tree", "coding_step": "1ns"})",
          R"({"kind": "one-bit-lamb",
               "codec": {"kind": "one-bit", "fused": true, "coding_step": "1ns"},
               "aggregation": {"kind": "two-phase", "plan": "tree"}})"},
         {R"({"kind": "sign-sgd", "coding_step": "1ns"})",
          R"({"kind": "sign-sgd",
               "codec": {"kind": "sign", "majority": true, "coding_step": "1ns"}})"},
         {R"({"kind": "choco-sgd", "compressor": {"kind": "top-k"}})",
          R"({"kind": "choco-sgd", "codec": {"kind": "top-k"}})"}}) {
        CAPTURE(old_words);
        CHECK(nlohmann::json(today(Json::parse(old_words))) == nlohmann::json::parse(words));
    }
}

// Earlier scenarios kept the errors of every biased compressor; today's codecs fp16 and sign with a
// vote do not, unless they are asked to.
TEST_CASE("words: what a compressor's rounding leaves out is kept as it was") {
    for (const char* kind : {"compressed-sgd", "fedavg"})
        CHECK(today({{"kind", kind}, {"compressor", {{"kind", "fp16"}}}}).at("codec") ==
              Json{{"kind", "fp16"}, {"error_feedback", true}});
    const Json said = {
        {"kind", "fedavg"}, {"compressor", {{"kind", "fp16"}}}, {"error_feedback", false}};
    CHECK(today(said).at("codec").at("error_feedback") == false);
    CHECK(!today({{"kind", "choco-sgd"}, {"compressor", {{"kind", "fp16"}}}})
               .at("codec")
               .contains("error_feedback"));
}

TEST_CASE("words: an algorithm in today's words stays as it is") {
    for (const AlgorithmEntry& entry : algorithm_table()) {
        const Json algorithm = plain_algorithm(entry.name);
        CHECK(today(algorithm) == algorithm);
    }
    for (const char* own :
         {R"({"kind": "collective", "operation": "all-reduce", "all_reduce": "tree"})",
          R"({"kind": "swarm-sgd", "exchange": "lattice", "coding_step": "1ns"})",
          R"({"kind": "gradient-dropping", "density": 0.1})", R"({"kind": "demo", "decay": 0.9})",
          R"({"kind": 3})", R"({})", "7"})
        CHECK(today(Json::parse(own)) == Json::parse(own));
}

TEST_CASE("words: a name stands for a kind and keys, which the scenario's own keys replace") {
    CHECK(today({{"kind", "hsdp"}}) ==
          Json::parse(R"({"kind": "zero", "stage": 3, "shards": "machine", "label": "hsdp"})"));
    const Json own = {{"kind", "ddp"}, {"label", "mine"}, {"schedule", "tensors"}};
    CHECK(today(own) == Json{{"kind", "sgd"}, {"label", "mine"}, {"schedule", "tensors"}});
    std::set<std::string_view> names;
    for (const AlgorithmEntry& entry : algorithm_table()) names.insert(entry.name);
    for (const AlgorithmAlias& alias : algorithm_aliases()) {
        CAPTURE(alias.name);
        CHECK(names.insert(alias.name).second);  // no two things have one name
        CHECK(names.contains(Json::parse(alias.stands_for).at("kind").get<std::string>()));
    }
}

TEST_CASE("words: an object that names no kind says some keys of the usual one") {
    CHECK(today({{"kind", "dense"}, {"aggregation", {{"plan", "tree"}}}}).at("aggregation") ==
          Json{{"kind", "all-reduce"}, {"plan", "tree"}});
    CHECK(today({{"kind", "dgc"}, {"codec", {{"density", 0.1}}}}).at("codec") ==
          Json{{"kind", "dgc"}, {"density", 0.1}});
    CHECK(today({{"kind", "ddp"}, {"schedule", {{"begin", "after-backward"}}}}).at("schedule") ==
          Json{{"pieces", "25MiB"}, {"begin", "after-backward"}});
}

TEST_CASE("words: paths of earlier scenarios lead to where their words are today") {
    for (const auto& [path, leads_to] :
         {std::pair{"algorithm.transport", "algorithm.aggregation"},
          {"algorithm.bucket", "algorithm.schedule.pieces"},
          {"algorithm.compressor.levels", "algorithm.codec.levels"},
          {"algorithm.warm_up.densities[1]", "algorithm.codec.warm_up.densities[1]"},
          {"algorithm.codec", "algorithm.codec"},
          {"algorithm.ranks", "algorithm.ranks"},
          {"cluster.transport", "cluster.transport"}})
        CHECK(path_in_todays_words(path) == leads_to);
}

// Every old word is a path that a sweep may have, and that --set takes.
TEST_CASE("words: earlier scenarios may sweep their words") {
    const TrainingStudy study;
    for (const auto& [algorithm, setting] :
         {std::pair{R"({"kind": "dense-overlapped"})", "algorithm.bucket=40B"},
          {R"({"kind": "compressed-sgd", "compressor": {"kind": "qsgd"}})",
           "algorithm.compressor.levels=3"},
          {R"({"kind": "power-sgd"})", "algorithm.rank=1"},
          {R"({"kind": "dgc"})", "algorithm.momentum_correction=false"},
          {R"({"kind": "one-bit-adam"})", "algorithm.fused=true"},
          {R"({"kind": "sgd"})", "algorithm.transport=two-phase"}})
        CHECK_NOTHROW((void)study.scenario({std::string("algorithm=") + algorithm, setting}));
}

Json scenario_with(const Json& algorithm) {
    return Json{{"cluster",
                 {{"nodes", 4},
                  {"devices_per_node", 2},
                  {"bus", {{"kind", "switched"}, {"link", {{"bandwidth", "100Gbps"}}}}},
                  {"fabric", {{"kind", "star"}, {"link", {{"bandwidth", "10Gbps"}}}}}}},
                {"workload", {{"profile", "alexnet"}, {"gradient_time", "50ms"}}},
                {"algorithm", algorithm},
                {"stop", {{"iterations", 2}}}};
}

TEST_CASE("words: a name that people type runs as what it stands for, and keeps its label") {
    const Sources sources = files_of_this_machine();
    for (const AlgorithmAlias& alias : algorithm_aliases()) {
        if (alias.summary.empty()) continue;
        CAPTURE(alias.name);
        const Scenario typed =
            read_scenario(scenario_with({{"kind", alias.name}}), "typed.json", sources);
        const Scenario meant =
            read_scenario(scenario_with(Json::parse(alias.stands_for)), "meant.json", sources);
        CHECK(typed.algorithm.label == alias.name);
        CHECK(run_point(typed, nullptr).sim_time_s == run_point(meant, nullptr).sim_time_s);
    }
}

// What a kind uses by itself stands in its reader, and in the table with which old words say a
// part.
TEST_CASE("words: an object that says nothing is what the algorithm uses by itself") {
    const Sources sources = files_of_this_machine();
    const auto run = [&](const Json& algorithm) -> std::optional<Metrics> {
        try {
            return run_point(read_scenario(scenario_with(algorithm), "plain.json", sources),
                             nullptr);
        } catch (const ConfigError&) {
            return std::nullopt;  // it has no such part, or no usual one
        }
    };
    int compared = 0;
    for (const AlgorithmEntry& entry : algorithm_table())
        for (const char* section : {"codec", "aggregation"}) {
            CAPTURE(entry.name);
            CAPTURE(section);
            Json algorithm = plain_algorithm(entry.name);
            if (algorithm.contains(section)) continue;
            const std::optional<Metrics> plain = run(algorithm);
            algorithm[section] = Json::object();
            const std::optional<Metrics> said = run(algorithm);
            if (!plain || !said) continue;
            ++compared;
            CHECK(said->sim_time_s == plain->sim_time_s);
            CHECK(said->bytes_sent_per_node_per_step == plain->bytes_sent_per_node_per_step);
        }
    CHECK(compared > 25);
}

std::pair<std::string, std::string> refusal(const Json& algorithm) {
    try {
        (void)read_scenario(scenario_with(algorithm), "scenario.json", files_of_this_machine());
    } catch (const ConfigError& error) {
        return {error.path(), error.problem()};
    }
    return {"", "accepted"};
}

TEST_CASE("words: errors stand at the key that the user wrote, and name the kind that he typed") {
    for (const auto& [text, path, phrase] :
         {std::tuple{R"({"kind": "dgc", "density": 3})", "algorithm.density", "3 is not"},
          {R"({"kind": "dense", "all_reduce": "tre"})", "algorithm.all_reduce", "\"tree\""},
          {R"({"kind": "dense", "all_reduce": {"kind": "parameter-server", "servers": 99}})",
           "algorithm.all_reduce.servers", "as many servers"},
          {R"({"kind": "compressed-sgd", "compressor": {"kind": "qsgd", "levls": 3}})",
           "algorithm.compressor.levls", "\"levels\""},
          {R"({"kind": "compressed-sgd", "compressor": {"kind": "top-k"}, "exchange": "tree"})",
           "algorithm.exchange", "do not add up"},
          {R"({"kind": "sign-sgd", "exchange": "ring"})", "algorithm.exchange", "all-gather-ring"},
          {R"({"kind": "sgd", "codec": "qsgd", "transport": "al-gather"})", "algorithm.transport",
           "\"all-gather\""},
          {R"({"kind": "compressed-sgd"})", "algorithm", "\"codec\" is missing"},
          {R"({"kind": "dense-overlapped", "bucket": 7})", "algorithm.bucket", "not a string"},
          {R"({"kind": "hrovod"})", "algorithm.kind", "did you mean \"horovod\""},
          {R"({"kind": "ps-sync", "all_reduce": "ring"})", "algorithm.all_reduce", "\"dense\""},
          {R"({"kind": ["sgd"]})", "algorithm.kind", "is not a string"},
          {R"({"kind": "ddp", "codec": "top-k", "aggregation": "neighbors"})",
           "algorithm.aggregation", "the kind \"ddp\""}}) {
        const auto [at, problem] = refusal(Json::parse(text));
        CAPTURE(text);
        CAPTURE(problem);
        CHECK(at == path);
        CHECK(problem.find(phrase) != std::string::npos);
    }
}

TEST_CASE("words: what is said in earlier words and in today's is refused at the earlier one") {
    for (const auto& [text, path] :
         {std::pair{R"({"kind": "dense", "all_reduce": "tree", "aggregation": "two-phase"})",
                    "algorithm.all_reduce"},
          {R"({"kind": "dense", "all_reduce": "tree", "transport": "two-phase"})",
           "algorithm.all_reduce"},
          {R"({"kind": "dgc", "density": 0.1, "codec": "dgc"})", "algorithm.density"},
          {R"({"kind": "sgd", "transport": "two-phase", "aggregation": "two-phase"})",
           "algorithm.transport"},
          {R"({"kind": "dense-overlapped", "bucket": "1MB", "schedule": "whole"})",
           "algorithm.bucket"}}) {
        const auto [at, problem] = refusal(Json::parse(text));
        CAPTURE(text);
        CHECK(at == path);
        CHECK(problem.find("earlier name") != std::string::npos);
    }
}

TEST_CASE("words: the versions of earlier scenarios are read alike, and others refused") {
    for (const auto& [version, problem] :
         {std::pair{Json(1), "accepted"}, {Json(2), "accepted"}, {Json(3), "is not a version"}}) {
        Json scenario = scenario_with({{"kind", "dense"}, {"all_reduce", "tree"}});
        scenario["version"] = version;
        std::string said = "accepted";
        try {
            (void)read_scenario(scenario, "scenario.json", files_of_this_machine());
        } catch (const ConfigError& error) {
            said = error.problem();
        }
        CHECK(said.find(problem) != std::string::npos);
    }
}

}  // namespace
}  // namespace paceline::words_test
