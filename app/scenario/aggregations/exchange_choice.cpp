#include "app/scenario/aggregations/exchange_choice.hpp"

#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/aggregations/exchange_levels.hpp"

namespace paceline {

namespace {

constexpr auto aggregation_kinds = std::to_array<Spelling<AggregationKind>>({
    {"all-reduce", AggregationKind::all_reduce},
    {"all-gather", AggregationKind::all_gather},
    {"two-phase", AggregationKind::two_phase},
    {"sparse-all-reduce", AggregationKind::sparse_all_reduce},
    {"servers", AggregationKind::servers},
    {"neighbors", AggregationKind::neighbors},
});
constexpr auto gathering_ways =
    std::to_array<Spelling<AllGather>>({{"ring", AllGather::ring}, {"bruck", AllGather::bruck}});
constexpr auto server_codings = std::to_array<Spelling<ServerCoding>>(
    {{"none", ServerCoding::none}, {"up", ServerCoding::up}, {"both", ServerCoding::both}});
constexpr auto all_to_all_ways = std::to_array<Spelling<AllToAll>>(
    {{"grouped", AllToAll::grouped}, {"rounds", AllToAll::rounds}});
enum class ServerPlace : std::uint8_t { workers, nodes };
constexpr auto server_places = std::to_array<Spelling<ServerPlace>>(
    {{"workers", ServerPlace::workers}, {"nodes", ServerPlace::nodes}});
constexpr auto machine_ways = std::to_array<Spelling<ByMachine>>({
    {"flat", ByMachine::flat},
    {"leaders", ByMachine::leaders},
    {"shards", ByMachine::shards},
});
enum class Inside : std::uint8_t { dense, encoded };
constexpr auto inside_ways =
    std::to_array<Spelling<Inside>>({{"dense", Inside::dense}, {"encoded", Inside::encoded}});
constexpr auto piece_rules = std::to_array<Spelling<PieceRule>>({
    {"whole", PieceRule::whole},
    {"tensors", PieceRule::tensors},
    {"merged", PieceRule::merged},
});
constexpr auto begins = std::to_array<Spelling<Begin>>({
    {"after-backward", Begin::after_backward},
    {"in-phases", Begin::in_phases},
    {"beside-backward", Begin::beside_backward},
    {"into-forward", Begin::into_forward},
});
constexpr auto orders =
    std::to_array<Spelling<Order>>({{"fifo", Order::fifo}, {"priority", Order::priority}});

constexpr int most_streams = 64;

Aggregation aggregation_of(AggregationKind kind) {
    switch (kind) {
        case AggregationKind::all_gather:
            return Aggregation::all_gather;
        case AggregationKind::two_phase:
            return Aggregation::two_phase;
        case AggregationKind::sparse_all_reduce:
            return Aggregation::sparse_all_reduce;
        case AggregationKind::servers:
            return Aggregation::servers;
        case AggregationKind::all_reduce:
        case AggregationKind::neighbors:
            break;
    }
    return Aggregation::all_reduce;
}

// Reads how the devices of a machine take part.
void read_machines(const ObjectReader& read, const WorkerShape& shape, AggregationPlan& plan) {
    if (const auto p = read.optional("machines")) {
        plan.machines = as_choice(*p, "a way with machines", machine_ways);
        if (plan.machines != ByMachine::flat && shape.devices_per_node < 2)
            p->refuse(
                "is for machines of several devices: set \"cluster.devices_per_node\" above 1, or "
                "write \"flat\"");
        if (plan.machines != ByMachine::flat) shape.check_even(*p);
        if (plan.machines != ByMachine::flat && shape.workers % shape.devices_per_node != 0)
            p->refuse(fmt::format("needs full machines: {} devices do not fill machines of {}",
                                  shape.workers, shape.devices_per_node));
    }
    if (plan.machines != ByMachine::flat) plan.devices = shape.devices_per_node;
}

void read_inside(const ObjectReader& read, AggregationPlan& plan) {
    const auto p = read.optional("inside");
    if (!p) return;
    plan.encoded_inside = as_choice(*p, "a way inside a machine", inside_ways) == Inside::encoded;
    if (plan.machines == ByMachine::flat) p->refuse("goes with \"machines\": \"leaders\"");
    if (plan.encoded_inside && plan.levels)
        p->refuse("is for the one level \"machine\": other levels send dense vectors to leaders");
    if (plan.encoded_inside && plan.machines == ByMachine::shards)
        p->refuse(
            "shards are sent dense inside a machine, or each would be encoded twice; write "
            "\"dense\", or \"machines\": \"leaders\"");
}

// The members of the groups among which messages travel: all workers, or one device of each
// machine.
WorkerShape travelers(const WorkerShape& shape, const AggregationPlan& plan) {
    if (plan.machines == ByMachine::flat) return shape;
    AllReducePlan library = shape.library;
    library.cards = 1;
    library.library = among_machines(library.library);
    const int groups = plan.levels ? plan.levels->back().groups() : shape.workers / plan.devices;
    return {groups, 1, library};
}

void read_plan(const ObjectReader& read, const WorkerShape& shape, AggregationPlan& plan) {
    const auto p = read.optional("plan");
    if (!p) return;
    plan.all_reduce = read_all_reduce(*p, travelers(shape, plan));
    if (plan.machines == ByMachine::flat) return;
    if (plan.all_reduce.method == AllReduce::hierarchical)
        p->refuse("already works by machine: write \"ring\", or \"machines\": \"flat\"");
    if (plan.all_reduce.first_server_node && plan.levels)
        p->refuse("servers on their own nodes serve all workers; set \"placement\": \"workers\"");
    if (plan.all_reduce.first_server_node)
        p->refuse(
            "servers on their own nodes need \"cluster.devices_per_node\" of 1; or set "
            "\"placement\": \"workers\"");
}

int read_number_of_servers(const Place& place, int most) {
    if (place.json->is_string()) {
        constexpr auto known = std::to_array<std::string_view>({"workers"});
        as_name(place, "a number of servers; write a number, or \"workers\" for one each", known);
        return most;
    }
    const int servers = static_cast<int>(as_integer(place, 1, 1'000'000));
    if (servers > most)
        place.refuse(fmt::format("{} {} at most as many servers", most,
                                 most == 1 ? "member has" : "members have"));
    return servers;
}

void read_servers_of(const ObjectReader& read, const WorkerShape& shape, AggregationPlan& plan) {
    const int members = travelers(shape, plan).workers;
    if (const auto p = read.optional("place")) {
        if (as_choice(*p, "a place for servers", server_places) == ServerPlace::nodes) {
            if (shape.devices_per_node > 1)
                p->refuse(
                    "servers on their own nodes need \"cluster.devices_per_node\" of 1; write "
                    "\"workers\"");
            if (plan.levels)
                p->refuse("servers on their own nodes serve all workers; write \"workers\"");
            plan.first_server_node = shape.workers;
        }
    }
    plan.servers = plan.first_server_node ? 1 : members;
    if (const auto p = read.optional("servers")) plan.servers = read_number_of_servers(*p, members);
    if (const auto p = read.optional("encoded"))
        plan.coded = as_choice(*p, "what is encoded", server_codings);
}

std::string definition_of(std::string_view kind) {
    return fmt::format("aggregation-{}", kind);
}

AggregationKind aggregation_named(const Place& place) {
    return as_choice(place, "an aggregation", aggregation_kinds);
}

// Returns "25MiB" and the like as a size, other texts as the name of a rule.
void read_pieces(const Place& place, ScheduleChoice& choice) {
    const std::string text = as_string(place);
    if (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        choice.pieces = PieceRule::buckets;
        choice.bucket = as_bytes(place);
        if (choice.bucket.count == 0) place.refuse("must be at least one byte");
        return;
    }
    choice.pieces = as_choice(place, "a rule of pieces, nor a size such as \"25MiB\"", piece_rules);
    if (choice.pieces == PieceRule::tensors) choice.bucket = Bytes{1};
}

void settle(ScheduleChoice& choice, bool begin_is_given) {
    const bool whole = choice.pieces == PieceRule::whole;
    choice.schedule.whole = whole;
    if (!begin_is_given && !whole) choice.schedule.begin = Begin::beside_backward;
}

}  // namespace

std::span<const AggregationEntry> aggregation_table() {
    static constexpr auto table = std::to_array<AggregationEntry>({
        {"all-reduce", "messages are summed on their way"},
        {"all-gather", "every worker receives all messages and sums them"},
        {"two-phase",
         "each worker owns a chunk: gathers its messages, sends the encoded aggregate"},
        {"sparse-all-reduce", "messages of entries merge by recursive doubling"},
        {"servers", "messages go to servers, which answer with the aggregate"},
        {"neighbors", "averages with neighbors, for methods with a \"mixing\""},
    });
    return table;
}

Keys aggregation_keys(std::string_view name) {
    return definition_keys(definition_of(name));
}

Keys schedule_keys() {
    return definition_keys("exchange-schedule");
}

AggregationChoice read_aggregation_choice(const Place& place, const WorkerShape& shape) {
    AggregationChoice choice;
    if (place.json->is_string()) {
        const std::string name = as_string(place);
        choice.kind = aggregation_named(place);
        const Json alone{{"kind", name}};
        return read_aggregation_choice({&alone, place.file, place.path, place.sources}, shape);
    }
    const std::vector<std::string_view> names = names_of(aggregation_kinds);
    const Place kind = kind_of(place, "an aggregation", names);
    choice.kind = aggregation_named(kind);
    choice.plan.kind = aggregation_of(choice.kind);
    const ObjectReader read(place, aggregation_keys(as_string(kind)));
    read_machines(read, shape, choice.plan);
    read.not_both("machines", "levels");
    if (choice.kind == AggregationKind::neighbors) {
        if (const auto p = read.optional("levels")) read_level_of_neighbors(*p, shape, choice.plan);
    } else {
        if (const auto p = read.optional("levels")) read_exchange_levels(*p, shape, choice.plan);
        read_inside(read, choice.plan);
    }
    if (choice.kind == AggregationKind::servers)
        read_servers_of(read, shape, choice.plan);
    else if (choice.kind != AggregationKind::neighbors)
        read_plan(read, shape, choice.plan);
    if (choice.kind == AggregationKind::all_gather)
        if (const auto p = read.optional("how"))
            choice.plan.all_gather = as_choice(*p, "a way to gather", gathering_ways);
    if (choice.kind == AggregationKind::two_phase)
        if (const auto p = read.optional("all_to_all"))
            choice.plan.all_to_all = read_all_to_all(*p);
    return choice;
}

AllToAll read_all_to_all(const Place& place) {
    return as_choice(place, "a way of an all-to-all", all_to_all_ways);
}

ScheduleChoice read_schedule_choice(const Place& place) {
    ScheduleChoice choice;
    if (place.json->is_string()) {
        read_pieces(place, choice);
        settle(choice, false);
        return choice;
    }
    const ObjectReader read(place, schedule_keys());
    ExchangeSchedule& schedule = choice.schedule;
    if (const auto p = read.optional("pieces")) read_pieces(*p, choice);
    const auto begin = read.optional("begin");
    if (begin) schedule.begin = as_choice(*begin, "a time to begin", begins);
    if (const auto p = read.optional("order"))
        schedule.order = as_choice(*p, "an order of pieces", orders);
    if (const auto p = read.optional("partition")) {
        schedule.partition = as_bytes(*p);
        if (schedule.partition->count == 0) p->refuse("must be at least one byte");
    }
    if (const auto p = read.optional("streams"))
        schedule.streams = static_cast<int>(as_integer(*p, 1, most_streams));
    settle(choice, begin.has_value());
    return choice;
}

}  // namespace paceline
