// `paceline run --trace`: what a trace contains, and what tracing does not change.
#include "app/study/tracing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/run_study.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/studies/run_points.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::tracing_test {
namespace {

using doctest::Approx;
using Json = nlohmann::json;

// A trace as viewers read it, checked against the rules of the format that Perfetto enforces. It is
// written from the rules, without the writer's code.
struct TracedSlice {
    std::string process;
    std::string thread;
    std::string name;
    std::int64_t begin_ps = 0;
    std::int64_t end_ps = 0;
    nlohmann::json args;
    std::size_t depth = 0;  // 0: not nested in another
};

struct TracedUse {
    std::string process;
    std::string name;
    std::int64_t at_ps = 0;
    double use = 0;
};

struct TracedArrow {
    TracedSlice from;  // as much as is known where the arrow starts
    std::string to_process;
    std::int64_t begin_ps = 0;
    std::int64_t end_ps = 0;
};

class TraceFile {
  public:
    /// Throws std::runtime_error, naming the rule that an event breaks.
    explicit TraceFile(const std::string& text) : json_(nlohmann::json::parse(text)) {
        require(json_.at("displayTimeUnit") == "ns", "times are shown in ns");
        for (const nlohmann::json& event : json_.at("traceEvents")) name(event);
        for (const nlohmann::json& event : json_.at("traceEvents")) {
            if (event.at("ph") == "M") continue;
            read(event);
            ++events;
        }
        for (const auto& [thread, open] : open_) require(open.empty(), "every slice ends");
        require(begun_.empty(), "every arrow ends");
    }

    std::vector<TracedSlice> slices;  // in the order of their ends
    std::vector<TracedUse> uses;
    std::vector<TracedArrow> arrows;
    std::vector<std::string> instants;
    std::size_t events = 0;  // not counting name events

    [[nodiscard]] const nlohmann::json& facts() const { return json_.at("otherData"); }
    [[nodiscard]] std::set<std::string> processes() const {
        std::set<std::string> names;
        for (const auto& [pid, name] : processes_) names.insert(name);
        return names;
    }
    /// Slices of a thread and of its additional lanes.
    [[nodiscard]] std::vector<TracedSlice> on(const std::string& process,
                                              const std::string& thread) const {
        std::vector<TracedSlice> found;
        for (const TracedSlice& slice : slices)
            if ((process.empty() || slice.process == process) &&
                (slice.thread == thread || slice.thread.starts_with(thread + " (")))
                found.push_back(slice);
        return found;
    }

  private:
    static void require(bool holds, const std::string& rule) {
        if (!holds) throw std::runtime_error(rule);
    }
    static std::int64_t ps_of(const nlohmann::json& event) {
        return std::llround(event.at("ts").get<double>() * 1e6);
    }

    void name(const nlohmann::json& event) {
        if (event.at("ph") != "M") return;
        const std::string& what = event.at("name").get_ref<const std::string&>();
        const int pid = event.at("pid").get<int>();
        if (what == "process_name")
            require(processes_.emplace(pid, event.at("args").at("name")).second,
                    "a process has one name");
        if (what != "thread_name") return;
        const int thread = event.at("tid").get<int>();
        require(threads_.emplace(thread, event.at("args").at("name")).second,
                "a thread's number is its own in the whole file");
        process_of_[thread] = pid;
    }

    void read(const nlohmann::json& event) {
        const std::string phase = event.at("ph");
        const std::int64_t at = ps_of(event);
        require(at >= last_ps_, "events stand in the order of time");
        last_ps_ = at;
        const int pid = event.at("pid").get<int>();
        require(processes_.contains(pid), "a process has a name");
        if (phase == "C") return read_use(event, at);
        if (phase == "i") return instants.push_back(event.at("name"));
        const int thread = event.at("tid").get<int>();
        require(threads_.contains(thread), "a thread has a name");
        require(process_of_.at(thread) == pid, "a thread belongs to one process");
        std::vector<TracedSlice>& open = open_[thread];
        if (phase == "B") {
            open.push_back({processes_.at(pid), threads_.at(thread), event.at("name"), at, 0,
                            event.value("args", nlohmann::json::object()), open.size()});
        } else if (phase == "E") {
            require(!open.empty(), "a slice ends that has begun");
            open.back().end_ps = at;
            slices.push_back(open.back());
            open.pop_back();
        } else {
            read_arrow(event, phase, at, open);
        }
    }

    void read_use(const nlohmann::json& event, std::int64_t at) {
        const double use = event.at("args").at("use").get<double>();
        require(use >= 0 && use <= 1, "a use is a share");
        uses.push_back({processes_.at(event.at("pid").get<int>()), event.at("name"), at, use});
    }

    void read_arrow(const nlohmann::json& event, const std::string& phase, std::int64_t at,
                    const std::vector<TracedSlice>& open) {
        require(phase == "s" || phase == "f", "phases are known");
        require(!open.empty(), "an arrow lies in a slice");
        const auto id = event.at("id").get<std::uint64_t>();
        if (phase == "s") {
            require(known_.insert(id).second, "an arrow begins once");
            begun_.emplace(id, TracedArrow{open.back(), "", at, 0});
            return;
        }
        require(event.at("bp") == "e", "an arrow ends in the slice around it");
        const auto found = begun_.find(id);
        require(found != begun_.end(), "an arrow ends once, and behind its beginning");
        found->second.to_process = open.back().process;
        found->second.end_ps = at;
        arrows.push_back(found->second);
        begun_.erase(found);
    }

    nlohmann::json json_;
    std::map<int, std::string> processes_;
    std::map<int, std::string> threads_;
    std::map<int, int> process_of_;
    std::map<int, std::vector<TracedSlice>> open_;
    std::set<std::uint64_t> known_;
    std::map<std::uint64_t, TracedArrow> begun_;
    std::int64_t last_ps_ = 0;
};

// Two nodes: 1 ms of computing, 2 MB in two chunks of 1 MB at 3 Gbps, which take 2666666667 ps each
// and arrive 10 us later, and 0.5 ms of update.
constexpr std::int64_t compute_ps = 1'000'000'000;
constexpr std::int64_t chunk_ps = 2'666'666'667;
constexpr std::int64_t latency_ps = 10'000'000;
constexpr std::int64_t update_ps = 500'000'000;
constexpr std::int64_t step_ps = compute_ps + 2 * (chunk_ps + latency_ps) + update_ps;

const Json two_nodes = Json::parse(R"({
  "cluster": {"nodes": 2, "fabric": {"kind": "star",
                                     "link": {"bandwidth": "3Gbps", "latency": "5us"}}},
  "workload": {"gradient": "2MB", "step_time": "1ms", "update_time": "500us"},
  "algorithm": {"kind": "dense"}, "stop": {"iterations": 3}})");

Json changed(Json json, const Json& changes) {
    json.merge_patch(changes);
    return json;
}

struct Traced {
    Metrics metrics;
    std::string text;
    std::vector<std::string> warnings;

    [[nodiscard]] TraceFile file() const { return TraceFile(text); }
};

Traced trace(const Study& study, const TraceArguments& arguments = {}, std::size_t point = 0) {
    const TemporaryFolder folder;
    Tracing tracing(study, arguments);
    tracing.write_into(folder.path());
    Traced traced;
    traced.metrics = tracing.run(point, study.points[point].scenario, nullptr);
    traced.text = content(folder.path() / "traces" / fmt::format("point-{}.json", point));
    traced.warnings = tracing.warnings();
    return traced;
}

Study study_of(const Json& json) {
    const TemporaryFolder folder;
    return read_study(folder.write("study.json", json.dump()), {});
}

Traced trace(const Json& json, const TraceArguments& arguments = {}) {
    return trace(study_of(json), arguments);
}

struct Span {
    std::string name;
    std::int64_t begin_ps;
    std::int64_t end_ps;

    bool operator==(const Span&) const = default;
};

std::vector<Span> spans_on(const TraceFile& file, const std::string& process,
                           const std::string& thread) {
    std::vector<Span> spans;
    for (const TracedSlice& slice : file.on(process, thread))
        spans.push_back({slice.name, slice.begin_ps, slice.end_ps});
    return spans;
}

TEST_CASE("tracing: on two nodes every slice is where the closed form puts it, to the picosecond") {
    const TraceFile file = trace(two_nodes).file();

    for (const int node : {0, 1}) {
        CAPTURE(node);
        const std::string name = fmt::format("node {}", node);
        const std::string to = fmt::format("message to node {}, 1 MB", 1 - node);
        const std::string from = fmt::format("message from node {}, 1 MB", 1 - node);
        std::vector<Span> steps, computed, collectives, up, down;
        for (std::int64_t k = 0; k < 3; ++k) {
            const std::int64_t begin = k * step_ps;
            const std::int64_t sends = begin + compute_ps;
            const std::int64_t again = sends + chunk_ps + latency_ps;
            const std::int64_t done = again + chunk_ps + latency_ps;
            steps.push_back({fmt::format("step {}", k), begin, begin + step_ps});
            computed.push_back({fmt::format("gradient {}", k), begin, sends});
            computed.push_back({fmt::format("update {}", k), done, done + update_ps});
            collectives.push_back({"ring all-reduce", sends, done});
            up.push_back({to, sends, sends + chunk_ps});
            up.push_back({to, again, again + chunk_ps});
            down.push_back({from, sends + latency_ps, again});
            down.push_back({from, again + latency_ps, done});
        }
        CHECK(spans_on(file, name, "steps") == steps);
        CHECK(spans_on(file, name, "compute") == computed);
        CHECK(spans_on(file, name, "collectives") == collectives);
        CHECK(spans_on(file, name, "up") == up);
        CHECK(spans_on(file, name, "down") == down);
    }
    CHECK(file.arrows.size() == 12);
    for (const TracedArrow& arrow : file.arrows) {
        CHECK(arrow.from.process != arrow.to_process);
        CHECK(arrow.begin_ps == arrow.from.begin_ps);
        CHECK(arrow.end_ps == arrow.begin_ps + chunk_ps + latency_ps);
    }
}

TEST_CASE("tracing: links are used whole while a message has them, and not at all otherwise") {
    const TraceFile file = trace(two_nodes).file();

    for (const std::string& process : {"node 0", "node 1"})
        for (const std::string& way : {"up", "down"}) {
            std::vector<std::pair<std::int64_t, double>> uses, expected{{0, 0}};
            for (const TracedUse& use : file.uses)
                if (use.process == process && use.name == way)
                    uses.emplace_back(use.at_ps, use.use);
            for (std::int64_t k = 0; k < 3; ++k)
                for (const int chunk : {0, 1}) {
                    const std::int64_t sends =
                        k * step_ps + compute_ps + chunk * (chunk_ps + latency_ps);
                    expected.emplace_back(sends, 1);
                    expected.emplace_back(sends + chunk_ps, 0);
                }
            CHECK(uses == expected);
        }
    CHECK(file.processes() == std::set<std::string>{"node 0", "node 1"});
}

TEST_CASE("tracing: an argument says bytes, rate, ends, latency and round of a message") {
    const TraceFile file = trace(two_nodes).file();
    const TracedSlice first = file.on("node 0", "up").front();
    const Json& args = first.args;
    CHECK(args.at("bytes") == 1'000'000);
    CHECK(args.at("from") == "node 0");
    CHECK(args.at("to") == "node 1");
    CHECK(args.at("latency_us") == 10);
    CHECK(args.at("stream") == "group 1 round 0");
    CHECK(args.at("mean_bits_per_second").get<double>() == Approx(3e9).epsilon(1e-9));
}

TEST_CASE("tracing: messages of several rings of a round say which ring has them") {
    const Json json = changed(two_nodes, Json::parse(R"({"cluster": {"devices_per_node": 2,
            "nics": 2, "bus": {"kind": "switched", "link": {"bandwidth": "50Gbps"}}},
        "workload": {"step_time": null, "gradient_time": "1ms"},
        "algorithm": {"kind": "dense",
            "aggregation": {"kind": "all-reduce", "plan": {"kind": "ring", "rings": "per-card"}}}})"));
    const TraceFile file = trace(json).file();

    std::set<std::string> streams;
    for (const std::string& process : file.processes())
        for (const TracedSlice& slice : file.on(process, "up"))
            streams.insert(slice.args.at("stream").get<std::string>());
    CHECK(streams.contains("group 1 round 0"));
    CHECK(streams.contains("group 1 round 0, ring 1"));
    CHECK(!streams.contains("group 1 round 0, ring 2"));
}

// Overlapping flows of one node: an exchange with two neighbors, each at half of the link.
TEST_CASE("tracing: messages that overlap stand on lanes of their own and share the link") {
    const Json json = changed(two_nodes, Json::parse(R"({"cluster": {"nodes": 4},
                                   "algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}}})"));
    const TraceFile file = trace(json).file();

    std::set<std::string> lanes;
    for (const TracedSlice& slice : file.on("node 2", "up")) {
        lanes.insert(slice.thread);
        CHECK(slice.depth == 0);
        CHECK(slice.args.at("mean_bits_per_second").get<double>() == Approx(1.5e9).epsilon(1e-9));
    }
    CHECK(lanes == std::set<std::string>{"up", "up (2)"});
}

TEST_CASE("tracing: buckets of a gradient lie in it, and their all-reduces beside it") {
    const Json json =
        changed(two_nodes, Json::parse(R"({"workload": {"gradient": null, "profile": "alexnet"},
                                   "algorithm": {"kind": "dense-overlapped", "bucket": "60MB"}})"));
    const TraceFile file = trace(json).file();

    std::int64_t inner = 0;
    std::int64_t outer = 0;
    for (const TracedSlice& slice : file.on("node 0", "compute")) {
        if (slice.name.starts_with("bucket")) {
            CHECK(slice.depth == 1);
            inner += slice.end_ps - slice.begin_ps;
        }
        if (slice.name.starts_with("gradient")) outer += slice.end_ps - slice.begin_ps;
    }
    CHECK(inner == outer);
    CHECK(outer == 3 * compute_ps);
}

// --- laws that hold for all kinds of scenarios ---

// What the slices of a run must sum to.
void check_laws(const TraceFile& file, const Metrics& metrics, const Scenario& scenario) {
    double sent = 0;
    double received = 0;
    std::int64_t gradients_ps = 0;
    std::set<std::pair<std::string, std::string>> gradients;  // those that wait in between are cut
    for (const TracedSlice& slice : file.slices) {
        const bool of_worker = slice.process.starts_with("node ");
        const bool whole = !slice.args.value("cut", false);
        const bool drained = slice.args.contains("mean_bits_per_second");
        if (of_worker && drained && slice.thread.starts_with("up"))
            sent += slice.args.at("bytes").get<double>();
        if (of_worker && slice.thread.starts_with("down") && whole && !slice.args.contains("lost"))
            received += slice.args.at("bytes").get<double>();
        if (!of_worker || slice.thread.find("compute") == std::string::npos) continue;
        if (slice.name.starts_with("bucket")) continue;
        if (slice.name.starts_with("gradient"))
            gradients.emplace(slice.process + slice.thread, slice.name);
        gradients_ps += slice.end_ps - slice.begin_ps;
    }
    if (metrics.outcome != "finished" || scenario.cluster.failures) return;  // some are cut short
    CHECK(sent == Approx(metrics.total_sent_gb.value() * 1e9).epsilon(1e-12));
    CHECK(received == Approx(metrics.total_received_gb.value() * 1e9).epsilon(1e-12));
    if (!metrics.compute_s) return;
    const double all = metrics.iterations * metrics.devices;
    CHECK(static_cast<double>(gradients.size()) == Approx(all));
    CHECK(static_cast<double>(gradients_ps) * 1e-12 == Approx(*metrics.compute_s * all));
}

// Slices of a worker's compute, collectives and waiting tracks, which a device's name may precede.
std::vector<TracedSlice> doings_of(const TraceFile& file, const std::string& process,
                                   const std::string& device) {
    std::vector<TracedSlice> all;
    for (const char* track : {"compute", "collectives", "waiting"})
        for (const TracedSlice& slice : file.on(process, device + track)) all.push_back(slice);
    std::ranges::sort(all, {}, &TracedSlice::begin_ps);
    return all;
}

// From its first step until the run ends a worker computes, is in a collective, or waits.
void check_no_gaps(const TraceFile& file, std::int64_t end_ps) {
    for (const TracedSlice& step : file.slices) {
        const std::size_t name = step.thread.find("steps");
        if (!step.process.starts_with("node ") || name == std::string::npos) continue;
        if (step.name != "step 0") continue;
        CAPTURE(step.process);
        std::int64_t covered = step.begin_ps;
        for (const TracedSlice& slice :
             doings_of(file, step.process, step.thread.substr(0, name))) {
            CAPTURE(slice.name);
            CHECK(slice.begin_ps <= covered);
            covered = std::max(covered, slice.end_ps);
        }
        CHECK(covered == end_ps);
    }
}

// A point's results as results.csv holds them, with and without a trace.
void check_point(const Study& study, std::size_t point) {
    TraceArguments all;
    all.points = "all";
    const Traced traced = trace(study, all, point);
    const Metrics plain = run_point(study.points[point].scenario, nullptr);
    const Study one{study.file, study.title, {}, {study.points[point]}};
    CHECK(results_csv({one, {{traced.metrics}}}) == results_csv({one, {{plain}}}));
    CHECK(traced.warnings.empty());

    const TraceFile file = traced.file();
    check_laws(file, plain, study.points[point].scenario);
    if (!study.points[point].scenario.cluster.failures)
        check_no_gaps(file, std::llround(plain.sim_time_s * 1e12));
    CHECK(trace(study, all, point).text == traced.text);
}

Json shipped(const std::string& name) {
    return Json::parse(content(std::filesystem::path(PACELINE_SOURCE_DIR) / "scenarios" / name));
}

Json every_algorithm(bool trains) {
    Json study = shipped("all-algorithms.json");
    study.erase("$schema");
    study["measure"] = Json::object();
    study["cluster"]["nodes"] = 4;
    study["sweep"].erase("cluster.fabric.link.preset");
    study["stop"] = {{"iterations", 3}};
    if (trains) {
        study["workload"] = Json::parse(R"({
            "model": {"kind": "mlp", "hidden": [8]}, "batch": 8,
            "data": {"kind": "gaussian-mixture", "train": 64, "test": 16},
            "step_time": "1ms", "update_time": "100us"})");
        return study;
    }
    for (const char* key : {"optimizer", "measure"}) study.erase(key);
    study["workload"] = {{"profile", "alexnet"}, {"step_time", "344ms"}, {"update_time", "3ms"}};
    for (Json& algorithm : study["sweep"]["algorithm"]) algorithm.erase("optimizer");
    return study;
}

TEST_CASE("tracing: for every algorithm the rules and laws hold, and results do not change") {
    for (const bool trains : {false, true}) {
        const Study study = study_of(every_algorithm(trains));
        for (std::size_t point = 0; point < study.points.size(); ++point) {
            const std::string label = study.points[point].scenario.algorithm.label;
            CAPTURE(trains);
            CAPTURE(label);
            check_point(study, point);
        }
    }
}

// A worker of a parameter server computes 1 ms, sends 3 MB and receives 3 MB at 3 Gbps, which is 8
// ms each and 10 us on the way.
TEST_CASE("tracing: a worker waits for its server's answer, to the picosecond") {
    const TraceFile file = trace(changed(two_nodes, Json::parse(R"({
        "cluster": {"nodes": 1}, "algorithm": {"kind": "ps-async"},
        "workload": {"gradient": "3MB", "update_time": "0s"}, "stop": {"iterations": 2}})")))
                               .file();
    constexpr std::int64_t away_ps = 2 * (8'000'000'000 + latency_ps);
    constexpr std::int64_t first = compute_ps + away_ps;
    CHECK(spans_on(file, "node 0", "waiting") ==
          std::vector<Span>{{"waiting for messages", compute_ps, first},
                            {"waiting for messages", first + compute_ps, first + first}});
}

// What waits in a trace sum to is what TimeAccounts finds without looking at them.
TEST_CASE("tracing: waits of methods without rounds are those of results.csv") {
    const Json one = changed(two_nodes, Json::parse(R"({
        "cluster": {"nodes": 6, "stragglers": {"factor": 3, "share": 0.3}},
        "algorithm": {"kind": "ps-async"}, "stop": {"iterations": 8},
        "sweep": {"algorithm": [
            {"kind": "ps-async"},
            {"kind": "swarm-sgd", "mixing": {"kind": "complete"}, "mode": "blocking",
             "label": "blocking"},
            {"kind": "swarm-sgd", "mixing": {"kind": "complete"}},
            {"kind": "ad-psgd"}]}})"));
    const Study study = study_of(one);
    for (std::size_t point = 0; point < study.points.size(); ++point) {
        CAPTURE(point);
        TraceArguments all;
        all.points = "all";
        const Traced traced = trace(study, all, point);
        std::map<std::string, double> waits;
        const TraceFile file = traced.file();
        for (const TracedSlice& slice : file.on("", "waiting"))
            waits[slice.name] += static_cast<double>(slice.end_ps - slice.begin_ps) * 1e-12;
        const Metrics& m = traced.metrics;
        const double whole = m.sim_time_s * m.nodes;
        if (point < 2) CHECK(waits["waiting for messages"] > 0);  // others compute meanwhile
        CHECK(waits["waiting for messages"] == Approx(m.waiting_network_share.value() * whole));
        CHECK(waits["waiting for stragglers"] ==
              Approx(m.waiting_stragglers_share.value() * whole));
        check_no_gaps(file, std::llround(m.sim_time_s * 1e12));
    }
}

TEST_CASE("tracing: links between switches have the names that explain gives them") {
    const Json json = changed(two_nodes, Json::parse(R"({
        "cluster": {"nodes": 4, "fabric": {"kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 1}},
        "stop": {"iterations": 1}})"));
    std::set<std::string> names;
    for (const TracedUse& use : trace(json).file().uses)
        if (use.process == "links") names.insert(use.name);
    CHECK(names == std::set<std::string>{"leaf 0 -> spine 0", "leaf 1 -> spine 0",
                                         "spine 0 -> leaf 0", "spine 0 -> leaf 1"});
}

TEST_CASE("tracing: for every collective the rules and laws hold") {
    const Json one = changed(two_nodes, Json::parse(R"({
        "cluster": {"nodes": 6}, "workload": {"update_time": "0s"},
        "algorithm": {"kind": "collective", "operation": "all-reduce"},
        "sweep": {"algorithm": [
            {"kind": "collective", "label": "a", "operation": "all-reduce"},
            {"kind": "collective", "label": "b", "operation": "reduce-scatter"},
            {"kind": "collective", "label": "c", "operation": "all-gather-bruck"},
            {"kind": "collective", "label": "d", "operation": "all-to-all"},
            {"kind": "collective", "label": "e", "operation": "broadcast"},
            {"kind": "collective", "label": "f", "operation": "reduce"},
            {"kind": "dense", "label": "g", "all_reduce": "tree"},
            {"kind": "dense", "label": "h", "all_reduce": "halving-doubling"},
            {"kind": "dense", "label": "i", "all_reduce": {"kind": "parameter-server"}}]}})"));
    const Study study = study_of(one);
    for (std::size_t point = 0; point < study.points.size(); ++point) {
        CAPTURE(point);
        check_point(study, point);
    }
}

// A network with many faults, chosen by seed.
const std::vector<std::pair<std::string, std::string>> hard_networks{
    {"nodes die and are waited for", R"({"cluster": {"failures":
        {"mean_between": "100ms", "mean_repair": "20ms", "on_death": "go-on", "detection": "1ms"}}})"},
    {"nodes die and all restart", R"({"cluster": {"failures":
        {"mean_between": "200ms", "mean_repair": "5ms", "on_death": "restart", "detection": "1ms",
         "checkpoint": {"every": "20ms", "write": "1ms", "read": "1ms"}}}})"},
    {"outages pause", R"({"cluster": {"access": [
        {"kind": "outages", "mean_between": "10ms", "mean_length": "3ms"}]}})"},
    {"outages make transfers begin again", R"({"cluster": {"access": [
        {"kind": "outages", "mean_between": "10ms", "mean_length": "3ms", "transfers": "restart"},
        {"kind": "on-off", "on": "5ms", "off": "2ms", "bandwidth_off": "100Mbps"}]}})"},
    {"cells", R"({"cluster": {"fabric": {"kind": "cell", "nodes_per_cell": 3, "capacity": "4Gbps",
        "link": {"bandwidth": "3Gbps", "latency": "5us"}}}})"},
    {"links jitter and lose", R"({"cluster": {"fabric": {"link": {"loss": 0.01,
        "jitter": {"kind": "normal", "mean": "1ms", "sd": "500us"}}}}})"},
    {"background traffic and another job", R"({"cluster": {"background": [
        {"kind": "constant", "from": 1, "to": 2, "rate": "1Gbps", "message": "100kB"}]},
        "other_jobs": [{"label": "other", "nodes": [0, 2],
                        "workload": {"gradient": "1MB", "step_time": "1ms"},
                        "algorithm": {"kind": "dense"}}]})"},
    {"stragglers", R"({"cluster": {"stragglers": {"factor": 4, "share": 0.5}}})"},
};

TEST_CASE("tracing: with failing nodes, failing links and other jobs, the rules and laws hold") {
    for (const auto& [name, changes] : hard_networks)
        for (const char* algorithm :
             {R"({"kind": "dense"})", R"({"kind": "dsgd", "mixing": {"kind": "ring"}})"})
            for (const int seed : {1, 2, 3}) {
                CAPTURE(name);
                CAPTURE(algorithm);
                CAPTURE(seed);
                Json json = changed(two_nodes, Json::parse(changes));
                json["cluster"]["nodes"] = 6;
                json["seed"] = seed;
                json["stop"]["iterations"] = 12;
                json["algorithm"] = Json::parse(algorithm);
                check_point(study_of(json), 0);
            }
}

TEST_CASE("tracing: devices of one machine have tracks of their own, and share its cable") {
    const Json json = changed(two_nodes, Json::parse(R"({
        "cluster": {"devices_per_node": 2,
                    "bus": {"kind": "switched", "link": {"bandwidth": "100Gbps", "latency": "1us"}}},
        "workload": {"step_time": null, "gradient_time": "1ms"},
        "algorithm": {"kind": "dense", "all_reduce": "hierarchical"}})"));
    const Study study = study_of(json);
    check_point(study, 0);
    const TraceFile file = trace(study).file();

    CHECK(file.on("node 0", "device 0: compute").size() == 6);
    CHECK(file.on("node 0", "device 1: compute").size() == 6);
    CHECK(file.on("node 0", "device 1: bus out").size() == 6);  // 2 (g - 1) per step
    CHECK(file.on("node 0", "up").size() == 12);                // 2 (p - 1) per step and device
    double most = 0;
    for (const TracedUse& use : file.uses)
        if (use.process == "node 1" && use.name == "up") most = std::max(most, use.use);
    CHECK(most == 1);
}

TEST_CASE(
    "tracing: what a node computes when it dies ends there, and it is away until it returns") {
    const Json json = changed(two_nodes, Json::parse(R"({
        "cluster": {"nodes": 3, "failures": {"on_death": "go-on", "detection": "1us",
            "schedule": [{"node": 1, "at": "7.1ms", "for": "3ms"}]}},
        "stop": {"iterations": 6}})"));
    const TraceFile file = trace(json).file();

    const auto ends_at = [&](const std::string& thread) {
        return std::ranges::count_if(file.on("node 1", thread), [](const TracedSlice& slice) {
            return slice.end_ps == 7'100'000'000 && slice.begin_ps < slice.end_ps;
        });
    };
    CHECK(ends_at("steps") == 1);
    CHECK(ends_at("compute") + ends_at("collectives") >= 1);
    const auto away = spans_on(file, "node 1", "waiting");
    CHECK(std::ranges::any_of(away, [](const Span& span) {
        return span.name == "away" && span.begin_ps == 7'100'000'000 &&
               span.end_ps >= 10'100'000'000;
    }));
    for (const TracedSlice& slice : file.on("node 1", "compute"))
        CHECK((slice.end_ps <= 7'100'000'000 || slice.begin_ps >= 10'100'000'000));
}

TEST_CASE("tracing: what an outage undoes is sent again in the same slice") {
    const Json json = changed(two_nodes, Json::parse(R"({
        "cluster": {"access": [{"kind": "outages", "nodes": [0], "transfers": "restart",
                                "schedule": [{"at": "2ms", "for": "1ms"}]}]},
        "stop": {"iterations": 1}})"));
    const TraceFile file = trace(json).file();

    // Both first messages flow for 1 ms, lose that progress, and start again at 3 ms.
    const TracedSlice up = file.on("node 0", "up").front();
    CHECK(up.begin_ps == compute_ps);
    CHECK(up.end_ps == 3 * compute_ps + chunk_ps);
    CHECK(up.args.at("restarts") == 1);
    const TracedSlice down = file.on("node 1", "down").front();
    CHECK(down.begin_ps == 3 * compute_ps + latency_ps);
    CHECK(down.end_ps == up.end_ps + latency_ps);
    std::vector<std::pair<std::int64_t, double>> uses;
    for (const TracedUse& use : file.uses)
        if (use.process == "node 0" && use.name == "up") uses.emplace_back(use.at_ps, use.use);
    uses.resize(5);
    CHECK(uses == std::vector<std::pair<std::int64_t, double>>{{0, 0},
                                                               {compute_ps, 1},
                                                               {2 * compute_ps, 0},
                                                               {3 * compute_ps, 1},
                                                               {3 * compute_ps + chunk_ps, 0}});
}

// --- narrower traces ---

Json ring_of(int nodes, int iterations) {
    return changed(two_nodes,
                   {{"cluster", {{"nodes", nodes}}}, {"stop", {{"iterations", iterations}}}});
}

TEST_CASE("tracing: a span of time has all slices that overlap it, uncut") {
    const Json json = ring_of(4, 6);
    const TraceFile whole = trace(json).file();
    TraceArguments span;
    span.time = "10ms..14.5ms";
    const TraceFile part = trace(json, span).file();

    std::vector<Span> expected, found;
    for (const TracedSlice& slice : whole.slices)
        if (slice.end_ps >= 10'000'000'000 && slice.begin_ps <= 14'500'000'000 &&
            slice.thread != "up" && slice.thread != "down")
            expected.push_back({slice.process + slice.name, slice.begin_ps, slice.end_ps});
    for (const TracedSlice& slice : part.slices)
        if (slice.thread != "up" && slice.thread != "down")
            found.push_back({slice.process + slice.name, slice.begin_ps, slice.end_ps});
    CHECK(found == expected);
    CHECK(found.size() > 8);
    REQUIRE(!part.uses.empty());
    CHECK(part.uses.front().at_ps == 10'000'000'000);
    CHECK(part.uses.back().at_ps <= 14'500'000'000);
    CHECK(part.events < whole.events / 2);
}

TEST_CASE("tracing: chosen nodes have their halves of messages, and arrows among themselves") {
    TraceArguments some;
    some.nodes = "1,2";
    const TraceFile file = trace(ring_of(4, 2), some).file();

    CHECK(file.processes() == std::set<std::string>{"links", "node 1", "node 2"});
    CHECK(file.on("node 1", "up").size() == 12);
    CHECK(file.on("node 1", "down").size() == 12);
    CHECK(file.arrows.size() == 12);  // only from 1 to 2
    CHECK(file.on("node 2", "up").front().name == "message to node 3, 500 kB");
}

TEST_CASE("tracing: chosen iterations have what begins in them") {
    TraceArguments some;
    some.iterations = "2..3";
    const TraceFile file = trace(ring_of(3, 6), some).file();

    CHECK(spans_on(file, "node 0", "steps").size() == 2);
    for (const TracedSlice& slice : file.on("", "compute")) {
        const char step = slice.name.back();
        CHECK((step == '2' || step == '3'));
    }
    CHECK(file.on("node 1", "compute").size() == 4);
    CHECK(file.on("node 1", "up").size() == 8);
}

TEST_CASE("tracing: a limit cuts the trace at an instant, and what stands before it is the same") {
    const Json json = ring_of(4, 6);
    const TraceFile whole = trace(json).file();
    for (const std::uint64_t limit : {1U, 7U, 20U, 100U, 333U, 500U}) {
        CAPTURE(limit);
        TraceArguments few;
        few.limit = limit;
        const Traced traced = trace(json, few);
        const TraceFile file = traced.file();

        CHECK(file.events <= limit + 1);  // plus the mark
        REQUIRE(traced.warnings.size() == 1);
        CHECK(traced.warnings[0].find("--trace-time") != std::string::npos);
        REQUIRE(file.instants.size() == 1);
        CHECK(file.facts().contains("cut"));
        std::int64_t cut_ps = 0;
        for (const TracedSlice& slice : file.slices) cut_ps = std::max(cut_ps, slice.end_ps);
        std::multiset<std::string> expected, found;
        const auto add = [](std::multiset<std::string>& to, const TracedSlice& slice) {
            to.insert(fmt::format("{} {} {}", slice.process, slice.name, slice.begin_ps));
        };
        for (const TracedSlice& slice : whole.slices)
            if (slice.begin_ps < cut_ps) add(expected, slice);
        for (const TracedSlice& slice : file.slices)
            if (slice.begin_ps < cut_ps) add(found, slice);
        CHECK(found == expected);
    }
    TraceArguments enough;
    enough.limit = whole.events;
    CHECK(trace(json, enough).warnings.empty());
    --enough.limit;
    CHECK(trace(json, enough).warnings.size() == 1);
}

TEST_CASE("tracing: both halves of a message in flight at the end of the run end there") {
    Json json = two_nodes;
    json["stop"] = {{"time", "2ms"}};
    const TraceFile file = trace(json).file();

    const std::int64_t end_ps = 2 * compute_ps;
    CHECK(spans_on(file, "node 0", "up") ==
          std::vector<Span>{{"message to node 1, 1 MB", compute_ps, end_ps}});
    CHECK(spans_on(file, "node 0", "down") ==
          std::vector<Span>{{"message from node 1, 1 MB", compute_ps + latency_ps, end_ps}});
    CHECK(file.on("node 0", "up").front().args.at("cut") == true);
    CHECK(file.arrows.size() == 2);
}

TEST_CASE("tracing: a run that a time limit ends leaves a trace whose open slices end there") {
    Json json = ring_of(4, 6);
    json["stop"] = {{"time", "20ms"}};
    const TraceFile file = trace(json).file();

    std::size_t cut = 0;
    for (const TracedSlice& slice : file.slices) {
        CHECK(slice.end_ps <= 20'000'000'000);
        if (slice.args.value("cut", false)) ++cut;
    }
    CHECK(cut >= 4);
}

// --- a study ---

Json study_of_four() {
    Json json = ring_of(4, 2);
    json["sweep"] = {{"cluster.nodes", {2, 3, 4, 5}}};
    return json;
}

TEST_CASE("tracing: chosen points of a study leave files, the same whatever the number of jobs") {
    const TemporaryFolder folder;
    const Study study = study_of(study_of_four());
    TraceArguments some;
    some.points = "1..2";
    std::vector<std::string> files;
    for (const std::size_t jobs : {1U, 2U}) {
        Tracing tracing(study, some);
        const std::filesystem::path out = folder.path() / fmt::format("{}", jobs);
        tracing.write_into(out);
        StudyOptions options;
        options.pool = {jobs, jobs};
        options.tracing = &tracing;
        const StudyOutcome outcome = run_study(study, options);
        CHECK(results_csv({study, outcome.results}) == results_csv({study, run_points(study, 1)}));
        CHECK(!std::filesystem::exists(out / "traces" / "point-0.json"));
        CHECK(!std::filesystem::exists(out / "traces" / "point-3.json"));
        for (const int point : {1, 2})
            files.push_back(content(out / "traces" / fmt::format("point-{}.json", point)));
    }
    CHECK(files[0] == files[2]);
    CHECK(files[1] == files[3]);
    CHECK(TraceFile(files[1]).processes().size() == 4);
    CHECK(TraceFile(files[1]).facts().at("cluster.nodes") == "4");
}

TEST_CASE("tracing: a point that is kept is run again for its trace") {
    const TemporaryFolder folder;
    const Study study = study_of(study_of_four());
    StudyOptions options;
    options.keep_in = folder.path() / "points";
    options.resume = true;
    static_cast<void>(run_study(study, options));
    TraceArguments some;
    some.points = "3";
    Tracing tracing(study, some);
    tracing.write_into(folder.path());
    options.tracing = &tracing;

    CHECK(run_study(study, options).kept == 3);
    CHECK(std::filesystem::exists(folder.path() / "traces" / "point-3.json"));
}

std::string refusal(const TraceArguments& arguments, const Json& json) {
    try {
        const Study study = study_of(json);
        const Tracing tracing(study, arguments);
    } catch (const ConfigError& error) {
        return error.path() + ": " + error.problem();
    }
    return "accepted";
}

TEST_CASE("tracing: impossible options are refused, with the fix") {
    const Json one = ring_of(4, 2);
    const auto with = [](std::string TraceArguments::* option, const std::string& text) {
        TraceArguments arguments;
        arguments.*option = text;
        return arguments;
    };
    CHECK(refusal({}, one) == "accepted");
    CHECK(refusal({}, study_of_four()) ==
          "--trace: the study has 4 points; choose which to trace with --trace-points 0, "
          "--trace-points 0,3..5 or --trace-points all");
    CHECK(refusal(with(&TraceArguments::points, "0,4"), study_of_four()) ==
          "--trace-points: there is no point 4; points are 0..3");
    CHECK(refusal(with(&TraceArguments::points, "first"), study_of_four()) ==
          "--trace-points: \"first\" is not a list of points, such as 0,1,4..7");
    CHECK(refusal(with(&TraceArguments::nodes, "3..4"), one) ==
          "--trace-nodes: there is no node 4; nodes are 0..3");
    CHECK(refusal(with(&TraceArguments::nodes, "3..1"), one) ==
          "--trace-nodes: \"3..1\" is not a list of nodes, such as 0,1,4..7");
    CHECK(refusal(with(&TraceArguments::time, "5"), one) ==
          "--trace-time: \"5\" is not a span of simulated time, such as 1.5s..2s, 10s.. or ..5ms");
    CHECK(refusal(with(&TraceArguments::time, "5..6s"), one).starts_with("--trace-time: "));
    CHECK(refusal(with(&TraceArguments::time, "2s..1s"), one) ==
          "--trace-time: \"2s..1s\" ends before it begins");
    CHECK(refusal(with(&TraceArguments::iterations, "-1..2"), one) ==
          "--trace-iterations: \"-1..2\" is not a range of iterations, counted from 0, such as "
          "10..12");
    CHECK(refusal(with(&TraceArguments::time, "..1s"), one) == "accepted");
    CHECK(refusal(with(&TraceArguments::iterations, "1.."), one) == "accepted");
}

}  // namespace
}  // namespace paceline::tracing_test
