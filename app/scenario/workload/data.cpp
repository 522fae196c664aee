#include "app/scenario/workload/data.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"
#include "app/scenario/workload/data_files.hpp"
#include "app/scenario/workload/generated_data.hpp"

namespace paceline {

namespace {

constexpr auto partition_key_table =
    std::to_array<std::string_view>({"kind", "alpha", "share", "column"});

enum class PartitionKind : std::uint8_t {
    iid,
    contiguous,
    label_sorted,
    partly_shuffled,
    dirichlet,
    column,
};
constexpr auto partitions = std::to_array<Spelling<PartitionKind>>({
    {"iid", PartitionKind::iid},
    {"contiguous", PartitionKind::contiguous},
    {"label-sorted", PartitionKind::label_sorted},
    {"partly-shuffled", PartitionKind::partly_shuffled},
    {"dirichlet", PartitionKind::dirichlet},
    {"column", PartitionKind::column},
});

// How samples are distributed, with the parameter of the method.
struct Deal {
    PartitionKind kind = PartitionKind::iid;
    double number = 0;  // share or alpha
};

void check_column(const Place& kind, const Place& column, const DataPlan& plan, int workers) {
    static_cast<void>(as_string(column));
    if (plan.groups.empty()) kind.refuse("is for data of the kind \"csv\", which have columns");
    const int groups = 1 + std::ranges::max(plan.groups);
    if (groups < workers)
        column.refuse(
            fmt::format("has {} values in the training rows, for {} workers; each needs "
                        "one",
                        groups, workers));
}

Deal read_partition(const Place& place, const DataPlan& plan, int workers) {
    const Prediction predicts = plan.shape.predicts;
    const ObjectReader read(place, partition_key_table);
    Deal deal;
    const Place kind = read.required("kind", "such as \"iid\"");
    deal.kind = as_choice(kind, "a partition", partitions);
    const bool by_label = deal.kind == PartitionKind::label_sorted ||
                          deal.kind == PartitionKind::partly_shuffled ||
                          deal.kind == PartitionKind::dirichlet;
    if (predicts != Prediction::label && by_label)
        kind.refuse("needs labels, which these samples do not have; use \"iid\" or \"contiguous\"");
    if (deal.kind == PartitionKind::partly_shuffled)
        deal.number = as_number_up_to(read.required("share", "of samples dealt at random"), 1);
    else if (const auto p = read.optional("share"))
        p->refuse("is for \"partly-shuffled\" alone");
    if (deal.kind == PartitionKind::dirichlet)
        deal.number = as_number_above(read.required("alpha", "such as 0.5; small: skewed"), 0, 1e9);
    else if (const auto p = read.optional("alpha"))
        p->refuse("is for \"dirichlet\" alone");
    if (deal.kind == PartitionKind::column)
        check_column(kind, read.required("column", "whose values are the clients"), plan, workers);
    else if (const auto p = read.optional("column"))
        p->refuse("is for \"column\" alone");
    return deal;
}

using DataSource = std::function<DataSetPtr()>;

Shards dealt(const DataPlan& plan, const DataSource& data, const Deal& deal, int workers,
             const RandomStreams& streams) {
    RandomStream stream = streams.stream("partition");
    const auto samples = static_cast<int>(plan.shape.train);
    switch (deal.kind) {
        case PartitionKind::iid:
            return partition_iid(samples, workers, stream);
        case PartitionKind::contiguous:
            return partition_contiguous(samples, workers);
        case PartitionKind::label_sorted:
            return partition_label_sorted(data()->train.labels, workers);
        case PartitionKind::partly_shuffled:
            return partition_partly_shuffled(data()->train.labels, workers, deal.number, stream);
        case PartitionKind::column:
            return partition_by_group(plan.groups, workers);
        case PartitionKind::dirichlet:
            break;
    }
    return partition_dirichlet(data()->train.labels, workers, deal.number, stream);
}

// Returns the data's own seed if it has one, otherwise the scenario's. Returns 0 if nothing is
// drawn, so that all seeds share the data.
std::uint64_t seed_of(const DataEntry& entry, const ObjectReader& read, std::uint64_t scenarios) {
    if (std::ranges::find(entry.keys, "seed") == entry.keys.end()) return 0;
    const auto p = read.optional("seed");
    if (!p) return scenarios;
    return static_cast<std::uint64_t>(as_integer(*p, 0, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

std::vector<DataEntry> data_table() {
    const std::span<const DataEntry> generated = generated_data();
    const std::span<const DataEntry> files = data_in_files();
    std::vector<DataEntry> all(generated.begin(), generated.end());
    all.insert(all.end(), files.begin(), files.end());
    return all;
}
Keys partition_keys() {
    return partition_key_table;
}

namespace {

const DataEntry& entry_of(const Place& place, const std::vector<DataEntry>& table) {
    const std::vector<std::string_view> names = names_of(table);
    return table[as_name(kind_of(place, "data", names), "data", names)];
}

std::string identity_of(const DataEntry& entry, const Place& place, int workers,
                        std::uint64_t seed) {
    Json identity = *place.json;
    Json column;
    if (const auto partition = identity.find("partition");
        partition != identity.end() && partition->is_object())
        column = partition->value("column", Json{});
    identity.erase("partition");
    if (!column.is_null()) identity["column"] = column;
    identity["seed"] = seed;
    identity["workers"] = entry.by_worker ? workers : 0;
    identity["beside"] = *place.file;
    return "data " + identity.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

DataChoice read_data(const Place& place, int workers, std::uint64_t seed) {
    const std::vector<DataEntry> table = data_table();
    const DataEntry& entry = entry_of(place, table);
    const ObjectReader read(place, entry.keys);
    seed = seed_of(entry, read, seed);

    DataChoice choice;
    choice.name = std::string(entry.name);
    choice.identity = identity_of(entry, place, workers, seed);
    const std::shared_ptr<DataSets> sets = place.outside().data_sets();
    const auto plan = place.outside().cache->once<DataPlan>(choice.identity, [&] {
        DataPlan made = entry.plan(read, workers, RandomStreams(seed));
        if (made.made) sets->get(choice.identity, [&] { return *std::move(made.made); });
        made.made.reset();
        return made;
    });
    choice.shape = plan->shape;
    choice.is_generated = plan->is_generated;
    choice.set = [plan, sets, identity = choice.identity] {
        return sets->get(identity, plan->make);
    };
    if (choice.shape.train < workers)
        place.refuse(fmt::format("has {} training samples for {} workers; each needs one",
                                 choice.shape.train, workers));
    if (choice.shape.test == 0) place.refuse("has no test samples; give at least one");
    Deal deal;
    if (entry.by_worker) deal.kind = PartitionKind::contiguous;
    if (const auto p = read.optional("partition")) deal = read_partition(*p, *plan, workers);
    choice.shards_are_even =
        deal.kind != PartitionKind::dirichlet && deal.kind != PartitionKind::column;
    choice.deal = [plan, data = choice.set, deal](int n, const RandomStreams& streams) {
        return dealt(*plan, data, deal, n, streams);
    };
    return choice;
}

}  // namespace paceline
