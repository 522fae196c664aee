#include "app/json/schema.hpp"

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

#include "app/host/files.hpp"
#include "app/json/names.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/aggregations/exchange_levels.hpp"
#include "app/scenario/aggregations/measured_coding.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/words.hpp"
#include "app/scenario/cluster/access.hpp"
#include "app/scenario/cluster/background.hpp"
#include "app/scenario/cluster/buses.hpp"
#include "app/scenario/cluster/cluster_choice.hpp"
#include "app/scenario/cluster/fabrics.hpp"
#include "app/scenario/cluster/graph_wires.hpp"
#include "app/scenario/cluster/libraries.hpp"
#include "app/scenario/cluster/link_jitter.hpp"
#include "app/scenario/cluster/links.hpp"
#include "app/scenario/cluster/node_classes.hpp"
#include "app/scenario/cluster/other_links.hpp"
#include "app/scenario/cluster/region_wires.hpp"
#include "app/scenario/mixings/mixings.hpp"
#include "app/scenario/money.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "app/scenario/nodes/sites.hpp"
#include "app/scenario/scenario.hpp"
#include "app/scenario/study.hpp"
#include "app/scenario/workload/data.hpp"
#include "app/scenario/workload/decoder_sizes.hpp"
#include "app/scenario/workload/device_time.hpp"
#include "app/scenario/workload/measurement.hpp"
#include "app/scenario/workload/models.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"
#include "tests/app/scenario/refused_scenarios.hpp"

namespace paceline::schema_test {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

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

// Returns the names behind "$ref" in the alternatives of a definition. A list of names stands for
// those of them that need no more keys.
std::set<std::string> alternatives(const std::string& definition) {
    std::set<std::string> names;
    for (const Json& one : scenario_schema().at("definitions").at(definition).at("oneOf"))
        if (!one.contains("enum"))
            names.insert(fs::path(one.at("$ref").get<std::string>()).filename().string());
    names.erase("own-part");  // what a caller brings (own_parts.hpp)
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

    CHECK(keywords == std::set<std::string>{"$schema", "$id", "title", "description", "type",
                                            "required", "additionalProperties", "properties",
                                            "definitions"});
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

// Returns the value with every whole number written with a fraction of 0.
Json with_points(Json json) {
    if (json.is_number_integer()) return json.get<double>();
    if (json.is_structured())
        for (auto& [key, value] : json.items()) value = with_points(value);
    return json;
}

TEST_CASE("schema: every whole number of every shipped scenario may be written with a point") {
    for (const fs::path& file : shipped_scenarios()) {
        CAPTURE(file.string());
        const Json plain = Json::parse(content(file));
        const ScenarioText changed{file.string(), with_points(plain).dump(),
                                   files_of_this_machine()};

        CHECK(!read_study(changed, small_data(plain.at("workload"))).points.empty());
    }
}

// Puts a scenario's algorithm into today's words, which the schema has. Returns false if it says
// something in both.
bool put_in_words_of_the_schema(nlohmann::json& scenario) {
    static const std::string file;
    if (!scenario.is_object() || !scenario.contains("algorithm")) return true;
    const Json algorithm = Json::parse(scenario["algorithm"].dump());
    try {
        const Words words = in_todays_words({&algorithm, &file, "algorithm"});
        scenario["algorithm"] = nlohmann::json::parse(words.algorithm->dump());
    } catch (const ConfigError&) {
        return false;
    }
    return true;
}

TEST_CASE("schema: a refused scenario that is wrong in shape is invalid to other validators too") {
    Validator validator;
    int wrong_in_shape = 0;
    for (const RefusedScenario& scenario : refused_scenarios(source)) {
        CAPTURE(scenario.table);
        CAPTURE(scenario.name);
        auto json = nlohmann::json::parse(scenario.text, nullptr, false);
        if (json.is_discarded()) continue;
        wrong_in_shape += scenario.valid_by_schema ? 0 : 1;

        CHECK((put_in_words_of_the_schema(json) && validator.accepts(json)) ==
              scenario.valid_by_schema);
    }
    CHECK(wrong_in_shape >= 60);
}

// tests/fingerprints has scenarios in the words of each earlier version.
TEST_CASE("schema: a scenario in earlier words is valid in today's") {
    Validator validator;
    std::set<std::string> rewritten;
    for (const fs::path& file : json_files(source / "tests" / "fingerprints"))
        for (const std::string& resolved : resolve_study(open_scenario(file.string()), {})) {
            CAPTURE(resolved);
            auto point = nlohmann::json::parse(resolved);
            const nlohmann::json before = point.at("algorithm");
            REQUIRE(put_in_words_of_the_schema(point));
            if (point.at("algorithm") == before || !rewritten.insert(before.dump()).second)
                continue;

            CHECK(validator.accepts(point));
        }
    CHECK(rewritten.size() > 100);
}

TEST_CASE("schema: the reader's tables of keys and the schema's properties are the same") {
    CHECK(as_set(scenario_keys()) == as_set(schema_keys(scenario_schema(), "")));
    CHECK(as_set(cluster_keys()) == properties("cluster"));
    CHECK(as_set(workload_keys()) == properties("workload"));
    CHECK(as_set(stop_keys()) == properties("stop"));
    CHECK(as_set(link_keys()) == properties("link"));
    CHECK(as_set(cable_keys()) == properties("cable"));
    CHECK(as_set(region_keys()) == properties("region"));
    CHECK(as_set(other_links_keys()) == properties("other_links"));
    CHECK(as_set(node_range_keys()) == properties("node_range"));
    CHECK(as_set(price_keys()) == properties("price"));
    CHECK(as_set(power_keys()) == properties("power"));
    CHECK(as_set(other_job_keys()) == properties("other_job"));
    CHECK(as_set(node_class_keys()) == properties("node-class"));
    CHECK(as_set(site_keys()) == properties("site"));
    CHECK(as_set(exchange_level_keys()) == properties("exchange-level"));
    CHECK(as_set(bus_keys()) == properties("bus"));
    CHECK(as_set(transport_keys()) == properties("transport"));
    CHECK(as_set(library_keys()) == properties("library"));
    CHECK(as_set(own_device_keys()) == properties("own-device"));
    CHECK(as_set(time_by_batch_keys()) == properties("time-by-batch"));
    CHECK(as_set(decoder_keys()) == properties("decoder"));
    CHECK(as_set(measured_coding_keys()) == properties("measured-coding"));
    CHECK(as_set(coding_time_keys()) == properties("coding-time"));
    CHECK(as_set(straggler_keys()) == properties("stragglers"));
    CHECK(as_set(speed_keys()) == properties("speeds"));
    CHECK(as_set(jitter_keys()) == properties("compute_jitter"));
    CHECK(as_set(failure_keys()) == properties("failures"));
    CHECK(as_set(absence_keys()) == properties("absence"));
    CHECK(as_set(absence_trace_keys()) == properties("absence_trace"));
    CHECK(as_set(checkpoint_keys()) == properties("checkpoint"));
    CHECK(as_set(outage_keys()) == properties("outage"));
    CHECK(as_set(stand_in_keys()) == properties("stand-in"));
    CHECK(as_set(measurement_keys()) == properties("measure"));
    CHECK(as_set(partition_keys()) == properties("partition"));
}

std::set<std::string> with_prefix(const std::string& prefix, const std::set<std::string>& names) {
    std::set<std::string> longer;
    for (const std::string& name : names) longer.insert(prefix + name);
    return longer;
}

template <class Table>
void check_names(const std::string& family, const Table& table) {
    CHECK(with_prefix(family + "-", as_set(names_of(table))) == alternatives(family));
}

// A definition is named after the family and the kind.
template <class Table>
void check_family(const std::string& family, const Table& table) {
    check_names(family, table);
    for (const auto& entry : table) {
        CAPTURE(entry.name);
        const std::string definition = fmt::format("{}-{}", family, entry.name);
        const Json& json = scenario_schema().at("definitions").at(definition);

        CHECK(as_set(entry.keys) == properties(definition));
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

TEST_CASE("schema: the codecs are those of the reader, by name or with options") {
    const Json& all = scenario_schema().at("definitions").at("codec").at("oneOf");

    check_names("codec", codec_table());
    CHECK(as_set(all.front().at("enum").get<std::vector<std::string>>()) ==
          as_set(names_of(codec_table())));
    for (const CodecEntry& entry : codec_table()) {
        CAPTURE(entry.name);
        CHECK(as_set(codec_keys(entry.name)) == properties(fmt::format("codec-{}", entry.name)));
        CHECK(as_set(codec_keys(entry.name)).contains("leave_out") == (entry.name != "none"));
    }
}

// Keys of algorithms come from the schema; every_algorithm_test.cpp checks that they are read.
TEST_CASE("schema: the algorithms are those of the reader") {
    CHECK(as_set(names_of(algorithm_table())) == alternatives("algorithm"));
}

TEST_CASE("schema: the fabrics and their keys are those of the reader") {
    CHECK(as_set(names_of(fabric_table())) == alternatives("fabric"));
    for (const FabricEntry& entry : fabric_table()) {
        CAPTURE(entry.name);

        CHECK(as_set(entry.keys) == properties(std::string(entry.name)));
    }
}

Names kinds_of(const Json& kind) {
    return kind.contains("const") ? Names{kind.at("const").get<std::string>()}
                                  : kind.at("enum").get<Names>();
}

TEST_CASE("schema: the kind of a definition is its name") {
    for (const char* family : {"algorithm", "fabric"})
        for (const std::string& name : alternatives(family)) {
            CAPTURE(name);
            const Json& definition = scenario_schema().at("definitions").at(name);

            CHECK(kinds_of(definition.at("properties").at("kind")).front() == name);
            CHECK(std::ranges::count(definition.at("required"), "kind") == 1);
        }
}

TEST_CASE("schema: the keys that are scanned are those of the parsed schema, in its order") {
    int definitions = 0;
    for (const auto& [name, definition] : scenario_schema().at("definitions").items()) {
        if (!definition.contains("properties") || definition.at("properties").empty()) continue;
        CAPTURE(name);
        std::vector<std::string_view> keys;
        for (const auto& [key, value] : definition.at("properties").items()) keys.push_back(key);
        ++definitions;

        CHECK(std::ranges::equal(definition_keys(name), keys));
    }
    CHECK(definitions > 100);
}

TEST_CASE("schema: every object is closed, so that a misspelt key is seen while writing") {
    CHECK(scenario_schema().at("additionalProperties") == false);
    for (const auto& [name, definition] : scenario_schema().at("definitions").items()) {
        if (name == "own-part") continue;  // its options are those of a function in Python
        CAPTURE(name);
        const bool has_properties = definition.contains("properties");
        const auto additional = definition.find("additionalProperties");
        const bool is_closed = additional != definition.end() && *additional == false;

        CHECK(has_properties == is_closed);
    }
}

// The last part of the message with which an algorithm is refused: "known: a, b, c".
std::string known_to_reader(const Json& algorithm) {
    const TemporaryFolder folder;
    const std::string file =
        folder.write("scenario.json", fmt::format(
                                          R"({{"cluster": {{"nodes": 1, "fabric": {{"kind": "star",
                                                    "link": {{"bandwidth": "1Gbps"}}}}}},
                 "workload": {{"gradient": "4B", "step_time": "1s"}},
                 "algorithm": {}, "stop": {{"iterations": 1}}}})",
                                          algorithm.dump()));
    try {
        (void)read_study(file, {});
    } catch (const ConfigError& error) {
        const std::string what = error.what();
        return what.substr(std::min(what.find("known: "), what.size()));
    }
    return "accepted";
}

// The names that a key can have; empty if it has none. After them come the objects.
Names choices(const Json& property) {
    const Json* at = &property;
    while (at->contains("$ref"))
        at = &scenario_schema().at(Json::json_pointer(at->at("$ref").get<std::string>().substr(1)));
    if (at->contains("oneOf")) at = &at->at("oneOf").front();
    if (!at->contains("enum")) return {};
    return at->at("enum").get<Names>();
}

std::string known_to_schema(const Json& property) {
    return fmt::format("known: {}", fmt::join(choices(property), ", "));
}

// Compares the choices of each key of a definition; `with` puts a value there. "pieces" also takes
// sizes, and of machines of neighbors the reader knows "shards", too, to say why they cannot be.
template <class With>
int check_choices(const std::string& name, With with) {
    int checked = 0;
    const Json& definition = scenario_schema().at("definitions").at(name);
    for (const auto& [key, property] : definition.at("properties").items()) {
        if (choices(property).empty() || key == "kind" || key == "pieces") continue;
        if (name == "aggregation-neighbors" && key == "machines") continue;
        CAPTURE(name);
        CAPTURE(key);
        ++checked;

        CHECK(known_to_reader(with(key)) == known_to_schema(property));
    }
    return checked;
}

TEST_CASE("schema: the spellings of every choice are those of the reader, in the same order") {
    int checked = 0;
    for (const AlgorithmEntry& entry : algorithm_table())
        checked += check_choices(std::string(entry.name), [&](const std::string& key) {
            Json algorithm = plain_algorithm(entry.name);
            if (key == "all_to_all") algorithm["operation"] = "all-to-all";
            algorithm[key] = "?";
            return algorithm;
        });
    const auto in_section = [](const char* section, Json object) {
        return [section, object](const std::string& key) {
            Json algorithm{{"kind", "sgd"}, {section, object}};
            algorithm[section][key] = "?";
            return algorithm;
        };
    };
    for (const CodecEntry& entry : codec_table())
        checked += check_choices(fmt::format("codec-{}", entry.name),
                                 in_section("codec", {{"kind", entry.name}}));
    for (const AggregationEntry& entry : aggregation_table())
        checked += check_choices(fmt::format("aggregation-{}", entry.name),
                                 in_section("aggregation", {{"kind", entry.name}}));
    checked += check_choices("exchange-schedule", in_section("schedule", Json::object()));
    CHECK(checked > 60);
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
                             "algorithm.aggregation.plan",
                             "algorithm.codec.density",
                             "algorithm.codec.levels",
                             "algorithm.codec.scaler",
                             "algorithm.codec.warm_up.densities",
                             "algorithm.codec.leave_out",
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
        CHECK(path_fault(path).problem.empty());
    }
}

TEST_CASE("schema: without the whole schema, the same paths are known and the others told alike") {
    std::vector<std::string> paths{"",
                                   ".",
                                   "0",
                                   "cluster.",
                                   ".cluster",
                                   "cluster.nodes.many",
                                   "cluster.fabric.link.bandwidth",
                                   "cluster.fabric.link.banwidth",
                                   "other_jobs.0",
                                   "other_jobs[0].workload.batch",
                                   "other_jobs.x"};
    for (const std::string& key : schema_keys(scenario_schema(), "")) {
        paths.push_back(key);
        paths.push_back(key + ".no_key");
        for (const std::string& below : schema_keys(scenario_schema(), key))
            paths.push_back(key + "." + below);
    }
    CHECK(paths.size() > 100);
    for (const std::string& path : paths) {
        CAPTURE(path);
        CHECK(path_fault(path).problem == path_problem(scenario_schema(), path));
    }
}

TEST_CASE("schema: a path that no scenario can have is told with the nearest known key") {
    CHECK(path_problem(scenario_schema(), "cluster.nodse") ==
          "\"nodse\" is not a key on this path; did you mean \"nodes\"? known: nodes, devices, "
          "devices_per_node, nics, bus, fabric, transport, library, stragglers, speeds, "
          "compute_jitter, classes, sites, "
          "failures, "
          "placement, background, access, testbed");
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
