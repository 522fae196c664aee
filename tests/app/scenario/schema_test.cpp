#include "app/scenario/schema.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "app/json/names.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/compressors.hpp"
#include "app/scenario/algorithms/mixings.hpp"
#include "app/scenario/algorithms/optimizer.hpp"
#include "app/scenario/cluster/access.hpp"
#include "app/scenario/cluster/background.hpp"
#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/link_jitter.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/cluster/node_list.hpp"
#include "app/scenario/scenario.hpp"
#include "app/scenario/study.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/measurement.hpp"
#include "app/scenario/workload/models.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::schema_test {
namespace {

namespace fs = std::filesystem;

const fs::path source = PACELINE_SOURCE_DIR;

// The verdict of an independent JSON Schema validator.
class Validator {
  public:
    Validator() {
        const auto json = nlohmann::json::parse(scenario_schema().dump());
        valijson::SchemaParser(valijson::SchemaParser::kDraft7)
            .populateSchema(valijson::adapters::NlohmannJsonAdapter(json), schema_);
    }

    bool accepts(const nlohmann::json& scenario) {
        return valijson::Validator().validate(
            schema_, valijson::adapters::NlohmannJsonAdapter(scenario), nullptr);
    }
    bool accepts_file(const fs::path& file) {
        return accepts(nlohmann::json::parse(content(file)));
    }

  private:
    valijson::Schema schema_;
};

std::vector<fs::path> json_files(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().extension() == ".json" &&
            !entry.path().string().ends_with(".schema.json"))
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

std::vector<fs::path> shipped_scenarios() {
    std::vector<fs::path> files = json_files(source / "scenarios");
    for (const fs::path& file : json_files(source / "scenarios" / "validation"))
        if (file.filename() != "published.json") files.push_back(file);  // measurements of others
    return files;
}

template <class Names>
std::set<std::string> as_set(const Names& names) {
    return {names.begin(), names.end()};
}

std::set<std::string> properties(const std::string& definition) {
    std::set<std::string> names;
    for (const auto& [name, value] :
         scenario_schema().at("definitions").at(definition).at("properties").items())
        names.insert(name);
    return names;
}

// Returns the names behind "$ref" in the alternatives of a definition.
std::set<std::string> alternatives(const std::string& definition) {
    std::set<std::string> names;
    for (const Json& one : scenario_schema().at("definitions").at(definition).at("oneOf"))
        names.insert(fs::path(one.at("$ref").get<std::string>()).filename().string());
    return names;
}

TEST_CASE("schema: every shipped scenario is valid") {
    Validator validator;
    const std::vector<fs::path> files = shipped_scenarios();

    CHECK(files.size() >= 3);
    for (const fs::path& file : files) {
        CAPTURE(file.string());

        CHECK(validator.accepts_file(file));
    }
}

TEST_CASE("schema: it relates no two keys of a scenario to one another") {
    std::set<std::string> keywords;
    for (const auto& [keyword, value] : scenario_schema().items()) keywords.insert(keyword);

    CHECK(keywords == std::set<std::string>{"$schema", "title", "description", "type", "required",
                                            "additionalProperties", "properties", "definitions"});
}

// Since the schema relates no two keys, a point is valid exactly if the value at each of its keys
// is, and if the required keys are present. A point whose keys and values have all been seen in
// valid points is valid, too. Every other point is validated as a whole. The points are not read
// here, because reading generates data.
TEST_CASE("schema: every point of every shipped scenario is valid when its sweep is resolved") {
    Validator validator;
    std::set<std::string> keys_seen;                     // of whole points
    std::set<std::pair<std::string, std::string>> seen;  // keys with their values
    for (const fs::path& file : shipped_scenarios()) {
        CAPTURE(file.string());
        for (const std::string& resolved : resolve_study(open_scenario(file.string()), {})) {
            CAPTURE(resolved);
            const auto point = nlohmann::json::parse(resolved);
            std::string keys;
            bool is_new = false;
            for (const auto& [key, value] : point.items()) {
                keys += key + " ";
                is_new |= seen.emplace(key, value.dump()).second;
            }
            is_new |= keys_seen.insert(keys).second;

            if (is_new) CHECK(validator.accepts(point));
        }
    }
}

// Shrinks generated data. Their size does not affect what a reader reports, and large data take a
// minute with sanitizers. `make check-scenarios` reads the files unchanged.
std::vector<std::string> small_data(const Json& workload) {
    const auto data = workload.find("data");
    if (data == workload.end()) return {};
    const std::string definition = "data-" + data->at("kind").get<std::string>();
    const Json& known = scenario_schema().at("definitions").at(definition).at("properties");
    std::vector<std::string> settings;
    for (const auto& [key, samples] : {std::pair{"train", 512}, std::pair{"test", 64}})
        if (known.contains(key) && known.at(key).value("type", "") == "integer")
            settings.push_back(fmt::format("workload.data.{}={}", key, samples));
    return settings;
}

TEST_CASE("schema: every point of every shipped scenario is read") {
    for (const fs::path& file : shipped_scenarios()) {
        CAPTURE(file.string());
        const std::vector<std::string> settings =
            small_data(Json::parse(content(file)).at("workload"));

        CHECK(!read_study(file.string(), settings).points.empty());
    }
}

// Refused scenarios whose shape is right: their fault lies in the values of a sweep, in another
// file, in a key that a parser of JSON does not tell twice, in a number's range that no pattern
// can tell, or in what several values mean together.
const std::set<std::string> faults_of_meaning{
    "access-beside-a-bus",
    "access-node-out-of-range",
    "access-on-a-ring",
    "access-on-of-zero",
    "access-outage-of-no-length",
    "access-outages-that-overlap",
    "access-phase-without-period",
    "access-trace-period-too-short",
    "access-two-sources-of-a-node",
    "all-reduce-hierarchy-of-a-part",
    "all-reduce-of-too-many-servers",
    "all-reduce-servers-beside-machines",
    "all-reduce-servers-off-the-star",
    "axis-twice",
    "axis-with-a-kind-twice-without-label",
    "axis-with-a-label-twice",
    "axis-with-a-value-twice",
    "background-to-an-unknown-node",
    "background-to-itself",
    "bandwidth-below-one-bit-per-second",
    "bandwidth-of-zero",
    "bandwidth-too-large-to-read",
    "bandwidth-up-of-zero",
    "bandwidth-very-long",
    "bucket-of-zero",
    "bus-missing",
    "bus-of-one-device",
    "bus-with-step-time",
    "bus-without-gradient-time",
    "choco-sgd-on-a-changing-mixing",
    "clip-of-decentlam",
    "cnn-on-no-images",
    "cnn-that-halves-too-often",
    "collective-with-a-model",
    "collective-with-an-all-reduce-for-nothing",
    "compressed-random-k-gathered",
    "compressed-top-k-all-reduced",
    "csv-label-and-target",
    "csv-of-no-test-rows",
    "csv-without-column",
    "data-of-fewer-components-than-classes",
    "data-of-fewer-samples-than-workers",
    "data-of-fewer-words-than-classes",
    "data-made-by-too-many-numbers",
    "data-of-a-mixture-made-by-too-many-numbers",
    "data-of-too-many-numbers",
    "data-of-too-many-tokens",
    "data-without-model",
    "device-not-measured-with-the-profile",
    "device-of-a-profile-without-throughput",
    "device-unknown",
    "device-with-a-batch-not-measured",
    "device-without-batch",
    "device-without-profile",
    "devices-more-than-counted",
    "easgd-alpha-beyond-its-share",
    "efficiency-that-leaves-no-rate",
    "epochs-without-batch",
    "epochs-without-data-set",
    "fat-tree-too-small",
    "global-batch-and-batch",
    "global-batch-below-the-nodes",
    "global-batch-of-unequal-accumulated-shares",
    "global-batch-of-unequal-shares",
    "gradient-below-a-byte",
    "gradient-larger-than-any-net",
    "gradient-of-six-bytes",
    "gradient-of-three-bytes",
    "gradient-of-zero",
    "gradient-time-beside-device",
    "gradient-time-beside-step-time",
    "graph-cable-to-an-unknown-switch",
    "graph-cable-to-itself",
    "graph-cable-without-link",
    "graph-node-out-of-range",
    "graph-of-two-parts",
    "graph-through-a-node",
    "graph-without-cables",
    "jitter-log-normal-median-of-zero",
    "leaf-spine-uplinks-without-rate",
    "leaf-spine-with-too-many-cables",
    "linear-regression-on-labels",
    "lamb-trust-of-an-empty-range",
    "loss-that-leaves-no-rate",
    "lstm-on-no-text",
    "lstm-tied-of-other-width",
    "measure-every-0-iterations",
    "measure-every-0s",
    "measure-every-half-an-iteration",
    "measure-every-negative-epochs",
    "measure-every-no-number-of-epochs",
    "measure-every-one-epoch",
    "measure-every-without-unit",
    "measure-target-accuracy-of-regression",
    "measure-without-model",
    "missing-step-time-and-device",
    "mixing-column-not-of-one",
    "mixing-directed-ring",
    "mixing-edge-to-an-unknown-node",
    "mixing-edge-to-itself",
    "mixing-edge-twice",
    "mixing-edges-of-a-ring",
    "mixing-edges-some-with-weights",
    "mixing-explicit-without-edges",
    "mixing-hypercube-of-six",
    "mixing-metropolis-of-a-directed-graph",
    "mixing-metropolis-of-directed-edges",
    "mixing-one-peer-hypercube-of-six",
    "mixing-row-beyond-one",
    "mixing-rows-of-a-ring",
    "mixing-rows-that-do-not-fit",
    "mixing-uniform-path",
    "mixing-uniform-star",
    "mixing-weights-beside-weighted-edges",
    "mixing-weights-of-a-matching",
    "mlp-of-too-many-parameters",
    "mlp-on-numbers",
    "model-beside-dataset-samples",
    "model-beside-gradient",
    "model-beside-profile",
    "model-on-a-device-without-efficiency",
    "model-without-batch",
    "model-without-step-time",
    "nesterov-of-adam",
    "nesterov-of-dmsgd",
    "nesterov-of-ef-sign-sgd",
    "nesterov-of-ps-stale",
    "nul-byte-then-more",
    "one-bit-lamb-factor-of-an-empty-range",
    "one-bit-lamb-trust-of-an-empty-range",
    "optimizer-missing",
    "optimizer-without-model",
    "other-job-label-twice",
    "other-job-on-an-unknown-node",
    "other-job-that-trains",
    "other-links-of-an-unknown-node",
    "own-optimizer-without-model",
    "partition-alpha-of-iid",
    "partition-by-label-of-numbers",
    "partition-dirichlet-without-alpha",
    "partition-share-missing",
    "partition-share-of-label-sorted",
    "placement-backwards",
    "placement-of-a-part-of-a-machine",
    "placement-of-an-unknown-node",
    "profile-and-gradient",
    "resnet-groups-that-do-not-divide",
    "resnet-on-text",
    "sampling-without-model",
    "ps-sync-off-the-star",
    "schedule-factor-of-constant",
    "schedule-milestones-not-rising",
    "schedule-milestones-of-cosine",
    "schedule-step-without-milestones",
    "schedule-without-steps",
    "slowmo-beta2-of-momentum",
    "slowmo-buffers-averaged-alone",
    "slowmo-local-without-average",
    "slowmo-mixing-of-local",
    "compute-jitter-with-another-option",
    "speeds-of-another-number-of-nodes",
    "speeds-of-a-device-without-a-profile",
    "speeds-of-an-unmeasured-device",
    "speeds-uniform-upside-down",
    "speeds-with-an-option-of-another-kind",
    "straggler-interval-longer-than-its-period",
    "straggler-interval-without-length",
    "straggler-of-two-ways",
    "straggler-one-node-at-intervals",
    "straggler-out-of-range",
    "slowmo-nesterov-of-adam",
    "slowmo-sgp-without-mixing",
    "server-beside-devices",
    "server-off-the-star",
    "softmax-regression-on-text",
    "stand-in-of-unknown-profile",
    "stand-in-with-device-outside",
    "stand-in-with-step-time-outside",
    "stand-in-without-model",
    "stand-in-without-step-time",
    "step-time-absurd",
    "step-time-and-device",
    "step-time-below-a-picosecond",
    "step-time-one-day-beyond-the-clock",
    "stop-target-accuracy-of-regression",
    "stop-target-alone",
    "stop-target-without-model",
    "stop-time-absurd",
    "stop-time-of-zero",
    "swarm-bits-of-exact",
    "swarm-coding-of-exact",
    "swarm-of-changing-neighbors",
    "swarm-of-one-way-neighbors",
    "swarm-wire-of-a-lattice",
    "sweep-of-a-sweep",
    "swept-keys-that-exclude-one-another",
    "torus-dims-of-a-product-out-of-range",
    "torus-dims-of-another-product",
    "transport-ideal-with-first-window",
    "transport-ideal-with-goodput",
    "transport-message-cost-beside-overhead",
    "unknown-profile",
    "unknown-profile-like-no-other",
    "value-of-a-swept-key-of-another-kind",
    "warm-up-in-epochs-without-batch",
    "warm-up-in-epochs-without-data-set",
    "workload-efficiency-of-a-profile-without-work",
    "workload-efficiency-of-an-unknown-device",
    "workload-efficiency-that-leaves-no-end",
    "workload-efficiency-without-batch",
    "zero-one-adam-clipper-of-six",
};

bool wrong_in_meaning(const std::string& name) {
    for (const char* family : {"data-file-", "key-twice", "points-more-than-", "profile-file-",
                               "sweep-path-", "trace-file-"})
        if (name.starts_with(family)) return true;
    for (const char* family : {"-in-a-sweep", "-beyond-the-range", "-beyond-the-memory"})
        if (name.ends_with(family)) return true;
    return faults_of_meaning.contains(name);
}

TEST_CASE("schema: a refused scenario that is wrong in shape is invalid to other validators too") {
    Validator validator;
    int checked = 0;
    for (const fs::path& file : json_files(source / "tests" / "refusals")) {
        const std::string name = file.stem().string();
        CAPTURE(name);
        const auto json = nlohmann::json::parse(content(file), nullptr, false);
        if (json.is_discarded() || wrong_in_meaning(name)) continue;
        ++checked;

        CHECK(!validator.accepts(json));
    }
    CHECK(checked >= 60);
}

TEST_CASE("schema: the reader's tables of keys and the schema's properties are the same") {
    CHECK(as_set(scenario_keys()) == as_set(schema_keys(scenario_schema(), "")));
    CHECK(as_set(cluster_keys()) == properties("cluster"));
    CHECK(as_set(workload_keys()) == properties("workload"));
    CHECK(as_set(stop_keys()) == properties("stop"));
    CHECK(as_set(link_keys()) == properties("link"));
    CHECK(as_set(warm_up_keys()) == properties("warm_up"));
    CHECK(as_set(cable_keys()) == properties("cable"));
    CHECK(as_set(other_links_keys()) == properties("other_links"));
    CHECK(as_set(node_range_keys()) == properties("node_range"));
    CHECK(as_set(price_keys()) == properties("price"));
    CHECK(as_set(other_job_keys()) == properties("other_job"));
    CHECK(as_set(bus_keys()) == properties("bus"));
    CHECK(as_set(transport_keys()) == properties("transport"));
    CHECK(as_set(straggler_keys()) == properties("stragglers"));
    CHECK(as_set(speed_keys()) == properties("speeds"));
    CHECK(as_set(jitter_keys()) == properties("compute_jitter"));
    CHECK(as_set(outage_keys()) == properties("outage"));
    CHECK(as_set(mixing_keys()) == properties("mixing"));
    CHECK(as_set(stand_in_keys()) == properties("stand-in"));
    CHECK(as_set(optimizer_keys()) == properties("optimizer"));
    CHECK(as_set(schedule_keys()) == properties("schedule"));
    CHECK(as_set(measurement_keys()) == properties("measure"));
    CHECK(as_set(partition_keys()) == properties("partition"));
}

std::set<std::string> with_prefix(const std::string& prefix, const std::set<std::string>& names) {
    std::set<std::string> longer;
    for (const std::string& name : names) longer.insert(prefix + name);
    return longer;
}

// A definition is named after the family and the kind.
template <class Table>
void check_family(const std::string& family, const Table& table) {
    CHECK(with_prefix(family + "-", as_set(names_of(table))) == alternatives(family));
    for (const auto& entry : table) {
        CAPTURE(entry.name);
        const std::string definition = fmt::format("{}-{}", family, entry.name);
        const Json& json = scenario_schema().at("definitions").at(definition);

        CHECK(as_set(entry.keys) == properties(definition));
        CHECK(json.at("properties").at("kind").at("const") == std::string(entry.name));
        CHECK(std::ranges::count(json.at("required"), "kind") == 1);
    }
}

TEST_CASE("schema: background traffic and its keys are those of the reader") {
    check_family("background", background_table());
}

TEST_CASE("schema: the models and their keys are those of the reader") {
    check_family("model", model_table());
}

TEST_CASE("schema: the laws of jitter and their keys are those of the reader") {
    check_family("jitter", link_jitter_table());
}

TEST_CASE("schema: the kinds of access and their keys are those of the reader") {
    check_family("access", access_table());
}

TEST_CASE("schema: the data and their keys are those of the reader") {
    check_family("data", data_table());
}

TEST_CASE("schema: the compressors and their keys are those of the reader") {
    check_family("compressor", compressor_table());
}

TEST_CASE("schema: the algorithms and their keys are those of the reader") {
    CHECK(as_set(names_of(algorithm_table())) == alternatives("algorithm"));
    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);

        CHECK(as_set(entry.keys) == properties(std::string(entry.name)));
    }
}

TEST_CASE("schema: the fabrics and their keys are those of the reader") {
    CHECK(as_set(names_of(fabric_table())) == alternatives("fabric"));
    for (const FabricEntry& entry : fabric_table()) {
        CAPTURE(entry.name);

        CHECK(as_set(entry.keys) == properties(std::string(entry.name)));
    }
}

TEST_CASE("schema: the kind of a definition is its name") {
    for (const char* family : {"algorithm", "fabric"})
        for (const std::string& name : alternatives(family)) {
            CAPTURE(name);
            const Json& definition = scenario_schema().at("definitions").at(name);

            CHECK(definition.at("properties").at("kind").at("const") == name);
            CHECK(std::ranges::count(definition.at("required"), "kind") == 1);
        }
}

TEST_CASE("schema: every object is closed, so that a misspelt key is seen while writing") {
    CHECK(scenario_schema().at("additionalProperties") == false);
    for (const auto& [name, definition] : scenario_schema().at("definitions").items()) {
        CAPTURE(name);
        const bool has_properties = definition.contains("properties");
        const bool is_closed = !definition.value("additionalProperties", true);

        CHECK(has_properties == is_closed);
    }
}

// The last part of a refusal's message: "known: a, b, c".
std::string known_to_reader(const std::string& algorithm, const std::string& key) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("scenario.json", fmt::format(
                                          R"({{"cluster": {{"nodes": 1, "fabric": {{"kind": "star",
                                                    "link": {{"bandwidth": "1Gbps"}}}}}},
                 "workload": {{"gradient": "4B", "step_time": "1s"}},
                 "algorithm": {{"kind": "{}", "{}": "?"}}, "stop": {{"iterations": 1}}}})",
                                          algorithm, key));
    try {
        (void)read_study(file, {});
    } catch (const ConfigError& error) {
        const std::string what = error.what();
        return what.substr(std::min(what.find("known: "), what.size()));
    }
    return "accepted";
}

std::string known_to_schema(const Json& property) {
    const Json* at = &property;
    if (at->contains("$ref"))
        at = &scenario_schema().at(Json::json_pointer(at->at("$ref").get<std::string>().substr(1)));
    if (at->contains("oneOf")) at = &at->at("oneOf").front();  // the names; then come the objects
    return fmt::format("known: {}",
                       fmt::join(at->at("enum").get<std::vector<std::string>>(), ", "));
}

TEST_CASE("schema: the spellings of every choice are those of the reader, in the same order") {
    for (const auto& [algorithm, key] :
         std::vector<std::pair<std::string, std::string>>{{"adam", "all_reduce"},
                                                          {"adam", "wire"},
                                                          {"collective", "operation"},
                                                          {"dense", "all_reduce"},
                                                          {"dense", "wire"},
                                                          {"dense-overlapped", "all_reduce"},
                                                          {"dense-overlapped", "wire"},
                                                          {"dgc", "all_reduce"},
                                                          {"dgc", "density_law"},
                                                          {"dgc", "encoding"},
                                                          {"dgc", "exchange"},
                                                          {"dgc", "selection"},
                                                          {"dgc", "uncompressed"},
                                                          {"gradient-dropping", "all_reduce"},
                                                          {"gradient-dropping", "density_law"},
                                                          {"gradient-dropping", "encoding"},
                                                          {"gradient-dropping", "exchange"},
                                                          {"gradient-dropping", "selection"},
                                                          {"ef-sign-sgd", "exchange"},
                                                          {"power-sgd", "all_reduce"},
                                                          {"sign-sgd", "exchange"},
                                                          {"lamb", "all_reduce"},
                                                          {"lamb", "wire"},
                                                          {"one-bit-adam", "all_reduce"},
                                                          {"one-bit-adam", "wire"},
                                                          {"one-bit-lamb", "all_reduce"},
                                                          {"one-bit-lamb", "wire"},
                                                          {"pmsgd", "all_reduce"},
                                                          {"pmsgd", "wire"},
                                                          {"pmsgd-lars", "all_reduce"},
                                                          {"pmsgd-lars", "wire"},
                                                          {"local-sgd", "all_reduce"},
                                                          {"local-sgd", "wire"},
                                                          {"post-local-sgd", "all_reduce"},
                                                          {"post-local-sgd", "wire"},
                                                          {"slowmo", "all_reduce"},
                                                          {"slowmo", "base"},
                                                          {"slowmo", "buffers"},
                                                          {"slowmo", "wire"},
                                                          {"bmuf", "all_reduce"},
                                                          {"bmuf", "form"},
                                                          {"bmuf", "wire"},
                                                          {"overlap-local-sgd", "all_reduce"},
                                                          {"overlap-local-sgd", "wire"},
                                                          {"cocod-sgd", "all_reduce"},
                                                          {"cocod-sgd", "wire"},
                                                          {"easgd", "all_reduce"},
                                                          {"easgd", "wire"},
                                                          {"zero-one-adam", "all_reduce"},
                                                          {"zero-one-adam", "wire"},
                                                          {"ps-async", "wire"},
                                                          {"ps-stale", "wire"},
                                                          {"ps-sync", "wire"},
                                                          {"fedavg", "wire"}}) {
        CAPTURE(algorithm);
        CAPTURE(key);
        const Json& definition = scenario_schema().at("definitions").at(algorithm);

        CHECK(known_to_reader(algorithm, key) ==
              known_to_schema(definition.at("properties").at(key)));
    }
}

TEST_CASE("schema: the kinds of mixings are those of the reader, in the same order") {
    const Json& kind = scenario_schema().at("definitions").at("mixing").at("properties").at("kind");

    CHECK(fmt::format("known: {}", fmt::join(names_of(mixing_table()), ", ")) ==
          known_to_schema(kind));
}

TEST_CASE("schema: the link presets are those of the reader, in the same order") {
    const Json& preset =
        scenario_schema().at("definitions").at("link").at("properties").at("preset");
    const std::vector<LinkPreset> presets = link_presets();

    CHECK(fmt::format("known: {}", fmt::join(names_of(presets), ", ")) == known_to_schema(preset));
}

TEST_CASE("schema: the resource that is built in is the file that editors are given") {
    CHECK(scenario_schema() == Json::parse(content(source / "scenarios" / "scenario.schema.json")));
}

TEST_CASE("schema: a path is split at its dots") {
    CHECK(split_path("cluster") == std::vector<std::string>{"cluster"});
    CHECK(split_path("cluster.fabric.kind") ==
          std::vector<std::string>{"cluster", "fabric", "kind"});
    CHECK(split_path("cluster..kind.") == std::vector<std::string>{"cluster", "", "kind", ""});
}

TEST_CASE("schema: paths lead through references and through every kind") {
    for (const char* path : {"seed",
                             "cluster.nodes",
                             "cluster.fabric",
                             "cluster.fabric.link.bandwidth",
                             "algorithm",
                             "algorithm.wire",
                             "algorithm.density",
                             "algorithm.dense_steps",
                             "algorithm.warm_up.densities",
                             "algorithm.compressor.density",
                             "algorithm.compressor.levels",
                             "algorithm.consensus_step",
                             "workload.gradient",
                             "stop.time",
                             "stop.target_loss",
                             "workload.model",
                             "workload.model.hidden",
                             "workload.model.tied",
                             "workload.data.train",
                             "workload.data.partition.alpha",
                             "workload.data.file",
                             "workload.stand_in_for.profile",
                             "optimizer.learning_rate",
                             "optimizer.schedule.warm_up",
                             "measure.every"}) {
        CAPTURE(path);

        CHECK(path_problem(scenario_schema(), path).empty());
    }
}

TEST_CASE("schema: a path that no scenario can have is told with the nearest known key") {
    CHECK(path_problem(scenario_schema(), "cluster.nodse") ==
          "\"nodse\" is not a key on this path; did you mean \"nodes\"? known: nodes, devices, "
          "devices_per_node, bus, fabric, transport, stragglers, speeds, compute_jitter, failures, "
          "placement, background, access");
    CHECK(path_problem(scenario_schema(), "cluster.nodes.many") ==
          "nothing lies below this path at \"many\"");
    CHECK(!path_problem(scenario_schema(), "").empty());
    CHECK(!path_problem(scenario_schema(), "cluster.").empty());
    CHECK(!path_problem(scenario_schema(), ".cluster").empty());
}

TEST_CASE("schema: the keys at a path are those of all its kinds, each once") {
    const std::vector<std::string> keys = schema_keys(scenario_schema(), "algorithm");

    CHECK(std::ranges::count(keys, "kind") == 1);
    CHECK(std::ranges::count(keys, "density") == 1);
    CHECK(std::ranges::count(keys, "wire") == 1);
    CHECK(std::ranges::count(keys, "dense_steps") == 1);
    CHECK(schema_keys(scenario_schema(), "cluster.nodes").empty());
}

TEST_CASE("schema: every key is described, except the kind") {
    for (const auto& [name, definition] : scenario_schema().at("definitions").items()) {
        if (!definition.contains("properties")) continue;
        for (const auto& [key, property] : definition.at("properties").items()) {
            CAPTURE(name);
            CAPTURE(key);
            const bool described =
                key == "kind" || property.contains("description") || property.contains("$ref");

            CHECK(described);
        }
    }
}

}  // namespace
}  // namespace paceline::schema_test
