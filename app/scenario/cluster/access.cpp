#include "app/scenario/cluster/access.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/cluster/link_traces.hpp"
#include "app/scenario/nodes/node_list.hpp"

namespace paceline {

namespace {

constexpr auto trace_keys = std::to_array<std::string_view>(
    {"kind", "nodes", "share", "file", "format", "file_up", "interval", "period", "phase"});
constexpr auto on_off_access_keys = std::to_array<std::string_view>(
    {"kind", "nodes", "share", "on", "off", "law", "bandwidth_off", "phase"});
constexpr auto outages_keys = std::to_array<std::string_view>(
    {"kind", "nodes", "share", "schedule", "mean_between", "mean_length", "transfers"});
constexpr auto outage_key_table = std::to_array<std::string_view>({"at", "for"});

constexpr auto on_off_laws = std::to_array<Spelling<LengthLaw>>(
    {{"exponential", LengthLaw::exponential}, {"fixed", LengthLaw::fixed}});
constexpr auto transfer_rules = std::to_array<Spelling<Transfers>>(
    {{"pause", Transfers::pause}, {"restart", Transfers::restart}});

constexpr auto phases = std::to_array<Spelling<LinkPhase>>(
    {{"start", LinkPhase::start}, {"random", LinkPhase::random}});

Duration as_length(const Place& place) {
    const Duration span = as_duration(place);
    if (span == Duration::zero()) place.refuse("is above 0");
    return span;
}

enum class TraceFormat : std::uint8_t { csv, mahimahi, pensieve };
constexpr auto trace_formats =
    std::to_array<Spelling<TraceFormat>>({{"csv", TraceFormat::csv},
                                          {"mahimahi", TraceFormat::mahimahi},
                                          {"pensieve", TraceFormat::pensieve}});

LinkTrace read_rates(const ObjectReader& read) {
    const Place file = read.required("file", "a trace, relative to this file, such as \"lte.csv\"");
    TraceFormat format{};
    if (const auto p = read.optional("format"))
        format = as_choice(*p, "a format of traces", trace_formats);
    TraceFiles files{file};
    if (const auto p = read.optional("file_up")) {
        if (format == TraceFormat::csv)
            p->refuse("is for formats with one way in a file; a CSV has a column for each way");
        files.up = *p;
    }
    Duration interval = std::chrono::milliseconds(100);
    if (const auto p = read.optional("interval")) {
        if (format != TraceFormat::mahimahi)
            p->refuse("is what \"mahimahi\" counts packets in; leave it out");
        interval = as_length(*p);
        if (interval < std::chrono::milliseconds(1)) p->refuse("is a millisecond or longer");
    }
    if (format == TraceFormat::mahimahi) return read_mahimahi(files, interval);
    return format == TraceFormat::pensieve ? read_pensieve(files) : read_link_trace(file);
}

AccessKind read_trace(const ObjectReader& read) {
    LinkTrace trace = read_rates(read);
    if (const auto p = read.optional("period")) {
        trace.period = as_duration(*p);
        if (trace.period <= trace.rows.back().at)
            p->refuse(fmt::format("{} is not later than the last row of the trace, {}",
                                  to_string(trace.period), to_string(trace.rows.back().at)));
    }
    if (const auto p = read.optional("phase")) {
        trace.phase = as_choice(*p, "a phase", phases);
        if (trace.phase == LinkPhase::random && trace.period == Duration::zero())
            p->refuse("lies somewhere in the period of a trace; give \"period\"");
    }
    return std::make_shared<const LinkTrace>(std::move(trace));
}

AccessKind read_on_off(const ObjectReader& read) {
    OnOff process{
        .on = as_length(read.required("on", "how long it is on, or the mean of that")),
        .off = as_length(read.required("off", "how long it is off, or the mean of that"))};
    if (const auto p = read.optional("law"))
        process.law = as_choice(*p, "a law of lengths", on_off_laws);
    if (const auto p = read.optional("bandwidth_off"))
        process.bandwidth_off = as_bandwidth_or_zero(*p);
    if (const auto p = read.optional("phase")) process.phase = as_choice(*p, "a phase", phases);
    return process;
}

std::vector<Outages::Outage> read_schedule(const Place& place) {
    if (!place.json->is_array() || place.json->empty())
        place.refuse("is not a list of outages, such as [{\"at\": \"10s\", \"for\": \"5s\"}]");
    std::vector<Outages::Outage> schedule;
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const ObjectReader read(place.element(i), outage_key_table);
        const Place at = read.required("at", "when it begins");
        const Outages::Outage outage{as_duration(at),
                                     as_length(read.required("for", "how long it lasts"))};
        if (!schedule.empty())
            if (const Duration end = sum(schedule.back().at, schedule.back().length);
                outage.at < end)
                at.refuse(fmt::format("{} is before the end of the previous outage, {}",
                                      to_string(outage.at), to_string(end)));
        schedule.push_back(outage);
    }
    return schedule;
}

AccessKind read_outages(const ObjectReader& read) {
    read.not_both("schedule", "mean_between");
    read.not_both("schedule", "mean_length");
    Outages outages;
    if (const auto p = read.optional("transfers"))
        outages.transfers = as_choice(*p, "what transfers do", transfer_rules);
    if (const auto p = read.optional("schedule")) {
        outages.schedule = read_schedule(*p);
    } else {
        outages.mean_between = as_length(read.required(
            "mean_between", "from the end of one to the next; or give a \"schedule\""));
        outages.mean_length = as_length(read.required("mean_length", "of an outage"));
    }
    return std::make_shared<const Outages>(std::move(outages));
}

constexpr auto access_kinds = std::to_array<AccessEntry>({
    {"trace", "bandwidths from a file, once or repeated", trace_keys, &read_trace},
    {"on-off", "alternates between its own and another bandwidth", on_off_access_keys,
     &read_on_off},
    {"outages", "down by schedule or at random, in addition to the others", outages_keys,
     &read_outages},
});

AccessKind read_access_kind(const Place& place) {
    const std::vector<std::string_view> names = names_of(access_kinds);
    const Place kind = kind_of(place, "a kind of access", names);
    const AccessEntry& entry = access_kinds[as_name(kind, "a kind of access", names)];
    return entry.read(ObjectReader(place, entry.keys));
}

bool is_outage(const AccessChoice& choice) {
    return std::holds_alternative<std::shared_ptr<const Outages>>(choice.kind);
}

// Reads the nodes of the outages, or of the others.
void read_nodes_of_kind(const Place& place, NodeDraw draw, bool outages,
                        std::vector<AccessChoice>& choices, std::vector<DrawnNodes>& drawn) {
    std::vector<Place> objects;
    std::vector<AccessChoice*> theirs;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (is_outage(choices[i]) != outages) continue;
        objects.push_back(place.element(i));
        theirs.push_back(&choices[i]);
    }
    NodesOfObjects nodes = read_nodes_of(objects, draw, outages ? "outages" : "access");
    for (std::size_t i = 0; i < theirs.size(); ++i) theirs[i]->nodes = std::move(nodes.nodes[i]);
    std::ranges::move(nodes.drawn, std::back_inserter(drawn));
}

std::vector<int> nodes_of(const AccessChoice& choice, int all) {
    if (choice.nodes) return *choice.nodes;
    std::vector<int> nodes(static_cast<std::size_t>(all));
    std::iota(nodes.begin(), nodes.end(), 0);
    return nodes;
}

}  // namespace

std::span<const AccessEntry> access_table() {
    return access_kinds;
}

Keys outage_keys() {
    return outage_key_table;
}

std::vector<AccessChoice> read_access(const Place& place, NodeDraw draw,
                                      std::vector<DrawnNodes>& drawn) {
    if (!place.json->is_array())
        place.refuse("is not a list, such as [{\"kind\": \"on-off\", ...}]");
    std::vector<AccessChoice> choices;
    for (std::size_t i = 0; i < place.json->size(); ++i)
        choices.push_back({.kind = read_access_kind(place.element(i))});
    for (const bool outages : {false, true})
        read_nodes_of_kind(place, draw, outages, choices, drawn);
    std::vector<bool> has_source(static_cast<std::size_t>(draw.nodes));
    for (std::size_t i = 0; i < choices.size(); ++i) {
        if (is_outage(choices[i])) continue;
        for (const int node : nodes_of(choices[i], draw.nodes)) {
            if (has_source[static_cast<std::size_t>(node)])
                place.element(i).refuse(fmt::format(
                    "node {} has a trace or on/off process already; only outages come on top",
                    node));
            has_source[static_cast<std::size_t>(node)] = true;
        }
    }
    return choices;
}

std::vector<Access> accesses_of(const Fabric& fabric, int nodes, std::span<const int> places) {
    const auto place = [&](int host) {
        return places.empty() ? host : places[static_cast<std::size_t>(host)];
    };
    std::vector<Access> accesses;
    Route there;
    Route back;
    for (int node = 0; node < nodes; ++node) {
        // Hosts of several jobs may stand at one place, and no route leads from it to itself.
        int other = 0;
        while (other < fabric.hosts && place(other) == place(node)) ++other;
        if (other == fabric.hosts) return {};
        fabric.find_route(node, other, there);
        fabric.find_route(other, node, back);
        const LinkId up = there.front();
        const LinkId down = back.back();
        accesses.push_back({static_cast<std::uint64_t>(node),
                            up,
                            down,
                            {fabric.links[up].bandwidth, fabric.links[down].bandwidth}});
    }
    return accesses;
}

void begin_access(LinkProcesses& processes, std::span<const AccessChoice> choices,
                  std::span<const Access> accesses) {
    for (const AccessChoice& choice : choices)
        for (const int node : nodes_of(choice, static_cast<int>(accesses.size()))) {
            if (std::cmp_greater_equal(node, accesses.size())) continue;  // a lone node has none
            const Access& access = accesses[static_cast<std::size_t>(node)];
            if (const auto* trace = std::get_if<std::shared_ptr<const LinkTrace>>(&choice.kind))
                processes.add_trace(access, *trace);
            else if (const auto* on_off = std::get_if<OnOff>(&choice.kind))
                processes.add_on_off(access, *on_off);
            else
                processes.add_outages(access,
                                      std::get<std::shared_ptr<const Outages>>(choice.kind));
        }
}

}  // namespace paceline
