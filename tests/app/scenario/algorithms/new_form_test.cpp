#include "app/scenario/algorithms/new_form.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/files.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/scenario.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"

namespace paceline::new_form_test {
namespace {

namespace fs = std::filesystem;

Json form_of(const char* text) {
    return new_form(Json::parse(text));
}

TEST_CASE("new form: dense methods are sgd by all-reduce") {
    CHECK(form_of(R"({"kind": "dense"})") == Json::parse(R"({"kind": "sgd", "codec": "none",
              "transport": {"kind": "all-reduce", "plan": "ring"}, "schedule": "whole"})"));
    CHECK(form_of(R"({"kind": "pmsgd", "label": "P", "all_reduce": "tree", "wire": "fp16"})") ==
          Json::parse(R"({"kind": "sgd", "label": "P", "wire": "fp16", "codec": "none",
              "transport": {"kind": "all-reduce", "plan": "tree"}, "schedule": "whole"})"));
    CHECK(form_of(R"({"kind": "dense-overlapped"})") ==
          Json::parse(R"({"kind": "sgd", "codec": "none",
              "transport": {"kind": "all-reduce", "plan": "ring"},
              "schedule": {"pieces": "25MiB", "begin": "beside-backward"}})"));
    CHECK(form_of(R"({"kind": "ps-sync"})").at("transport").at("plan") == "parameter-server");
}

TEST_CASE("new form: messages of compressors that add up are all-reduced, others gathered") {
    CHECK(form_of(R"({"kind": "compressed-sgd", "compressor": {"kind": "qsgd", "levels": 7},
                      "exchange": "all-gather-bruck", "coding_step": "0s"})") ==
          Json::parse(R"({"kind": "sgd", "codec": {"kind": "qsgd", "levels": 7,
                              "error_feedback": false, "coding_step": "0s"},
              "transport": {"kind": "all-gather", "how": "bruck"}, "schedule": "whole"})"));
    CHECK(form_of(R"({"kind": "compressed-sgd", "compressor": {"kind": "random-k"},
                      "exchange": "tree"})") ==
          Json::parse(R"({"kind": "sgd", "codec": {"kind": "random-k", "error_feedback": true},
              "transport": {"kind": "all-reduce", "plan": "tree"}, "schedule": "whole"})"));
}

TEST_CASE("new form: methods with a step of their own keep their kind") {
    CHECK(form_of(R"({"kind": "power-sgd", "rank": 4})") ==
          Json::parse(R"({"kind": "power-sgd", "codec": {"kind": "power-sgd", "rank": 4},
              "transport": {"kind": "all-reduce", "plan": "ring"}, "schedule": "whole"})"));
    CHECK(form_of(R"({"kind": "dgc", "density": 0.01, "exchange": "all-gather-ring"})") ==
          Json::parse(R"({"kind": "dgc", "codec": {"kind": "dgc", "density": 0.01},
              "transport": {"kind": "all-gather", "how": "ring", "plan": "ring"},
              "schedule": "whole"})"));
    CHECK(form_of(R"({"kind": "one-bit-adam", "freeze_step": 3, "all_reduce": "tree"})") ==
          Json::parse(R"({"kind": "one-bit-adam", "freeze_step": 3,
              "codec": {"kind": "one-bit", "fused": false},
              "transport": {"kind": "two-phase", "plan": "tree"}, "schedule": "whole"})"));
}

TEST_CASE("new form: it is its own new form, and leaves new words alone") {
    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);
        const Json form = new_form(plain_algorithm(entry.name));
        CHECK(new_form(form) == form);
    }
    const char* const chosen = R"({"kind": "dense", "transport": "two-phase"})";
    CHECK(form_of(chosen) == Json::parse(chosen));
}

std::vector<std::string> scenario_files() {
    std::vector<std::string> files;
    for (const char* folder : {"scenarios", "tests/fingerprints"})
        for (const fs::directory_entry& file :
             fs::directory_iterator(fs::path(PACELINE_SOURCE_DIR) / folder))
            if (file.path().extension() == ".json" &&
                !file.path().string().ends_with(".schema.json"))
                files.push_back(file.path().string());
    return files;
}

// Small and short, and without what differs between points alone.
void shorten(Json& point) {
    point["stop"] = Json{{"iterations", 5}};
    point.erase("measure");
    if (point.at("workload").contains("data")) {
        Json& data = point.at("workload").at("data");
        for (const char* key : {"train", "test"})
            if (data.contains(key) && data.at(key).is_number()) data[key] = key[1] == 'r' ? 96 : 16;
    }
    Json& cluster = point.at("cluster");
    if (cluster.contains("nodes") && cluster.at("nodes") > 16 && cluster.size() == 2 &&
        cluster.at("fabric").at("kind") == "star")
        cluster["nodes"] = 16;
}

std::optional<Metrics> outcome_of(const Json& point, const std::string& file) {
    const Sources sources = files_of_this_machine();
    std::optional<Scenario> scenario;
    try {
        scenario = read_scenario(point, file, sources);
    } catch (const ConfigError&) {
        return std::nullopt;  // does not go with a short run
    }
    return run_point(*scenario, nullptr);
}

TEST_CASE("new form: every algorithm of every scenario runs the same in its new form") {
    std::set<std::string> seen;
    int compared = 0;
    for (const std::string& file : scenario_files())
        for (const std::string& resolved : resolve_study(open_scenario(file), {})) {
            Json point = Json::parse(resolved);
            const Json algorithm = point.at("algorithm");
            if (!seen.insert(algorithm.dump()).second || new_form(algorithm) == algorithm) continue;
            shorten(point);
            CAPTURE(file);
            const std::string said = algorithm.dump();
            CAPTURE(said);
            const std::optional<Metrics> before = outcome_of(point, file);
            if (!before) continue;
            point["algorithm"] = new_form(algorithm);
            if (!point.contains("other_jobs"))
                point["version"] = 2;  // they have words of their own
            const std::string form = point["algorithm"].dump();
            CAPTURE(form);
            const std::optional<Metrics> after = outcome_of(point, file);
            CHECK(after.has_value());
            if (!after) continue;
            ++compared;
            CHECK(after->outcome == before->outcome);
            CHECK(after->sim_time_s == before->sim_time_s);
            CHECK(after->train_loss == before->train_loss);
            CHECK(after->bytes_sent_per_node_per_step == before->bytes_sent_per_node_per_step);
            CHECK(after->model_step_time_s == before->model_step_time_s);
        }
    CHECK(compared > 100);
}

TEST_CASE("version 2: old words are refused with the new ones, whoever they are said by") {
    const std::string file;
    for (const auto& [text, word, phrase] :
         {std::tuple{R"({"kind": "dense", "all_reduce": "tree"})", "algorithm.all_reduce",
                     R"("transport":{"kind":"all-reduce","plan":"tree"})"},
          {R"({"kind": "dense-overlapped", "bucket": "1MB"})", "algorithm.bucket",
           R"("schedule":{"pieces":"1MB","begin":"beside-backward"})"},
          {R"({"kind": "compressed-sgd", "compressor": {"kind": "qsgd"}})", "algorithm.compressor",
           R"("codec":{"kind":"qsgd","error_feedback":false})"},
          {R"({"kind": "dgc", "density": 0.1})", "algorithm.density",
           R"("codec":{"kind":"dgc","density":0.1})"}}) {
        const Json algorithm = Json::parse(text);
        CAPTURE(text);
        try {
            refuse_old_words({&algorithm, &file, "algorithm"});
            FAIL_CHECK("accepted");
        } catch (const ConfigError& error) {
            CHECK(error.path() == word);
            const std::string problem = error.problem();
            CAPTURE(problem);
            CHECK(problem.find(phrase) != std::string::npos);
        }
    }
    const Json kept =
        Json::parse(R"({"kind": "gradient-dropping", "density": 0.1, "wire": "fp16"})");
    CHECK_NOTHROW(refuse_old_words({&kept, &file, "algorithm"}));
}

}  // namespace
}  // namespace paceline::new_form_test
