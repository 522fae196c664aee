#include "tests/fuzz/judge_failures.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/runtime/cluster.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/study_file.hpp"
#include "tests/fuzz/deadline.hpp"
#include "tests/fuzz/left_files.hpp"

namespace paceline {

namespace {

constexpr std::uint64_t most_resumptions = 1'000'000;  // within one instant

struct Count {
    std::string_view name;
    std::size_t number = 0;
};

// What one run has led to.
struct Ran {
    Metrics metrics;
    std::vector<Count> held;
    std::string booked;    // the fault of an account; empty: none
    Time last_activity{};  // of a worker
    std::string csv;
};

std::vector<Count> counted(const Machine& machine, const Cluster& cluster) {
    const Held held = cluster.held();
    return {{"letters", held.letters},
            {"vectors", held.vectors},
            {"rounds", held.rounds},
            {"accounts", held.accounts},
            {"groups", held.groups},
            {"services", held.services},
            {"flows in flight", machine.network.flows_in_flight()},
            {"messages", machine.network.messages()},
            {"lanes", machine.network.lanes()},
            {"pending events", machine.simulation.events_pending()},
            {"waiting coroutines", machine.simulation.waiting().size()}};
}

// Returns what is wrong with the accounts of the workers' time.
std::string fault_of_accounts(const Machine& machine, const Cluster& cluster) {
    const Time end = machine.simulation.now();
    for (int rank = 0; rank < cluster.workers(); ++rank) {
        const TimeUse& use = cluster.time_use(rank);
        const std::array<Duration, 5> booked{use.computed(), use.waited_for_stragglers(end),
                                             use.waited_for_dead(), use.away(), use.writing()};
        Duration sum{};
        for (const Duration one : booked) {
            if (one < Duration::zero()) return fmt::format("worker {} has a negative time", rank);
            sum += one;
        }
        if (sum > end.time_since_epoch())
            return fmt::format(
                "worker {} books {} s of {} s: computing {}, stragglers {}, dead {}, away {}, "
                "writing {}",
                rank, to_seconds(sum), to_seconds(end.time_since_epoch()), to_seconds(booked[0]),
                to_seconds(booked[1]), to_seconds(booked[2]), to_seconds(booked[3]),
                to_seconds(booked[4]));
    }
    return {};
}

Ran run(const Study& study, const Scenario& scenario, double most_seconds) {
    Ran made;
    const Machine* machine = nullptr;
    std::optional<Machine> kept;
    Observer observer;
    observer.begins = [&](const Machine& begun) { machine = &kept.emplace(begun); };
    const auto is_active = [&] { made.last_activity = machine->simulation.now(); };
    const auto of_main_job = [&](int host) {
        const HostRole& role = machine->hosts[static_cast<std::size_t>(host)];
        return role.kind == HostRole::Kind::worker && role.job == 0;
    };
    observer.workers.step_begins = [&](int host, std::int64_t) {
        if (of_main_job(host)) is_active();
    };
    observer.workers.steps_end = [&](int host) {
        if (of_main_job(host)) is_active();
    };
    observer.workers.dies = observer.workers.steps_end;
    observer.ends = [&](const Cluster& cluster) {
        made.held = counted(*machine, cluster);
        made.booked = fault_of_accounts(*machine, cluster);
    };
    Progress progress;
    const Deadline deadline(progress, most_seconds);
    made.metrics = run_point(scenario, &progress, {most_resumptions}, &observer);
    const std::vector<PointResult> results{{made.metrics, 0}};
    made.csv = results_csv({study, results}) + timeline_csv({study, results});
    return made;
}

// --- what may happen ---

struct Facts {
    int nodes = 0;
    int workers = 0;
    int lost = 0;  // nodes that leave for good
    bool restarts = false;
    bool stalls = false;
    bool link_dies = false;
    std::string kind;
};

Facts facts_of(const Json& scenario) {
    Facts facts;
    const Json& cluster = scenario.at("cluster");
    const Json& failures = cluster.at("failures");
    facts.nodes = cluster.at("nodes").get<int>();
    facts.workers = facts.nodes * cluster.value("devices_per_node", 1);
    for (const Json& absence : failures.value("schedule", Json::array()))
        facts.lost += absence.contains("for") ? 0 : 1;
    facts.restarts = failures.value("on_death", "go-on") == "restart";
    facts.stalls = failures.value("on_death", "go-on") == "stall";
    for (const Json& law : cluster.value("access", Json::array()))
        facts.link_dies |= law.value("file", "") == "dead.csv";
    facts.kind = scenario.at("algorithm").at("kind").get<std::string>();
    return facts;
}

std::string fault_of_end(const Facts& facts, const Metrics& metrics) {
    if (metrics.outcome == "stopped") return "it takes too long";
    if (metrics.outcome == "spinning" || metrics.outcome == "out-of-range")
        return fmt::format("its outcome is \"{}\": {}", metrics.outcome, metrics.outcome_details);
    if (metrics.outcome != "deadlock" || facts.link_dies) return {};
    const bool waits_for_all = facts.restarts || facts.stalls;
    const bool may_be_stuck = waits_for_all ? facts.lost > 0 : facts.lost == facts.nodes;
    if (!may_be_stuck) return fmt::format("deadlock: {}", metrics.outcome_details);
    if (metrics.outcome_details.find("never returns") == std::string::npos)
        return fmt::format("deadlock for another reason than a lost node: {}",
                           metrics.outcome_details);
    return {};
}

std::string fault_of_memory(const Facts& facts, const Ran& ran) {
    const auto n = static_cast<std::size_t>(facts.workers) + 2;
    for (const Count& count : ran.held) {
        const std::size_t most = 8 * n * n + 64;
        if (count.number > most)
            return fmt::format("{} workers hold {} {} at {} s", facts.workers, count.number,
                               count.name, ran.metrics.sim_time_s);
    }
    return {};
}

std::string fault_of(const Facts& facts, const Scenario& scenario, const Ran& ran) {
    if (std::string fault = fault_of_end(facts, ran.metrics); !fault.empty()) return fault;
    if (std::string fault = broken_law(scenario, facts.kind, ran.metrics); !fault.empty())
        return fault;
    if (!ran.booked.empty()) return ran.booked;
    return fault_of_memory(facts, ran);
}

// The scenario of a file, changed.
ScenarioText with_text(const std::filesystem::path& file, const Json& changed) {
    ScenarioText scenario = open_scenario(file.string());
    scenario.text = changed.dump();
    return scenario;
}

// Events of a run of a quarter of the time, and of the whole.
std::string fault_of_longer_runs(const Study& study, const Facts& facts, Scenario scenario,
                                 double most_seconds) {
    scenario.stop.iterations.reset();
    const Duration whole = *scenario.stop.time;
    scenario.stop.time = whole / 4;
    const Ran first = run(study, scenario, most_seconds);
    if (std::string fault = fault_of(facts, scenario, first); !fault.empty())
        return "a quarter: " + fault;
    scenario.stop.time = whole;
    const Ran all = run(study, scenario, most_seconds);
    if (std::string fault = fault_of(facts, scenario, all); !fault.empty())
        return "the whole time: " + fault;
    const auto n = static_cast<double>(facts.workers);
    const double usual = static_cast<double>(first.metrics.events) + 1000 * n * n;
    if (static_cast<double>(all.metrics.events) > 16 * usual)
        return fmt::format("{} events in a quarter of the time, {} in all", first.metrics.events,
                           all.metrics.events);
    return {};
}

double in_seconds(const Json& duration) {
    return to_seconds(parse_duration(duration.get<std::string>()));
}

// Judges whether nodes that would return after the others' last steps keep the run going: it must
// be the same if they never return.
std::string fault_of_late_returns(const std::filesystem::path& file, Json scenario,
                                  const Facts& facts, const Ran& ran, double most_seconds) {
    if (ran.metrics.outcome != "finished" || facts.restarts || facts.stalls) return {};
    const double last_s = to_seconds(ran.last_activity.time_since_epoch());
    Json& failures = scenario["cluster"]["failures"];
    if (!failures.contains("schedule")) return {};
    std::set<int> away_at_the_end;
    for (Json& absence : failures["schedule"]) {
        if (!absence.contains("for") || in_seconds(absence["at"]) > last_s ||
            in_seconds(absence["at"]) + in_seconds(absence["for"]) <= last_s)
            continue;
        absence.erase("for");
        away_at_the_end.insert(absence["node"].get<int>());
    }
    if (away_at_the_end.empty()) return {};
    std::erase_if(failures["schedule"].get_ref<Json::array_t&>(), [&](const Json& absence) {
        return away_at_the_end.contains(absence["node"].get<int>()) &&
               in_seconds(absence["at"]) > last_s;  // it would overlap
    });
    const Study study = read_study(with_text(file, scenario), {});
    const Metrics again = run(study, study.points[0].scenario, most_seconds).metrics;
    // If those that died in the last step are all gone, one of them must return to take it.
    if (again.outcome != "finished" || again.sim_time_s == ran.metrics.sim_time_s) return {};
    return fmt::format("nodes that return after the last steps prolong the run from {} s to {} s",
                       again.sim_time_s, ran.metrics.sim_time_s);
}

// Judges whether failures long after the end change anything.
std::string fault_of_idle_failures(const std::filesystem::path& file, Json scenario,
                                   double most_seconds) {
    scenario["cluster"]["failures"] =
        Json{{"schedule", Json::array({Json{{"node", 0}, {"at", "1000000s"}}})},
             {"on_death", "restart"}};
    const Study first = read_study(with_text(file, scenario), {});
    scenario["cluster"].erase("failures");
    const Study second = read_study(with_text(file, scenario), {});
    const Metrics a = run(first, first.points[0].scenario, most_seconds).metrics;
    const Metrics b = run(second, second.points[0].scenario, most_seconds).metrics;
    if (a.outcome != b.outcome || a.sim_time_s != b.sim_time_s || a.iterations != b.iterations ||
        a.total_sent_gb != b.total_sent_gb || a.test_loss != b.test_loss ||
        a.waiting_network_share != b.waiting_network_share)
        return fmt::format(
            "failures that never happen change the run: {} after {} s, {} iterations; without "
            "them {} after {} s, {} iterations",
            a.outcome, a.sim_time_s, a.iterations, b.outcome, b.sim_time_s, b.iterations);
    return {};
}

Verdict judged(const std::filesystem::path& file, const JudgeFailuresOptions& options) {
    const Study study = read_study(file.string(), {});
    const Json json = Json::parse(study.points[0].resolved);
    const Scenario& scenario = study.points[0].scenario;
    const Facts facts = facts_of(json);
    const Ran first = run(study, scenario, options.most_seconds);
    Verdict made{Fate::ran, fault_of(facts, scenario, first), first.metrics.outcome};
    if (made.fault.empty() && options.twice &&
        run(study, scenario, options.most_seconds).csv != first.csv)
        made.fault = "two runs differ";
    if (made.fault.empty() && options.longer)
        made.fault = fault_of_longer_runs(study, facts, scenario, options.most_seconds);
    if (made.fault.empty())
        made.fault = fault_of_late_returns(file, Json::parse(content_of(file)), facts, first,
                                           options.most_seconds);
    if (made.fault.empty() && options.idle)
        made.fault =
            fault_of_idle_failures(file, Json::parse(content_of(file)), options.most_seconds);
    return made;
}

}  // namespace

Verdict judge_failures(const std::filesystem::path& file, const JudgeFailuresOptions& options) {
    try {
        return judged(file, options);
    } catch (const ConfigError& error) {
        return {Fate::refused, fault_of_refusal(error, file, content_of(file)), error.what()};
    } catch (const std::exception& error) {
        return {Fate::ran, fmt::format("an exception: {}", error.what()), {}};
    }
}

}  // namespace paceline
