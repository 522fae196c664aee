#include "app/scenario/algorithms/own_exchange.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/aggregations/exchange_features.hpp"
#include "app/scenario/algorithms/codecs.hpp"

namespace paceline {

void check_own_exchange(const ObjectReader& read, const AlgorithmInput& in) {
    constexpr Features with_own(Feature::pushes, Feature::differences, Feature::pairs,
                                Feature::server_of_models, Feature::server_rounds,
                                Feature::global_top_k, Feature::sharded);
    const Place& place = read.place();
    if (!with_own.has(in.exchanges)) return;
    Features features = Features(in.exchanges).with(in.around);
    if (const auto p = read.optional("codec"))
        features = features.with(features_of(read_codec(*p, in)));
    if (const auto p = read.optional("aggregation"))
        features = features.with(features_of(read_aggregation_choice(*p, in)));
    if (const auto p = read.optional("schedule"))
        features = features.with(features_of(read_schedule_choice(*p)));
    check_exchange(place, features);
}

Codec read_own_codec(const Place& place, const AlgorithmInput& in, bool feedback) {
    const auto refuse = [&](const char* key, const char* why) {
        if (place.json->is_object() && place.json->contains(key))
            place.child(key, place.json->at(key)).refuse(why);
    };
    refuse("leave_out", "this method encodes whole models; leave it out, or use the kind \"sgd\"");
    if (!feedback)
        for (const char* key : {"error_feedback", "error_decay"})
            refuse(key, "what a message leaves out is in the next difference; leave it out");
    return read_codec(place, in);
}

}  // namespace paceline
