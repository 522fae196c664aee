#include "tests/fuzz/mutations.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_file.hpp"
#include "sim/engine/random.hpp"
#include "tests/app/scenario/refused_scenarios.hpp"
#include "tests/fuzz/dice.hpp"
#include "tests/fuzz/failing_scenario.hpp"
#include "tests/fuzz/network_scenario.hpp"
#include "tests/fuzz/random_scenario.hpp"
#include "tests/models/data/data_files.hpp"

namespace paceline {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kinds{
    "scenario", "structure", "bytes", "data", "trace", "profile", "mixing", "failures", "network"};

std::string read_file(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const fs::path& file, std::string_view text) {
    std::ofstream(file, std::ios::binary) << text;
}

std::vector<fs::path> json_files(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".json" &&
            entry.path().string().find(".schema.") == std::string::npos)
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

// --- shrinking ---

// Shrinks whole numbers of data and of widths, and the lists of a sweep. Stops at the reader's own
// depth limit, because deeper nesting might overflow the stack.
void shrink(Json& node, bool of_data, int depth = 0) {
    if (depth > max_depth) return;
    if (of_data && node.is_number_integer() && node.get<double>() > 64) node = 64;
    if (node.is_object())
        for (auto& [key, below] : node.items()) {
            if (key == "sweep" && below.is_object())
                for (auto& [path, values] : below.items())
                    if (values.is_array() && values.size() > 2)
                        values.erase(values.begin() + 2, values.end());
            const bool is_width = key == "width" || key == "hidden" || key == "channels";
            shrink(below, of_data || is_width || key == "data" || key.starts_with("workload.data"),
                   depth + 1);
        }
    if (node.is_array())
        for (Json& below : node) shrink(below, of_data, depth + 1);
}

// --- values ---

Json odd_value(Dice& dice) {
    const std::vector<Json> values{nullptr,
                                   true,
                                   "",
                                   0,
                                   -1,
                                   1.5,
                                   -0.0,
                                   1e308,
                                   -1e308,
                                   5e-324,
                                   0.1,
                                   1,
                                   2,
                                   std::int64_t{1} << 31,
                                   std::int64_t{1} << 40,
                                   std::int64_t{1} << 53,
                                   std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::uint64_t>::max(),
                                   100'000'000,
                                   1'000'000,
                                   Json::array(),
                                   Json::object(),
                                   Json::array({1, 2}),
                                   Json::array({Json::array(), Json::array()}),
                                   Json{{"kind", "star"}},
                                   Json{{"", ""}},
                                   "NaN",
                                   "-1s",
                                   "0s",
                                   "1e400s",
                                   "9e6s",
                                   "106d",
                                   "1ps",
                                   "0B",
                                   "1B",
                                   "1e30TB",
                                   "1bps",
                                   "0bps",
                                   "9e9Tbps",
                                   "1 Gbps",
                                   "10gbps",
                                   "..",
                                   "1e",
                                   "none",
                                   "\xF0\x9F\x90\xA2",
                                   "\x01\x7F\x1B[2J",
                                   "a\nb",
                                   "../../etc/passwd",
                                   "/dev/zero",
                                   ".",
                                   std::string(10'000, 'x'),
                                   std::string(300, '['),
                                   "{}{:99999999}%s%n"};
    return dice.pick(values);
}

// Changes the unit or the number, or adds digits.
std::string odd_text(const std::string& text, Dice& dice) {
    const std::vector<std::string> units{"ps",   "ns",   "us", "ms", "s",    "min", "h",
                                         "d",    "B",    "kB", "MB", "TB",   "MiB", "bps",
                                         "Gbps", "MBps", "",   "x",  "Tbps", "TiB"};
    const std::vector<std::string> numbers{
        "0",  "1",    "1e3", "1e-30", "1e300", "9223372036854775807", ".", "0.", ".5", "1e", "-1",
        "+1", "0x10", "1,5", "1 ",    "1e18",  std::string(400, '9')};
    const std::size_t digits = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
    if (dice.chance(0.4)) return text.substr(0, digits) + dice.pick(units);
    if (dice.chance(0.5)) return dice.pick(numbers) + text.substr(digits);
    if (dice.chance(0.5)) return text + text;
    return text.substr(0, dice.below(text.size() + 1));
}

// --- structure ---

void collect(Json& node, std::vector<Json*>& into) {
    into.push_back(&node);
    if (node.is_structured())
        for (Json& below : node) collect(below, into);
}

Json& any_node(Json& root, Dice& dice) {
    std::vector<Json*> nodes;
    collect(root, nodes);
    return *dice.pick(nodes);
}

std::vector<std::string> keys_of(const Json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, below] : object.items()) keys.push_back(key);
    return keys;
}

void delete_something(Json& node, Dice& dice) {
    if (node.empty()) return;
    if (node.is_object()) node.erase(dice.pick(keys_of(node)));
    if (node.is_array()) node.erase(dice.below(node.size()));
}

void double_something(Json& node, Dice& dice) {
    if (node.empty()) return;
    if (node.is_array()) node.push_back(Json(node[dice.below(node.size())]));
    if (node.is_object()) {
        const std::string key = dice.pick(keys_of(node));
        const Json copy = node.at(key);
        node[dice.chance(0.5) ? key + "s" : key.substr(0, key.size() / 2)] = copy;
    }
}

void change_number(Json& node, Dice& dice) {
    const std::vector<Json> numbers{-1,
                                    0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    100,
                                    1e-9,
                                    0.5,
                                    1e9,
                                    1e18,
                                    1e308,
                                    -0.0,
                                    std::int64_t{1} << 40,
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::uint64_t>::max(),
                                    5e-324};
    node = dice.pick(numbers);
}

void nest(Json& node, Dice& dice) {
    const std::size_t depth = 20 + dice.below(30);
    for (std::size_t i = 0; i < depth; ++i) {
        Json above = dice.chance(0.5) ? Json::array({node}) : Json{{"kind", node}};
        node = std::move(above);
    }
}

void sweep_something(Json& root, Dice& dice) {
    if (!root.is_object()) return;
    const std::vector<std::string> paths{"cluster.nodes",
                                         "algorithm",
                                         "algorithm.kind",
                                         "sweep",
                                         "",
                                         ".",
                                         "cluster..nodes",
                                         "cluster.fabric",
                                         "workload.batch",
                                         "optimizer.momentum",
                                         "seed",
                                         "stop",
                                         "title",
                                         "cluster.fabric.link",
                                         "algorithm.density",
                                         "other_jobs",
                                         "workload.data.train",
                                         "no.such.path",
                                         "cluster.nodes.more",
                                         "algorithm.mixing.kind"};
    Json values = Json::array();
    for (std::size_t i = dice.below(4); i > 0; --i)
        values.push_back(dice.chance(0.5) ? Json(static_cast<int>(dice.below(9)) + 1)
                                          : odd_value(dice));
    if (!root["sweep"].is_object()) root["sweep"] = Json::object();
    root["sweep"][dice.pick(paths)] = dice.chance(0.9) ? values : odd_value(dice);
}

// Inserts the value of the same key in another scenario, or any value.
void transplant(Json& root, Json donor, Dice& dice) {
    Json& into = any_node(root, dice);
    if (into.is_object() && !into.empty() && dice.chance(0.8)) {
        const std::string key = dice.pick(keys_of(into));
        std::vector<Json*> nodes;
        collect(donor, nodes);
        for (const Json* node : nodes)
            if (node->is_object() && node->contains(key)) {
                into[key] = node->at(key);
                return;
            }
    }
    into = any_node(donor, dice);
}

void change_structure(Json& root, const std::vector<Json>& donors, Dice& dice) {
    Json& node = any_node(root, dice);
    switch (dice.below(10)) {
        case 0:
            return delete_something(node, dice);
        case 1:
            return double_something(node, dice);
        case 2:
            node = odd_value(dice);
            return;
        case 3:
        case 4: {
            Json& other = any_node(root, dice);
            if (other.is_number())
                change_number(other, dice);
            else if (other.is_string())
                other = odd_text(other.get<std::string>(), dice);
            else if (node.is_number())
                change_number(node, dice);
            return;
        }
        case 5:
            return nest(node, dice);
        case 6:
            return sweep_something(root, dice);
        case 7: {
            const Json copy = any_node(root, dice);
            any_node(root, dice) = copy;
            return;
        }
        default:
            return transplant(root, dice.pick(donors), dice);
    }
}

// --- bytes ---

// Replaces the first number after `at`, if there is one.
void change_digits(std::string& text, std::size_t at, Dice& dice) {
    const std::vector<std::string> numbers{"0",   "-1",  "1e999", "99999999999999999999",
                                           "1e5", "0.5", "nan",   "inf",
                                           "1",   "2",   "65536", "4294967296",
                                           "3",   "0.1", "1e-6",  "0.02",
                                           "1.5", "7",   "100",   "1e-13"};
    const std::size_t begin = text.find_first_of("0123456789", at);
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-", begin), text.size());
    text.replace(begin, end - begin, dice.pick(numbers));
}

void change_bytes(std::string& text, Dice& dice) {
    const auto place = [&] { return dice.below(text.size() + 1); };
    const std::size_t at = place();
    switch (dice.below(8)) {
        case 0:
            if (at < text.size())
                text[at] =
                    static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << dice.below(8)));
            return;
        case 1:
            text.resize(at);
            return;
        case 2:
            text.insert(at, std::string(1 + dice.below(5), static_cast<char>(dice.below(256))));
            return;
        case 3:
            text.erase(at, 1 + dice.below(20));
            return;
        case 4: {  // a repeated piece
            const std::string piece = text.substr(at, dice.below(60));
            text.insert(place(), piece);
            return;
        }
        case 5:
            return change_digits(text, at, dice);
        case 6: {
            const std::vector<std::string> pieces{"{",        "}",
                                                  "[",        "]",
                                                  "\"",       ",",
                                                  ":",        "\\",
                                                  "null",     std::string(1, '\0'),
                                                  "\xFF\xFE", "\xEF\xBB\xBF",
                                                  "\n",       "\r",
                                                  ",,",       "\"\"",
                                                  "\\u0000",  "\\ud800"};
            text.insert(at, dice.pick(pieces));
            return;
        }
        default:
            if (at < text.size()) text[at] = static_cast<char>(dice.below(256));
    }
}

// Changes whole lines, as tables have them.
void change_lines(std::string& text, Dice& dice) {
    const std::size_t begin = text.rfind('\n', dice.below(text.size() + 1));
    if (begin == std::string::npos) return change_bytes(text, dice);
    const std::size_t end = text.find('\n', begin + 1);
    if (end == std::string::npos) return change_bytes(text, dice);
    const std::string line = text.substr(begin, end - begin);
    switch (dice.below(3)) {
        case 0:
            text.erase(begin, end - begin);
            return;
        case 1:
            text.insert(begin, line);
            return;
        default:
            text.insert(end, line + "," + line.substr(std::min<std::size_t>(1, line.size())));
    }
}

// Changes the header of a binary file, where the sizes are.
void change_head(std::string& text, Dice& dice) {
    for (std::size_t i = 0; i < 1 + dice.below(3) && !text.empty(); ++i)
        text[dice.below(std::min<std::size_t>(text.size(), 20))] =
            static_cast<char>(dice.chance(0.5) ? 0xFF : dice.below(256));
}

void change_file(std::string& text, bool is_table, Dice& dice) {
    for (std::size_t i = 1 + dice.below(3); i > 0; --i) {
        if (text.empty()) return;
        if (is_table && dice.chance(0.6))
            change_digits(text, text.find('\n') + dice.below(text.size()), dice);
        else if (dice.chance(0.25))
            change_head(text, dice);
        else if (dice.chance(0.3))
            change_lines(text, dice);
        else
            change_bytes(text, dice);
    }
}

// --- inputs ---

constexpr std::string_view frame = R"({
  "cluster": {"nodes": 2, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps"}}},
  "workload": {"gradient": "4kB", "step_time": "1ms"},
  "algorithm": {"kind": "dense"}, "stop": {"iterations": 3, "time": "2s"}})";

Json trained_on(const Json& data, const char* model) {
    Json scenario = Json::parse(frame);
    scenario["workload"] =
        Json{{"model", {{"kind", model}}}, {"data", data}, {"batch", 2}, {"step_time", "1ms"}};
    if (std::string_view(model) == "mlp") scenario["workload"]["model"]["hidden"] = {3};
    if (std::string_view(model) == "lstm") scenario["workload"]["model"]["hidden"] = 3;
    scenario["optimizer"] = Json{{"learning_rate", 0.1}};
    scenario["measure"] = Json{{"every", "1 iterations"}};
    return scenario;
}

struct Named {
    std::string file;  // the file to change
    Json scenario;
};

std::vector<Named> of_data() {
    const Json idx{{"kind", "idx"},
                   {"train_images", "images.idx"},
                   {"train_labels", "labels.idx"},
                   {"test_images", "images.idx"},
                   {"test_labels", "labels.idx"}};
    const Json cifar{{"kind", "cifar-10"}, {"train", {"cifar.bin"}}, {"test", "cifar.bin"}};
    const Json words{{"kind", "text"}, {"file", "text.txt"}, {"steps", 3}};
    Json letters = words;
    letters["unit"] = "characters";
    return {{"images.idx", trained_on(idx, "mlp")},
            {"labels.idx", trained_on(idx, "softmax-regression")},
            {"images.idx", trained_on(idx, "cnn")},
            {"cifar.bin", trained_on(cifar, "softmax-regression")},
            {"text.txt", trained_on(words, "lstm")},
            {"text.txt", trained_on(letters, "lstm")},
            {"table.csv",
             trained_on({{"kind", "csv"}, {"file", "table.csv"}, {"label", "kind"}}, "mlp")},
            {"table.csv", trained_on({{"kind", "csv"}, {"file", "table.csv"}, {"target", "y"}},
                                     "linear-regression")}};
}

std::vector<Named> of_traces() {
    Json link = Json::parse(frame);
    link["cluster"]["access"] =
        Json::array({{{"kind", "trace"}, {"file", "link.csv"}, {"period", "5s"}}});
    Json once = link;
    once["cluster"]["access"][0].erase("period");
    Json absences = Json::parse(frame);
    absences["cluster"]["failures"] = {{"trace", {{"file", "absences.csv"}}}, {"detection", "1ms"}};
    Json again = absences;
    again["cluster"]["failures"]["trace"]["period"] = "5s";
    return {{"link.csv", link},
            {"link.csv", once},
            {"absences.csv", absences},
            {"absences.csv", again}};
}

std::vector<Named> of_profiles() {
    Json plain = Json::parse(frame);
    plain["workload"] = Json{{"profile", "profile.json"}, {"device", "k80"}, {"batch", 4}};
    Json estimated = plain;
    estimated["workload"]["efficiency"] = 0.4;
    estimated["algorithm"] = Json{{"kind", "ddp"}, {"schedule", "2kB"}};
    Json sparse = plain;
    sparse["algorithm"] = Json{{"kind", "dgc"}};
    Json stand_in = trained_on({{"kind", "gaussian-mixture"}, {"train", 20}, {"test", 5}}, "mlp");
    stand_in["workload"].erase("step_time");
    stand_in["workload"]["stand_in_for"] = Json{{"profile", "profile.json"}, {"step_time", "1ms"}};
    Json measured = Json::parse(frame);
    measured["workload"] = Json{{"profile", "measured.json"}};
    Json into_forward = measured;
    into_forward["workload"]["step_time"] = "2ms";
    into_forward["algorithm"] =
        Json{{"kind", "sgd"}, {"schedule", {{"pieces", "tensors"}, {"begin", "into-forward"}}}};
    return {{"profile.json", plain},         {"measured.json", measured},
            {"measured.json", into_forward}, {"profile.json", estimated},
            {"profile.json", sparse},        {"profile.json", stand_in}};
}

Json of_edges(Dice& dice) {
    Json scenario = Json::parse(frame);
    const std::size_t nodes = 2 + dice.below(6);
    scenario["cluster"]["nodes"] = nodes;
    Json mixing{{"kind", "explicit"}, {"edges", Json::array()}};
    const bool weighted = dice.chance(0.5);
    for (std::size_t i = 0; i + 1 < nodes; ++i) {
        mixing["edges"].push_back(Json::array({i, i + 1}));
        if (weighted) mixing["edges"].back().push_back(0.3);
    }
    if (dice.chance(0.3)) mixing["directed"] = dice.chance(0.5);
    if (dice.chance(0.3)) mixing["weights"] = dice.chance(0.5) ? "uniform" : "metropolis";
    const std::vector<std::string> algorithms{"dsgd", "sgp", "decentlam", "swarm-sgd", "d2-dmsgd"};
    scenario["algorithm"] = Json{{"kind", dice.pick(algorithms)}, {"mixing", mixing}};
    return scenario;
}

std::string as_text(const Json& json, Dice& dice) {
    return json.dump(dice.chance(0.5) ? 1 : -1, ' ', false, Json::error_handler_t::replace);
}

void write_with_a_changed_file(const std::vector<Named>& inputs, Dice& dice,
                               const fs::path& folder) {
    const Named& input = dice.pick(inputs);
    std::string content = companions().at(input.file);
    const bool is_table = input.file.ends_with(".csv");
    const bool zipped = !input.file.ends_with(".json") && dice.chance(0.2);
    if (zipped && dice.chance(0.5)) {
        change_file(content, is_table, dice);
        content = gzip(content);
    } else {
        if (zipped) content = gzip(content);
        if (input.file.ends_with(".json") && dice.chance(0.5)) {
            Json profile = Json::parse(content);
            change_structure(profile, {Json::parse(frame)}, dice);
            content = as_text(profile, dice);
        } else {
            change_file(content, is_table, dice);
        }
    }
    write_bytes(folder / input.file, content);
    write_bytes(folder / "scenario.json", as_text(input.scenario, dice));
}

bool makes_much(const Json& data) {
    constexpr double most = 3000;
    if (data.is_number()) return data.get<double>() > most && data.get<double>() <= 1e9;
    if (!data.is_structured()) return false;
    return std::ranges::any_of(data, [](const Json& below) { return makes_much(below); });
}

}  // namespace

bool makes_much_data(const Json& scenario) {
    if (!scenario.is_structured()) return false;
    if (!scenario.is_object())
        return std::ranges::any_of(scenario, [](const Json& one) { return makes_much_data(one); });
    for (const auto& [key, below] : scenario.items()) {
        if ((key.find("data") != std::string::npos || key.starts_with("cluster.")) &&
            key != "dataset_samples" && makes_much(below))
            return true;
        if (makes_much_data(below)) return true;
    }
    return false;
}

std::span<const std::string_view> mutation_kinds() {
    return kinds;
}

Corpus::Corpus(const fs::path& root) : root_(root) {
    const auto add = [&](Json scenario) {
        shrink(scenario, false);
        scenarios_.push_back(std::move(scenario));
    };
    for (const char* folder : {"scenarios", "scenarios/validation"})
        for (const fs::path& file : json_files(root / folder)) {
            if (file.filename() == "published.json") continue;
            const std::string text = read_file(file);
            if (text.size() <= 50'000) add(Json::parse(text));
        }
    for (const RefusedScenario& refused : refused_scenarios(root)) {
        Json scenario = Json::parse(refused.text, nullptr, false);
        if (!scenario.is_discarded() && !makes_much_data(scenario)) add(std::move(scenario));
    }
}

fs::path Corpus::write(std::string_view kind, std::uint64_t seed, const fs::path& folder) const {
    Dice dice(RandomStreams(seed).stream(kind));
    fs::create_directories(folder);
    write_companions(folder);
    for (const char* beside : {"traces", "files"})  // named by scenarios of tests/refusals
        if (!fs::exists(folder / beside))
            fs::create_directory_symlink(fs::absolute(root_ / "tests" / "refusals" / beside),
                                         folder / beside);
    const fs::path file = folder / "scenario.json";
    if (kind == "data") return write_with_a_changed_file(of_data(), dice, folder), file;
    if (kind == "trace") return write_with_a_changed_file(of_traces(), dice, folder), file;
    if (kind == "profile") return write_with_a_changed_file(of_profiles(), dice, folder), file;

    Json scenario = kind == "failures"  ? failing_scenario(seed)
                    : kind == "network" ? network_scenario(seed)
                                        : random_scenario(seed);
    if (kind == "mixing") scenario = of_edges(dice);
    if ((kind == "structure" || kind == "bytes") && dice.chance(0.5))
        scenario = dice.pick(scenarios_);
    std::string text;
    if (kind == "bytes") {
        text = as_text(scenario, dice);
        for (std::size_t i = 1 + dice.below(4); i > 0; --i) change_bytes(text, dice);
    } else {
        if (kind == "structure")
            for (std::size_t i = 1 + dice.below(3); i > 0; --i)
                change_structure(scenario, scenarios_, dice);
        if (kind == "mixing")
            for (std::size_t i = dice.below(3); i > 0; --i)
                change_structure(scenario["algorithm"], {scenario}, dice);
        text = as_text(scenario, dice);
    }
    write_bytes(file, text);
    return file;
}

}  // namespace paceline
