#include "app/scenario/algorithms/exchange.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "analysis/forms/exchange_forms.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "app/scenario/aggregations/exchange_features.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/common.hpp"

namespace paceline {

namespace {

// Records what the aggregation needs of the cluster.
void need_of_aggregation(AlgorithmChoice& choice, const AggregationPlan& aggregation) {
    if (aggregation.kind == Aggregation::servers) {
        choice.sends_at_once = std::max(choice.sends_at_once, aggregation.servers);
        choice.meets_everybody = true;
        if (aggregation.first_server_node) choice.server_nodes = aggregation.servers;
    }
    if (aggregation.kind == Aggregation::two_phase) choice.meets_everybody = true;
    use_all_reduce(choice, aggregation.all_reduce);
    if (aggregation.kind != Aggregation::all_reduce || aggregation.machines != ByMachine::flat)
        choice.all_reduce.reset();
    if (aggregation.kind != Aggregation::all_reduce) choice.names_hierarchy = false;
    if (aggregation.kind != Aggregation::all_reduce)
        choice.goes_around = aggregation.kind == Aggregation::all_gather &&
                             aggregation.all_gather == AllGather::ring;
    if (aggregation.levels) choice.goes_around = false;  // from machine to machine
}

AggregationKind kind_of_aggregation(const AggregationPlan& plan) {
    switch (plan.kind) {
        case Aggregation::all_reduce:
            return AggregationKind::all_reduce;
        case Aggregation::all_gather:
            return AggregationKind::all_gather;
        case Aggregation::two_phase:
            return AggregationKind::two_phase;
        case Aggregation::sparse_all_reduce:
            return AggregationKind::sparse_all_reduce;
        case Aggregation::servers:
            break;
    }
    return AggregationKind::servers;
}

// The aggregation of a codec that none was chosen for.
Aggregation usual_aggregation(const Codec& codec) {
    if (const auto* const compressor = std::get_if<Compressor>(&codec.coder))
        return compressor->combining == Combining::summable ? Aggregation::all_reduce
                                                            : Aggregation::all_gather;
    if (std::holds_alternative<LowRankCodec>(codec.coder)) return Aggregation::all_reduce;
    if (std::holds_alternative<DgcOptions>(codec.coder)) return Aggregation::sparse_all_reduce;
    return Aggregation::two_phase;
}

// What it sends is no codec that others can take.
bool encodes_by_itself(Feature algorithm) {
    using enum Feature;
    return Features(dropping_step, column_step, components, global_top_k).has(algorithm);
}

// Returns the pieces that a preset has.
ScheduleChoice schedule_of(const ExchangeOptions& preset, const AlgorithmChoice& choice) {
    ScheduleChoice schedule{.schedule = preset.schedule};
    if (!preset.schedule.whole) {
        schedule.pieces = PieceRule::buckets;
        schedule.bucket = choice.bucket.value_or(Bytes{1});
    }
    return schedule;
}

void read_schedule(const Place& place, ExchangeOptions& options, AlgorithmChoice& choice,
                   ScheduleChoice& schedule) {
    schedule = read_schedule_choice(place);
    options.schedule = schedule.schedule;
    choice.bucket.reset();
    choice.merges_pieces = schedule.pieces == PieceRule::merged;
    if (choice.merges_pieces)
        choice.bucket = Bytes{1};  // tensors, which are merged when the network is known
    else if (schedule.pieces != PieceRule::whole)
        choice.bucket = schedule.bucket;
}

}  // namespace

ExchangeOptions read_exchange(const ObjectReader& read, const AlgorithmInput& in,
                              ExchangeOptions preset, AlgorithmChoice& choice) {
    ExchangeOptions options = std::move(preset);
    const auto codec = read.optional("codec");
    const auto aggregation = read.optional("aggregation");
    const auto schedule = read.optional("schedule");
    ScheduleChoice pieces = schedule_of(options, choice);
    if (codec) {
        options.codec = read_codec(*codec, in);
        if (!aggregation) options.aggregation.kind = usual_aggregation(options.codec);
    }
    AggregationChoice travel{kind_of_aggregation(options.aggregation), options.aggregation};
    if (aggregation) {
        travel = read_aggregation_choice(*aggregation, in);
        options.aggregation = travel.plan;
    }
    if (schedule) read_schedule(*schedule, options, choice, pieces);
    Features features =
        Features(in.exchanges).with(in.around).with(features_of(travel)).with(features_of(pieces));
    if (codec || !encodes_by_itself(in.exchanges))
        features = features.with(features_of(options.codec));
    if (in.optimizer.clip > 0) features = features.with(Features(Feature::clipping));
    const bool is_chosen = codec || aggregation || schedule || in.around != Features();
    if (is_chosen) check_exchange(read.place(), features);
    if (schedule && std::holds_alternative<DgcOptions>(options.codec.coder) &&
        in.optimizer.clip > 0 && pieces.pieces != PieceRule::whole)
        schedule->refuse(
            "DGC clips by the norm of the whole gradient, which its pieces do not know: write "
            "\"whole\", or leave out the optimizer's \"clip\"");
    choice.why_survivors_cannot_go_on = why_survivors_cannot_go_on(features);
    choice.could_have_leaders = could_have_leaders(features);
    choice.exchange = options;
    need_of_aggregation(choice, options.aggregation);
    return options;
}

ExchangeOptions read_neighbor_exchange(const ObjectReader& read, const AlgorithmInput& in,
                                       AlgorithmChoice& choice) {
    ExchangeOptions options;
    AggregationChoice travel{AggregationKind::neighbors, {}};
    ScheduleChoice pieces;
    const auto codec = read.optional("codec");
    const auto aggregation = read.optional("aggregation");
    const auto schedule = read.optional("schedule");
    if (codec) options.codec = read_codec(*codec, in);
    if (aggregation) travel = read_aggregation_choice(*aggregation, in);
    options.aggregation = travel.plan;
    if (schedule) read_schedule(*schedule, options, choice, pieces);
    const Features features = Features(in.exchanges)
                                  .with(in.around)
                                  .with(features_of(options.codec))
                                  .with(features_of(travel))
                                  .with(features_of(pieces));
    const bool is_chosen = codec || aggregation || schedule || in.around != Features();
    if (is_chosen) check_exchange(read.place(), features);
    choice.why_survivors_cannot_go_on = why_survivors_cannot_go_on(features);
    choice.exchange = options;
    return options;
}

void cost_by_exchange(AlgorithmChoice& choice, const AlgorithmInput& in,
                      const ExchangeOptions& options, std::int64_t passes) {
    choice.contribution = [options, wire = choice.wire, workers = in.workers](
                              const Layout& layout, std::int64_t, double) {
        return form_of_contribution(options, layout, wire, workers);
    };
    choice.model_step = [options, passes](const StepModelInput& at, std::int64_t, double) {
        return exchange_step_time(options, passes, at);
    };
    choice.messages = [options](const StepModelInput& at, std::int64_t) {
        return exchange_messages(options, at);
    };
}

}  // namespace paceline
