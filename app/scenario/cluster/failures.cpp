#include "app/scenario/cluster/failures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/number_table.hpp"
#include "app/scenario/nodes/node_list.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/engine/random.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

namespace {

constexpr auto all_failure_keys = std::to_array<std::string_view>(
    {"schedule", "mean_between", "mean_repair", "nodes", "share", "trace", "on_death", "detection",
     "return_from", "checkpoint"});
constexpr auto absence_key_table = std::to_array<std::string_view>({"node", "at", "for"});
constexpr auto trace_key_table = std::to_array<std::string_view>({"file", "period"});
constexpr auto checkpoint_key_table = std::to_array<std::string_view>({"every", "write", "read"});
constexpr auto on_death_table = std::to_array<Spelling<OnDeath>>(
    {{"go-on", OnDeath::go_on}, {"stall", OnDeath::stall}, {"restart", OnDeath::restart}});
constexpr auto return_table =
    std::to_array<Spelling<ReturnFrom>>({{"own", ReturnFrom::own},
                                         {"peer", ReturnFrom::peer},
                                         {"joined-peer", ReturnFrom::joined_peer},
                                         {"checkpoint", ReturnFrom::checkpoint}});

constexpr Duration usual_detection = std::chrono::seconds(10);
constexpr double most_failure_seconds = 9e6;  // 104 days, within the clock's range

using AbsencesOfNodes = std::vector<std::vector<Absence>>;

// A return beyond the clock's range is not that of a node which never returns.
Time returns_after(Time at, Duration wait) {
    return std::min(later(at, wait), end_of_time);
}

// Sorts the absences. If two overlap, `refuse(a, b)` throws.
template <class Refuse>
void put_in_order(std::vector<Absence>& absences, const Refuse& refuse) {
    std::ranges::sort(absences, {}, &Absence::leaves);
    for (std::size_t i = 1; i < absences.size(); ++i)
        if (absences[i].leaves < absences[i - 1].returns) refuse(absences[i - 1], absences[i]);
}

AbsencesOfNodes read_schedule(const Place& place, int nodes) {
    if (!place.json->is_array() || place.json->empty())
        place.refuse("is not a list such as [{\"node\": 3, \"at\": \"10s\", \"for\": \"20s\"}]");
    AbsencesOfNodes schedule(static_cast<std::size_t>(nodes));
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const ObjectReader read(place.element(i), absence_key_table);
        const std::int64_t node =
            as_integer(read.required("node", "which node, such as 3"), 0, nodes - 1);
        Absence absence{Time{as_duration(read.required("at", "when it fails, such as \"10s\""))}};
        if (const auto p = read.optional("for")) {
            const Duration length = as_duration(*p);
            if (length == Duration::zero())
                p->refuse("is not a time; leave it out if the node stays away");
            absence.returns = returns_after(absence.leaves, length);
        }
        schedule[static_cast<std::size_t>(node)].push_back(absence);
    }
    for (std::size_t node = 0; node < schedule.size(); ++node)
        put_in_order(schedule[node], [&](const Absence& a, const Absence& b) {
            place.refuse(fmt::format(
                "node {} fails at {} while it is away since {}; give it one absence at a time",
                node, to_string(b.leaves.time_since_epoch()),
                to_string(a.leaves.time_since_epoch())));
        });
    return schedule;
}

struct ListedAbsence {
    Absence absence;
    const NumberTable::Row* row;
};

// Returns until when the absence that goes around the end of a period lasts in the next one.
std::optional<Time> away_at_first(const std::vector<Absence>& absences,
                                  std::optional<Duration> period) {
    if (!period || absences.empty() || absences.back().returns <= Time{*period})
        return std::nullopt;
    return absences.back().returns - *period;
}

std::vector<Absence> in_order(const NumberTable& table, std::vector<ListedAbsence>& listed,
                              std::optional<Duration> period) {
    std::ranges::sort(listed, {}, [](const ListedAbsence& one) { return one.absence.leaves; });
    std::vector<Absence> absences;
    for (std::size_t i = 0; i < listed.size(); ++i) {
        if (i > 0 && listed[i].absence.leaves < listed[i - 1].absence.returns)
            table.refuse(*(listed[i].row->line > listed[i - 1].row->line ? listed[i].row
                                                                         : listed[i - 1].row),
                         "the node is already away, according to another row");
        absences.push_back(listed[i].absence);
    }
    if (const std::optional<Time> until = away_at_first(absences, period);
        until && *until > absences.front().leaves)
        table.refuse(*listed.back().row, "the node is already away, according to another row");
    return absences;
}

AbsenceTrace read_absence_trace(const Place& place, int nodes) {
    const ObjectReader read(place, trace_key_table);
    const Place file = read.required("file", "a table of absences, relative to this one");
    AbsenceTrace trace;
    if (const auto p = read.optional("period")) {
        trace.period = as_duration(*p);
        if (*trace.period == Duration::zero()) p->refuse("must be above 0");
    }
    const double most = trace.period ? to_seconds(*trace.period) : most_failure_seconds;
    const auto columns = std::to_array<NumberColumn>(
        {{"node", "a node of the cluster", static_cast<double>(nodes - 1)},
         {"leaves_s", "a time in seconds, within the period", most},
         {"returns_s", "a time in seconds, within the period", most, !trace.period}});
    const NumberTable table = read_number_table(file, columns);
    std::vector<std::vector<ListedAbsence>> listed(static_cast<std::size_t>(nodes));
    for (const NumberTable::Row& row : table.rows) {
        const auto node = static_cast<std::size_t>(row.numbers[0]);
        if (static_cast<double>(node) != row.numbers[0])
            table.refuse(row,
                         fmt::format("{} is not a node; nodes are whole numbers", row.numbers[0]));
        Absence absence{Time{from_seconds(row.numbers[1])}};
        if (!std::isinf(row.numbers[2])) absence.returns = Time{from_seconds(row.numbers[2])};
        if (trace.period && absence.returns < absence.leaves)
            absence.returns = returns_after(absence.returns, *trace.period);
        if (absence.returns <= absence.leaves)
            table.refuse(row, "the node returns no later than it leaves");
        listed[node].push_back({absence, &row});
    }
    for (std::vector<ListedAbsence>& of_node : listed)
        trace.absences.push_back(in_order(table, of_node, trace.period));
    return trace;
}

Checkpoints read_checkpoints(const Place& place) {
    const ObjectReader read(place, checkpoint_key_table);
    Checkpoints checkpoints;
    const Place every = read.required("every", "the time between two, such as \"20min\"");
    checkpoints.every = as_duration(every);
    if (checkpoints.every == Duration::zero()) every.refuse("must be above 0");
    checkpoints.write =
        as_duration(read.required("write", "how long writing takes, such as \"30s\""));
    checkpoints.read =
        as_duration(read.required("read", "how long reading takes, such as \"30s\""));
    return checkpoints;
}

}  // namespace

Keys failure_keys() {
    return all_failure_keys;
}
Keys absence_keys() {
    return absence_key_table;
}
Keys absence_trace_keys() {
    return trace_key_table;
}
Keys checkpoint_keys() {
    return checkpoint_key_table;
}

FailureChoice read_failures(const Place& place, NodeDraw draw, std::vector<DrawnNodes>& drawn) {
    const ObjectReader read(place, all_failure_keys);
    FailureChoice choice;
    read.not_both("schedule", "mean_between");
    read.not_both("schedule", "trace");
    read.not_both("mean_between", "trace");
    if (const auto p = read.optional("schedule")) choice.schedule = read_schedule(*p, draw.nodes);
    if (const auto p = read.optional("trace")) choice.trace = read_absence_trace(*p, draw.nodes);
    if (const auto p = read.optional("mean_between")) {
        choice.mean_between = as_duration(*p);
        if (*choice.mean_between == Duration::zero()) p->refuse("must be above 0");
        choice.mean_repair =
            as_duration(read.required("mean_repair", "the mean time away, such as \"10min\""));
    } else if (!read.has("schedule") && !read.has("trace")) {
        place.refuse(
            "does not say which nodes fail; give \"schedule\", \"mean_between\" or \"trace\"");
    }
    for (const char* key : {"mean_repair", "nodes", "share"})
        if (const auto p = read.optional(key); p && !choice.mean_between)
            p->refuse("goes with \"mean_between\"");
    NodesOfObjects fail = read_nodes_of(std::array{place}, draw, "nodes that fail");
    choice.nodes = std::move(fail.nodes.front());
    std::ranges::move(fail.drawn, std::back_inserter(drawn));
    if (const auto p = read.optional("on_death"))
        choice.on_death = as_choice(*p, "an action on a failure", on_death_table);
    choice.detection = usual_detection;
    if (const auto p = read.optional("detection")) choice.detection = as_duration(*p);
    if (const auto p = read.optional("checkpoint")) choice.checkpoints = read_checkpoints(*p);
    if (const auto p = read.optional("return_from")) {
        choice.return_from = as_choice(*p, "a way to return", return_table);
        if (choice.on_death == OnDeath::restart)
            p->refuse("all nodes go back to the checkpoint when \"on_death\" is \"restart\"");
        if (*choice.return_from == ReturnFrom::checkpoint && !choice.checkpoints)
            p->refuse("needs a \"checkpoint\" with the times of writing and reading");
    }
    return choice;
}

namespace {

// Returns whether an all-reduce has messages on streams of their own for each card or stage, or an
// order of all workers, none of which an exchange without some of them has.
bool goes_by_machine(const AllReducePlan& plan) {
    const bool in_switches = plan.method == AllReduce::in_switch ||
                             plan.method == AllReduce::in_switches ||
                             (plan.method == AllReduce::nccl &&
                              (plan.library.has_switch_sums || plan.library.has_collnet));
    return in_switches || plan.cards > 1 || plan.method == AllReduce::hierarchical;
}

}  // namespace

void check_failures(const Place& place, const FailureChoice& failures,
                    const AlgorithmChoice& algorithm, int devices_per_node) {
    if (failures.on_death == OnDeath::restart) return;
    const WhenNodesDie then = algorithm.when_nodes_die;
    if (then == WhenNodesDie::cannot_go_on)
        place.refuse(
            "this algorithm cannot continue without a node, nor readmit one; set \"on_death\" to "
            "\"restart\"");
    if (!algorithm.why_survivors_cannot_go_on.empty())
        place.refuse(fmt::format("the exchange of this algorithm does not support that: {}",
                                 algorithm.why_survivors_cannot_go_on));
    const bool has_rounds =
        then == WhenNodesDie::reruns_replicas || then == WhenNodesDie::reruns_models;
    if (devices_per_node > 1 && algorithm.islands.empty() && algorithm.all_reduce &&
        goes_by_machine(*algorithm.all_reduce))
        place.refuse(
            "survivors rerun all-reduces of their devices one by one, and this one works by "
            "machine (a hierarchy, rings of cards, or sums in switches): choose another, such as "
            "\"ring\", or set \"on_death\" to \"restart\"");
    if (failures.on_death == OnDeath::stall && !has_rounds)
        place.refuse("no worker stalls in this algorithm; set \"on_death\" to \"go-on\"");
    const ReturnFrom from = failures.return_from.value_or(ReturnFrom::peer);
    const bool from_elsewhere = from == ReturnFrom::own || from == ReturnFrom::checkpoint;
    if (then == WhenNodesDie::reruns_replicas && from_elsewhere)
        place.refuse(
            "all nodes of this algorithm have the same model; set \"return_from\" to \"peer\"");
}

namespace {

// The absences of a list, one after the other, repeated in each period.
struct Listed {
    std::vector<std::vector<Absence>> absences;
    std::optional<Duration> period;
    std::vector<std::size_t> given;  // returned for each node so far

    std::optional<Absence> number(std::size_t node, std::size_t i) const {
        const std::size_t count = absences[node].size();
        if (const std::optional<Time> until = away_at_first(absences[node], period)) {
            if (i == 0) return Absence{Time{}, *until};
            --i;
        }
        if (count == 0 || (!period && i >= count)) return std::nullopt;
        const Duration passed =
            multiple(static_cast<std::int64_t>(i / count), period.value_or(Duration::zero()));
        Absence absence = absences[node][i % count];
        absence.leaves = later(absence.leaves, passed);
        if (absence.returns != never) absence.returns = returns_after(absence.returns, passed);
        return absence;
    }

    // Skips absences that would already be over.
    std::optional<Absence> operator()(int rank, Time since) {
        const auto node = static_cast<std::size_t>(rank);
        std::optional<Absence> next = number(node, given[node]++);
        while (next && next->returns <= since) next = number(node, given[node]++);
        return next;
    }
};

// Absences with exponential times of presence and absence.
struct Drawn {
    double mean_between_s;
    double mean_repair_s;
    std::vector<RandomStream> streams;  // by node
    std::vector<bool> fails;

    std::optional<Absence> operator()(int rank, Time since) {
        const auto node = static_cast<std::size_t>(rank);
        if (!fails[node]) return std::nullopt;
        const auto draw = [&](double mean) {
            if (mean == 0) return Duration::zero();
            return from_seconds(draw_exponential(streams[node], 1 / mean));
        };
        const Time leaves = later(since, draw(mean_between_s));
        return Absence{leaves, returns_after(leaves, draw(mean_repair_s))};
    }
};

NextAbsence absences_of(const FailureChoice& choice, int nodes, std::uint64_t seed) {
    const auto n = static_cast<std::size_t>(nodes);
    if (choice.trace)
        return Listed{choice.trace->absences, choice.trace->period, std::vector<std::size_t>(n)};
    if (!choice.mean_between)
        return Listed{choice.schedule, std::nullopt, std::vector<std::size_t>(n)};
    Drawn drawn{to_seconds(*choice.mean_between), to_seconds(choice.mean_repair), {}, {}};
    drawn.fails.assign(n, !choice.nodes);
    for (const int node : choice.nodes.value_or(std::vector<int>{}))
        drawn.fails[static_cast<std::size_t>(node)] = true;
    const RandomStreams streams(seed);
    for (std::size_t node = 0; node < n; ++node)
        drawn.streams.push_back(streams.stream("failures", node));
    return drawn;
}

// Absences of one of many nodes that overlap are put together up to this number, so that a group
// whose nodes are hardly ever all present has a next absence. What is left begins at its end.
constexpr int most_overlaps = 1000;

struct OfGroups {
    NextAbsence of_node;
    std::vector<std::vector<int>> groups;
    std::map<int, std::optional<Absence>> next;  // by node, once it has been asked for

    // Skips absences that are over.
    void ask_for_next_of(int node, Time since) {
        auto found = next.find(node);
        if (found == next.end()) found = next.emplace(node, of_node(node, since)).first;
        while (found->second && found->second->returns <= since) take(node);
    }

    // Returns the node of the group that leaves first; -1 if all stay.
    int first_to_leave(const std::vector<int>& group) {
        int first = -1;
        for (const int node : group) {
            const std::optional<Absence>& absence = next.at(node);
            if (absence && (first < 0 || absence->leaves < next.at(first)->leaves)) first = node;
        }
        return first;
    }

    // A node is up again from its own return on, also while its group is away.
    Absence take(int node) {
        const Absence taken = *next.at(node);
        next.at(node) = taken.returns == never ? std::nullopt : of_node(node, taken.returns);
        return taken;
    }

    std::optional<Absence> operator()(int number, Time since) {
        const std::vector<int>& group = groups[static_cast<std::size_t>(number)];
        for (const int node : group) ask_for_next_of(node, since);
        int first = first_to_leave(group);
        if (first < 0) return std::nullopt;
        Absence all = take(first);
        for (int overlaps = 0; overlaps < most_overlaps; ++overlaps) {
            first = first_to_leave(group);
            if (first < 0 || next.at(first)->leaves > all.returns) break;
            all.returns = std::max(all.returns, take(first).returns);
        }
        return all;
    }
};

// Returns the machines of each island.
std::vector<std::vector<int>> machines_of(const std::vector<std::vector<int>>& islands,
                                          const std::vector<std::vector<int>>& machines) {
    std::map<int, int> machine_of;
    for (std::size_t machine = 0; machine < machines.size(); ++machine)
        for (const int rank : machines[machine]) machine_of[rank] = static_cast<int>(machine);
    std::vector<std::vector<int>> all;
    for (const std::vector<int>& island : islands) {
        std::vector<int>& own = all.emplace_back();
        for (const int rank : island)
            if (own.empty() || own.back() != machine_of[rank]) own.push_back(machine_of[rank]);
    }
    return all;
}

bool one_each(const std::vector<std::vector<int>>& groups) {
    return std::ranges::all_of(groups, [](const auto& group) { return group.size() == 1; });
}

}  // namespace

NextAbsence absences_of_groups(NextAbsence of_node, std::vector<std::vector<int>> groups) {
    return OfGroups{std::move(of_node), std::move(groups), {}};
}

Failures make_failures(const FailureChoice& choice, const AlgorithmChoice& algorithm,
                       const std::vector<std::vector<int>>& machines, std::uint64_t seed) {
    using enum WhenNodesDie;
    const WhenNodesDie then = algorithm.when_nodes_die;
    Failures failures{.next_absence = absences_of(choice, static_cast<int>(machines.size()), seed),
                      .on_death = choice.on_death,
                      .return_from = choice.return_from.value_or(
                          then == reruns_replicas ? ReturnFrom::peer : ReturnFrom::own),
                      .detection = choice.detection,
                      .checkpoints = choice.checkpoints,
                      .domains = machines,
                      .steps_count = then == skips || then == server_goes_on};
    if (algorithm.islands.empty() || choice.on_death == OnDeath::restart) return failures;
    failures.domains = algorithm.islands;
    failures.are_islands = true;
    failures.keep_shards = algorithm.islands_keep_shards;
    std::vector<std::vector<int>> of_islands = machines_of(algorithm.islands, machines);
    // Machines and islands have the same numbers if each island is one machine.
    if (!one_each(of_islands))
        failures.next_absence =
            absences_of_groups(std::move(failures.next_absence), std::move(of_islands));
    return failures;
}

}  // namespace paceline
