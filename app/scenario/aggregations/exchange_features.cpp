#include "app/scenario/aggregations/exchange_features.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/own_parts.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Feature feature_of(const Compressor& compressor) {
    if (compressor.majority) return Feature::majority;
    if (compressor.of_senders) return Feature::of_senders;
    if (compressor.scaler) return Feature::shared_terngrad;
    if (compressor.brought) return Feature::top_k;  // its messages do not add up either
    const auto features = exchange_features();
    const auto found = std::ranges::find_if(features, [&](const FeatureEntry& entry) {
        return entry.choice == Choice::codec && entry.name == compressor.name;
    });
    PACELINE_CHECK(found != features.end(), "every compressor has its rules (exchange_rules.cpp)");
    return found->feature;
}

Feature feature_of(const AggregationChoice& aggregation) {
    switch (aggregation.kind) {
        case AggregationKind::all_reduce:
            return Feature::all_reduce;
        case AggregationKind::all_gather:
            return Feature::all_gather;
        case AggregationKind::two_phase:
            return Feature::two_phase;
        case AggregationKind::sparse_all_reduce:
            return Feature::sparse_all_reduce;
        case AggregationKind::neighbors:
            return Feature::neighbors;
        case AggregationKind::servers:
            break;
    }
    if (aggregation.plan.coded == ServerCoding::none) return Feature::plain_servers;
    return aggregation.plan.coded == ServerCoding::up ? Feature::servers_up : Feature::servers_both;
}

Feature feature_of(ByMachine by) {
    switch (by) {
        case ByMachine::flat:
            return Feature::flat;
        case ByMachine::leaders:
            return Feature::leaders;
        case ByMachine::shards:
            break;
    }
    return Feature::shards;
}

Features features_of(const AggregationPlan& plan) {
    if (plan.encoded_inside) return Features(Feature::encoding_leaders);
    Features all(feature_of(plan.machines));
    if (plan.levels)
        for (const ExchangeLevel& level : *plan.levels)
            all = all.with(Features(feature_of(level.by)));
    return all;
}

Feature feature_of(PieceRule pieces) {
    switch (pieces) {
        case PieceRule::tensors:
            return Feature::tensors;
        case PieceRule::buckets:
            return Feature::buckets;
        case PieceRule::merged:
            return Feature::merged;
        case PieceRule::whole:
            break;
    }
    return Feature::whole;
}

Feature feature_of(Begin begin) {
    switch (begin) {
        case Begin::in_phases:
            return Feature::in_phases;
        case Begin::beside_backward:
            return Feature::beside_backward;
        case Begin::into_forward:
            return Feature::into_forward;
        case Begin::after_backward:
            break;
    }
    return Feature::after_backward;
}

constexpr std::string_view key_of(Choice choice) {
    switch (choice) {
        case Choice::codec:
            return "codec";
        case Choice::aggregation:
            return "aggregation";
        case Choice::schedule:
            return "schedule";
        case Choice::algorithm:
        case Choice::failures:
            break;
    }
    return "";
}

std::optional<Place> place_of(const Place& algorithm, Choice choice) {
    const std::string key(key_of(choice));
    if (key.empty()) return std::nullopt;
    const auto found = algorithm.json->find(key);
    if (found == algorithm.json->end()) return std::nullopt;
    return algorithm.child(key, *found);
}

// One that the caller brings has the rules of another (feature_of).
std::string name_of_codec(const FeatureEntry& entry, const Place& algorithm) {
    if (const auto codec = place_of(algorithm, Choice::codec))
        if (const auto kind = own_kind_of(*codec)) return as_string(*kind);
    return std::string(entry.name);
}

std::string said(const FeatureEntry& entry, const Place& algorithm) {
    switch (entry.choice) {
        case Choice::algorithm:
            if (entry.feature == Feature::clipping) return "the optimizer's \"clip\"";
            return fmt::format("the kind \"{}\"",
                               algorithm.json->at("kind").get_ref<const std::string&>());
        case Choice::codec:
            return fmt::format("the codec \"{}\"", name_of_codec(entry, algorithm));
        case Choice::aggregation:
            return fmt::format("the aggregation \"{}\"", entry.name);
        case Choice::schedule:
            return fmt::format("the schedule \"{}\"", entry.name);
        case Choice::failures:
            break;
    }
    return fmt::format("\"on_death\": \"{}\"", entry.name);
}

}  // namespace

Features features_of(const Codec& codec) {
    if (const auto* const compressor = std::get_if<Compressor>(&codec.coder))
        return Features(feature_of(*compressor));
    if (std::holds_alternative<LowRankCodec>(codec.coder)) return Features(Feature::power_sgd);
    if (std::holds_alternative<DgcOptions>(codec.coder)) return Features(Feature::dgc);
    return Features(Feature::one_bit);
}

Features features_of(const AggregationChoice& aggregation) {
    return Features(feature_of(aggregation)).with(features_of(aggregation.plan));
}

Features features_of(const ScheduleChoice& choice) {
    const ExchangeSchedule& schedule = choice.schedule;
    Features all(feature_of(choice.pieces), feature_of(schedule.begin),
                 schedule.order == Order::fifo ? Feature::fifo : Feature::priority);
    if (schedule.partition) all = all.with(Features(Feature::partitions));
    if (schedule.partition && schedule.begin == Begin::into_forward)
        all = all.with(Features(Feature::partitions_into_forward));
    if (schedule.streams > 1) all = all.with(Features(Feature::several_streams));
    return all;
}

void check_exchange(const Place& algorithm, Features features) {
    const std::optional<Conflict> conflict = conflict_among(features);
    if (!conflict) return;
    const FeatureEntry& first = entry_of(conflict->first);
    const FeatureEntry& second = entry_of(conflict->second);
    const auto at_second = place_of(algorithm, second.choice);
    const auto at_first = place_of(algorithm, first.choice);
    const Place place = at_second ? *at_second : at_first.value_or(algorithm);
    place.refuse(fmt::format("{} cannot be used with {}: {}", said(second, algorithm),
                             said(first, algorithm), conflict->reason));
}

bool could_have_leaders(Features features) {
    const Features flat(Feature::flat);
    return features.meets(flat) &&
           !conflict_among(features.without(flat).with(Features(Feature::leaders)));
}

std::string_view why_survivors_cannot_go_on(Features features) {
    const auto conflict = conflict_among(features.with(Features(Feature::survivors_go_on)));
    return conflict ? conflict->reason : std::string_view();
}

}  // namespace paceline
