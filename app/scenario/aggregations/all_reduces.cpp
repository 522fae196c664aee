#include "app/scenario/aggregations/all_reduces.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/schema.hpp"

namespace paceline {

namespace {

constexpr auto methods = std::to_array<Spelling<std::optional<AllReduce>>>({
    {"ring", AllReduce::ring},
    {"recursive-doubling", AllReduce::recursive_doubling},
    {"halving-doubling", AllReduce::halving_doubling},
    {"tree", AllReduce::tree},
    {"parameter-server", AllReduce::parameter_server},
    {"hierarchical", AllReduce::hierarchical},
    {"pipelined-ring", AllReduce::pipelined_ring},
    {"double-tree", AllReduce::double_tree},
    {"automatic", AllReduce::automatic},
    {"open-mpi", AllReduce::open_mpi},
    {"library", std::nullopt},
});

// Of a cluster's library.
constexpr auto methods_of_library = [] {
    auto own = methods;
    own.back() = {"nccl", AllReduce::nccl};
    return own;
}();

enum class Placement : std::uint8_t { own_nodes, workers };
constexpr auto placements = std::to_array<Spelling<Placement>>(
    {{"own-nodes", Placement::own_nodes}, {"workers", Placement::workers}});

enum class Rings : std::uint8_t { one, per_card };
constexpr auto numbers_of_rings =
    std::to_array<Spelling<Rings>>({{"one", Rings::one}, {"per-card", Rings::per_card}});

// Servers on separate nodes are numbered after the workers.
AllReducePlan read_servers(const ObjectReader& read, const WorkerShape& shape) {
    AllReducePlan plan = AllReduce::parameter_server;
    Placement placement = Placement::own_nodes;
    if (const auto p = read.optional("placement"))
        placement = as_choice(*p, "a place for servers", placements);
    if (placement == Placement::own_nodes) plan.first_server_node = shape.workers;
    plan.servers = placement == Placement::workers ? shape.workers : 1;
    if (const auto p = read.optional("servers")) {
        plan.servers = static_cast<int>(as_integer(*p, 1, 1'000'000));
        if (plan.servers > shape.workers)
            p->refuse(
                fmt::format("there are at most as many servers as workers, {}", shape.workers));
    }
    return plan;
}

}  // namespace

namespace {

// The defaults are NCCL's (sim/collectives/pipelined.hpp).
Slices read_slots(const ObjectReader& read) {
    for (const char* const key : {"slice", "in_flight"})
        if (const auto p = read.optional(key))
            p->refuse(
                "is for slices without slots granted by receivers; with \"slots\", \"buffer\" or "
                "\"channels\", a slice is \"buffer\" divided by \"slots\"");
    Bytes buffer{std::int64_t{4} * 1024 * 1024};
    std::int64_t slots = 8;
    std::int64_t channels = 2;
    if (const auto p = read.optional("slots")) slots = as_integer(*p, 1, 1024);
    if (const auto p = read.optional("channels")) channels = as_integer(*p, 1, 64);
    if (const auto p = read.optional("buffer")) {
        buffer = as_bytes(*p);
        if (buffer.count < slots)
            p->refuse(fmt::format("{} slots need {} bytes or more", slots, slots));
    }
    return {.slice = {buffer.count / slots}, .slots = static_cast<int>(slots * channels)};
}

}  // namespace

Slices read_slices(const ObjectReader& read) {
    for (const char* const key : {"slots", "buffer", "channels"})
        if (read.optional(key)) return read_slots(read);
    Slices slices;
    if (const auto p = read.optional("slice")) {
        slices.slice = as_bytes(*p);
        if (slices.slice == Bytes{}) p->refuse("must be at least one byte");
    }
    if (const auto p = read.optional("in_flight"))
        slices.in_flight = static_cast<int>(as_integer(*p, 1, 4096));
    return slices;
}

int read_rings(const ObjectReader& read, const WorkerShape& shape) {
    const auto p = read.optional("rings");
    if (!p || as_choice(*p, "a number of rings", numbers_of_rings) == Rings::one) return 1;
    if (shape.devices_per_node < 2)
        p->refuse(
            "is for rings through machines of several devices: set \"cluster.devices_per_node\" "
            "above 1 and \"machines\" to \"flat\", or write \"one\"");
    shape.check_even(*p);
    return shape.cards;
}

namespace {

constexpr auto generations = std::to_array<Spelling<GpuGeneration>>({
    {"volta", GpuGeneration::volta},
    {"ampere", GpuGeneration::ampere},
    {"hopper", GpuGeneration::hopper},
    {"blackwell", GpuGeneration::blackwell},
});
constexpr auto nccl_algorithms = std::to_array<Spelling<Nccl::Algorithm>>({
    {"ring", Nccl::Algorithm::ring},
    {"tree", Nccl::Algorithm::tree},
    {"collnet-direct", Nccl::Algorithm::collnet_direct},
    {"collnet-chain", Nccl::Algorithm::collnet_chain},
    {"nvls", Nccl::Algorithm::nvls},
    {"nvls-tree", Nccl::Algorithm::nvls_tree},
});
constexpr auto nccl_protocols = std::to_array<Spelling<Nccl::Protocol>>({
    {"ll", Nccl::Protocol::ll},
    {"ll128", Nccl::Protocol::ll128},
    {"simple", Nccl::Protocol::simple},
});
enum class DeviceLink : std::uint8_t { nvlink, pcie };
constexpr auto device_links = std::to_array<Spelling<DeviceLink>>(
    {{"nvlink", DeviceLink::nvlink}, {"pcie", DeviceLink::pcie}});

// Refuses what the cluster cannot do at any size.
void check_forced(const Place& place, const WorkerShape& shape, const Nccl& library) {
    using Algorithm = Nccl::Algorithm;
    const Algorithm algorithm = *library.algorithm;
    if (algorithm == Algorithm::ring || algorithm == Algorithm::tree) return;
    const bool in_machines = algorithm >= Algorithm::nvls;
    if (in_machines && !library.has_switch_sums) place.refuse("needs \"nvls\": true");
    if (!in_machines && !library.has_collnet) place.refuse("needs \"collnet\": true");
    if (algorithm == Algorithm::nvls) return;
    if (shape.workers <= library.devices)
        place.refuse("is for several machines: \"cluster.devices\" fill one");
    if (shape.workers % library.devices != 0)
        place.refuse(fmt::format("needs full machines: {} devices do not fill machines of {}",
                                 shape.workers, library.devices));
    if (algorithm == Algorithm::nvls_tree && library.cards < 2)
        place.refuse("needs two network cards or more: set \"cluster.nics\"");
    constexpr int most_of_collnet = 8;
    if (!in_machines && library.devices > most_of_collnet)
        place.refuse(fmt::format("is for machines of up to {} devices", most_of_collnet));
    if (algorithm == Algorithm::collnet_direct &&
        (library.devices < 2 || !library.over_nvlink || !library.over_switch))
        place.refuse("is for several devices per machine behind an NVLink switch");
}

void read_nccl_options(const ObjectReader& read, const WorkerShape& shape, Nccl& library) {
    if (const auto p = read.optional("gpus"))
        library.generation = as_choice(*p, "a generation of GPUs", generations);
    if (const auto p = read.optional("link"))
        library.over_nvlink =
            as_choice(*p, "a link between devices", device_links) == DeviceLink::nvlink;
    if (const auto p = read.optional("nvls")) {
        library.has_switch_sums = as_bool(*p);
        if (library.has_switch_sums && library.generation < GpuGeneration::hopper)
            p->refuse("needs switches that add up: set \"gpus\" to \"hopper\" or \"blackwell\"");
        if (library.has_switch_sums && shape.devices_per_node < 2)
            p->refuse("is for machines of several devices: \"cluster.devices_per_node\" is 1");
    }
    if (const auto p = read.optional("collnet")) library.has_collnet = as_bool(*p);
    if (const auto p = read.optional("algorithm")) {
        library.algorithm = as_choice(*p, "an algorithm of NCCL", nccl_algorithms);
        check_forced(*p, shape, library);
    }
    if (const auto p = read.optional("protocol"))
        library.protocol = as_choice(*p, "a protocol of NCCL", nccl_protocols);
}

// Reads the levels of a hierarchy; null: machines alone.
std::shared_ptr<const NestedGroups> read_nested(const Place& place, const WorkerShape& shape) {
    if (!place.json->is_array() || place.json->empty() || place.json->size() > most_levels)
        place.refuse(fmt::format(
            "is not a list of 1 to {} levels, such as [\"machine\", \"region\"]", most_levels));
    std::vector<Place> names;
    for (std::size_t i = 0; i < place.json->size(); ++i) names.push_back(place.element(i));
    const std::vector<WorkerLevel> levels = read_worker_levels(names, shape);
    NestedGroups nested;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const auto [least, most] = std::ranges::minmax(levels[i].members);
        if (least != most)
            names[i].refuse(
                fmt::format("has groups of {} to {} members, and a hierarchy needs groups of equal "
                            "size; the aggregation's \"levels\" by \"leaders\" may differ",
                            least, most));
        nested.sizes.push_back(least);
    }
    if (levels.size() == 1 && levels[0].name == machine_level) return nullptr;
    std::vector<int> in_order(static_cast<std::size_t>(shape.workers));
    std::iota(in_order.begin(), in_order.end(), 0);
    nested.order = in_order;
    const auto before = [&levels](int one, int other) {
        for (std::size_t i = levels.size(); i-- > 0;) {
            const int of_one = levels[i].group_of[static_cast<std::size_t>(one)];
            const int of_other = levels[i].group_of[static_cast<std::size_t>(other)];
            if (of_one != of_other) return of_one < of_other;
        }
        return one < other;
    };
    std::ranges::sort(nested.order, before);
    if (nested.order == in_order) nested.order.clear();
    return std::make_shared<const NestedGroups>(std::move(nested));
}

}  // namespace

AllReducePlan read_all_reduce(const Place& place, const WorkerShape& shape) {
    AllReducePlan plan;
    if (place.json->is_object()) {
        // NCCL chooses for the cluster's library alone.
        constexpr auto all_kinds = std::to_array<std::string_view>(
            {"ring", "parameter-server", "hierarchical", "pipelined-ring", "double-tree", "nccl"});
        const std::span known = std::span(all_kinds).first(all_kinds.size() - (shape.nccl ? 0 : 1));
        const Place kind = kind_of(place, "an all-reduce with options", known);
        const std::string_view name = known[as_name(kind, "an all-reduce with options", known)];
        // The schema has a fabric that is called "ring", too
        const ObjectReader read(place, definition_keys(name == "ring" ? "ring-all-reduce" : name));
        if (name == "parameter-server") {
            plan = read_servers(read, shape);
        } else if (name == "nccl") {
            shape.check_even(place);
            plan.method = AllReduce::nccl;
            plan.library = *shape.nccl;
            read_nccl_options(read, shape, plan.library);
        } else if (name == "hierarchical") {
            plan.method = AllReduce::hierarchical;
            if (const auto p = read.optional("levels")) plan.nested = read_nested(*p, shape);
        } else if (name == "ring") {
            plan.cards = read_rings(read, shape);
        } else {
            plan.method =
                name == "double-tree" ? AllReduce::double_tree : AllReduce::pipelined_ring;
            plan.slices = read_slices(read);
            if (name == "pipelined-ring") plan.cards = read_rings(read, shape);
        }
        if (plan.cards > 1) plan.devices = shape.devices_per_node;
    } else {
        const auto method =
            as_choice(place, "an all-reduce", shape.nccl ? methods_of_library : methods);
        plan = method ? AllReducePlan(*method) : shape.library;
        if (method == AllReduce::nccl) {
            shape.check_even(place);
            plan.library = *shape.nccl;
        }
        if (method == AllReduce::parameter_server) plan.first_server_node = shape.workers;
    }
    if (plan.method == AllReduce::parameter_server && plan.first_server_node &&
        shape.devices_per_node > 1)
        place.refuse(
            "servers on their own nodes need \"cluster.devices_per_node\" of 1; or set "
            "\"placement\": \"workers\"");
    if (plan.method != AllReduce::hierarchical || plan.nested) return plan;
    shape.check_even(place);
    plan.devices = std::min(shape.devices_per_node, shape.workers);
    if (shape.workers % plan.devices != 0)
        place.refuse(fmt::format("a hierarchy needs full nodes: {} devices do not fill nodes of {}",
                                 shape.workers, shape.devices_per_node));
    return plan;
}

}  // namespace paceline
