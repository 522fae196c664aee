#include "tests/fuzz/judge_ways.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/measures/link_intervals.hpp"
#include "analysis/measures/link_use.hpp"
#include "analysis/traces/trace_recorder.hpp"
#include "app/run/memory_check.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/run/trace_machine.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/fuzz/deadline.hpp"
#include "tests/fuzz/left_files.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_steps = 40;
constexpr SpinLimit far{.base = 10'000'000};  // of resumptions, which differ by way

// While it exists, each message of a collective is an event.
class ByEvents {
  public:
    ByEvents() { ::setenv("PACELINE_EVENTS", "1", 1); }  // NOLINT(concurrency-mt-unsafe)
    ByEvents(const ByEvents&) = delete;
    ByEvents& operator=(const ByEvents&) = delete;
    ~ByEvents() { ::unsetenv("PACELINE_EVENTS"); }  // NOLINT(concurrency-mt-unsafe)
};

// What a run has led to. Members that end in the same instant may resume in any order, so times are
// kept by host.
struct Ran {
    Metrics metrics;
    std::string rows;
    std::map<int, std::vector<Time>> steps;  // [host]: when steps begin and the last one ends
    std::vector<std::pair<std::int64_t, std::int64_t>> traffic;  // [host]: sent, received
    std::vector<std::pair<std::int64_t, std::int64_t>> links;    // [link]: busy, carried
};

class Ways {
  public:
    Ways(const Study& study, double most_seconds) : study_(study), most_seconds_(most_seconds) {}

    [[nodiscard]] Ran plain() const { return run(nullptr); }
    [[nodiscard]] Ran summed() const;
    [[nodiscard]] Ran with_links() const;
    [[nodiscard]] Ran with_trace() const;

  private:
    Ran run(const Observer* observer) const;

    const Study& study_;
    double most_seconds_;
};

Ran Ways::run(const Observer* observer) const {
    Ran ran;
    Progress progress;
    const Deadline deadline(progress, most_seconds_);
    ran.metrics = run_point(study_.points[0].scenario, &progress, far, observer);
    const std::vector<PointResult> results{{ran.metrics, 0}};
    ran.rows = results_csv({study_, results}) + timeline_csv({study_, results});
    return ran;
}

// An observer of sums leaves collectives ahead of the queue.
Ran Ways::summed() const {
    std::map<int, std::vector<Time>> steps;
    std::optional<Machine> machine;
    LinkUse use;
    const auto now = [&] { return machine->simulation.now(); };
    Ran sums;
    Observer observer;
    observer.begins = [&](const Machine& begun) { machine.emplace(begun); };
    observer.workers.step_begins = [&](int host, std::int64_t) { steps[host].push_back(now()); };
    observer.workers.steps_end = [&](int host) { steps[host].push_back(now()); };
    observer.workers.dies = observer.workers.steps_end;
    observer.network = {
        .begins = [&](std::uint32_t id,
                      const auto& message) { use.begins(id, message.route, message.since); },
        .drains = [&](std::uint32_t id, Bytes moved) { use.drains(id, moved, now()); },
        .carries = [&](const Route& route, Bytes bytes,
                       Duration busy) { use.carries(route, bytes, busy); }};
    observer.ends = [&](const Cluster&) {
        const Network& network = machine->network;
        for (int host = 0; host < network.hosts(); ++host)
            sums.traffic.emplace_back(network.traffic(host).sent.count,
                                      network.traffic(host).received.count);
        for (LinkId link = 0; link < network.links(); ++link)
            sums.links.emplace_back(use.busy(link, now()).count(), use.bytes(link).count);
    };
    Ran ran = run(&observer);
    ran.steps = std::move(steps);
    ran.traffic = std::move(sums.traffic);
    ran.links = std::move(sums.links);
    return ran;
}

Ran Ways::with_links() const {
    std::optional<LinkIntervals> intervals;
    Observer observer;
    observer.begins = [&](const Machine& machine) {
        intervals.emplace(machine.network, Duration::zero());
        observer.network = intervals->observer();
    };
    observer.ends = [&](const Cluster&) { intervals->finish(); };
    return run(&observer);
}

Ran Ways::with_trace() const {
    std::optional<TraceRecorder> recorder;
    Observer observer;
    observer.begins = [&](const Machine& machine) {
        recorder.emplace(trace_machine(machine, std::nullopt), TraceFilter{});
        observer.network = recorder->network_observer();
        observer.workers = recorder->worker_observer();
    };
    observer.ends = [&](const Cluster&) { recorder->finish(); };
    return run(&observer);
}

// --- what differs ---

// Returns the first line that differs.
std::string difference_of(const std::string& a, const std::string& b) {
    std::istringstream in_a(a);
    std::istringstream in_b(b);
    for (std::string one, other; std::getline(in_a, one) && std::getline(in_b, other);)
        if (one != other) return fmt::format("\n  {}\n  {}", one, other);
    return "one has more lines";
}

std::string difference_of_sums(const Ran& ahead, const Ran& events) {
    for (const auto& [host, times] : ahead.steps) {
        const auto found = events.steps.find(host);
        if (found == events.steps.end()) return fmt::format("host {} takes no step", host);
        for (std::size_t i = 0; i < std::min(times.size(), found->second.size()); ++i)
            if (times[i] != found->second[i])
                return fmt::format(
                    "step {} of host {} at {} ps ahead of the queue, {} ps by events", i, host,
                    times[i].time_since_epoch().count(),
                    found->second[i].time_since_epoch().count());
        if (times.size() != found->second.size())
            return fmt::format("host {} takes {} steps and {}", host, times.size(),
                               found->second.size());
    }
    if (ahead.steps.size() != events.steps.size()) return "other hosts take steps";
    for (std::size_t host = 0; host < ahead.traffic.size(); ++host)
        if (ahead.traffic[host] != events.traffic[host])
            return fmt::format(
                "host {} sends and receives {} bytes ahead of the queue, {} by events", host,
                ahead.traffic[host], events.traffic[host]);
    for (std::size_t link = 0; link < ahead.links.size(); ++link)
        if (ahead.links[link] != events.links[link])
            return fmt::format("link {} is busy for so many ps, with bytes: {}; by events {}", link,
                               ahead.links[link], events.links[link]);
    return {};
}

bool is_cut(const Ran& ran) {
    return ran.metrics.outcome == "stopped" || ran.metrics.outcome == "spinning";
}

Verdict judged(const Study& study, double most_seconds) {
    const Ways ways(study, most_seconds);
    const Ran plain = ways.plain();
    const Ran ahead = ways.summed();
    Verdict made{Fate::ran, {}, plain.metrics.outcome};
    const auto compare = [&](std::string_view way, const Ran& ran) {
        if (is_cut(plain) || is_cut(ran) || ran.rows == plain.rows || !made.fault.empty()) return;
        made.fault =
            fmt::format("{} changes results: {}", way, difference_of(plain.rows, ran.rows));
    };
    compare("an observer of sums", ahead);
    compare("--links", ways.with_links());
    compare("--trace", ways.with_trace());
    const ByEvents all;
    const Ran by_events = ways.plain();
    compare("PACELINE_EVENTS=1", by_events);
    const Ran events = ways.summed();
    if (made.fault.empty() && !is_cut(ahead) && !is_cut(events))
        made.fault = difference_of_sums(ahead, events);
    if (plain.metrics.events < by_events.metrics.events) made.message += ", ahead of the queue";
    return made;
}

}  // namespace

Verdict judge_ways(const std::filesystem::path& file, double most_seconds) {
    try {
        Study study = read_study(file.string(), {});
        check_memory(study, 1);
        std::vector<Point> points{study.points[0]};
        points[0].choice.clear();
        if (!make_small(points[0].scenario, most_steps)) return {Fate::too_large, {}, {}};
        study.axes.clear();
        study.points = Points(std::move(points));
        return judged(study, most_seconds);
    } catch (const ConfigError& error) {
        return {Fate::refused, fault_of_refusal(error, file, content_of(file)), error.what()};
    } catch (const std::exception& error) {
        return {Fate::ran, fmt::format("an exception: {}", error.what()), {}};
    }
}

}  // namespace paceline
