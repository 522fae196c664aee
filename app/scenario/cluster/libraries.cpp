#include "app/scenario/cluster/libraries.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/json/resources.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"

namespace paceline {

namespace {

constexpr auto all_library_keys = std::to_array<std::string_view>(
    {"preset", "start_up", "staging", "sums", "occupies", "protocol", "all_reduce"});

constexpr auto library_preset_keys = std::to_array<std::string_view>(
    {"name", "start_up", "staging", "protocol", "all_reduce", "source"});

constexpr auto protocols = std::to_array<Spelling<Protocol>>({
    {"eager", Protocol::eager},
    {"rendezvous", Protocol::rendezvous},
    {"rendezvous-in-band", Protocol::rendezvous_in_band},
});

// With a larger share, the end of work beside a collective that waits recedes by ever smaller parts
// of the work.
constexpr double most_occupied = 0.9;

void read_figures(const ObjectReader& read, const WorkerShape& shape, LibraryChoice& choice) {
    Library& library = choice.library;
    if (const auto p = read.optional("start_up")) library.start_up = as_duration(*p);
    if (const auto p = read.optional("staging")) library.staging = as_bandwidth(*p);
    if (const auto p = read.optional("protocol"))
        library.protocol = as_choice(*p, "a protocol", protocols);
    if (const auto p = read.optional("all_reduce")) choice.all_reduce = read_all_reduce(*p, shape);
    library.occupies = choice.all_reduce.method == AllReduce::nccl
                           ? nccl_share_of_device(choice.all_reduce.library, shape.workers)
                           : 0;
}

LibraryChoice preset_named(const Place& name, const WorkerShape& shape) {
    WorkerShape even = shape;  // a preset that is not named may go by machine
    even.uneven = false;
    const std::vector<LibraryPreset> presets = library_presets(even);
    const std::vector<std::string_view> names = names_of(presets);
    const LibraryChoice& choice = presets[as_name(name, "a library", names)].choice;
    if (choice.all_reduce.method == AllReduce::nccl) shape.check_even(name);
    return choice;
}

}  // namespace

std::string_view name_of(Protocol protocol) {
    return std::ranges::find(protocols, protocol, &Spelling<Protocol>::value)->name;
}

std::vector<LibraryPreset> library_presets(const WorkerShape& shape) {
    static const std::string file = "app/scenario/cluster/libraries.json";
    static const Json json = parse_json(resource(file), file);  // asked for by each point
    std::vector<LibraryPreset> presets;
    for (const Json& entry : json.at("libraries")) {
        const ObjectReader read({&entry, &file, "libraries"}, library_preset_keys);
        LibraryPreset preset;
        preset.name = as_string(read.required("name", "the preset's name"));
        preset.source = as_string(read.required("source", "where the figures come from"));
        read_figures(read, shape, preset.choice);
        presets.push_back(std::move(preset));
    }
    return presets;
}

Keys library_keys() {
    return all_library_keys;
}

LibraryChoice read_library(const Place& place, const WorkerShape& shape) {
    if (place.json->is_string()) return preset_named(place, shape);
    const ObjectReader read(place, all_library_keys);
    LibraryChoice choice;
    if (const auto p = read.optional("preset")) choice = preset_named(*p, shape);
    read_figures(read, shape, choice);
    if (const auto p = read.optional("sums")) choice.library.sums = as_bandwidth(*p);
    if (const auto p = read.optional("occupies"))
        choice.library.occupies = as_number_up_to(*p, most_occupied);
    return choice;
}

void check_host_work(const Place& algorithm, const Library& library,
                     const AlgorithmChoice& choice) {
    if (!library.staging && !library.sums) return;
    const auto refuse = [&](std::string_view why) {
        algorithm.refuse(fmt::format("cannot be used with \"cluster.library.{}\": {}",
                                     library.staging ? "staging" : "sums", why));
    };
    if (!choice.exchange || choice.mixing.make)
        refuse(
            "it is modeled for all-reduce and all-gather, and this algorithm sends other messages");
    const ExchangeOptions& exchange = *choice.exchange;
    const Aggregation kind = exchange.aggregation.kind;
    const bool is_one_bit = std::holds_alternative<OneBitCodec>(exchange.codec.coder);
    if (kind != Aggregation::all_reduce && kind != Aggregation::all_gather && !is_one_bit)
        refuse(
            "it is modeled for the aggregations \"all-reduce\" and \"all-gather\", and for the "
            "codec \"one-bit\"; use one of them");
    if (exchange.aggregation.machines != ByMachine::flat)
        refuse("it is modeled for flat aggregations; write \"machines\": \"flat\"");
    if (library.sums && !sums_in_series(exchange.aggregation.all_reduce))
        algorithm.refuse(
            "cannot be used with \"cluster.library.sums\": they are modeled for the plans "
            "\"ring\", \"recursive-doubling\", \"halving-doubling\", \"automatic\" and "
            "\"open-mpi\", whose members add up a block before they send it on");
}

}  // namespace paceline
