// Methods that compress what they send.
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compressed/choco_sgd.hpp"
#include "algorithms/compressed/demo.hpp"
#include "algorithms/compressed/ef_sign_sgd.hpp"
#include "algorithms/compressed/power_sgd.hpp"
#include "algorithms/compressed/sign_sgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "analysis/forms/choco_forms.hpp"
#include "app/scenario/aggregations/compressors.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/own_exchange.hpp"
#include "app/scenario/algorithms/synchronous.hpp"

namespace paceline {

namespace {

AlgorithmChoice read_sign(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    const SignSgdOptions options{
        in.optimizer.momentum, read_exchange(read, in, vote_exchange(AllGather::ring, {}), choice)};
    cost_by_exchange(choice, in, options.exchange, sign_momentum_passes);
    choice.run = [options](Worker& worker) { return sign_sgd(worker, options); };
    return choice;
}

AlgorithmChoice read_ef_sign(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    const EfSignSgdOptions options{
        read_exchange(read, in, scaled_sign_exchange(AllGather::ring, {}), choice)};
    cost_by_exchange(choice, in, options.exchange);
    choice.run = [options](Worker& worker) { return ef_sign_sgd(worker, options); };
    return choice;
}

AlgorithmChoice read_power(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    const PowerSgdOptions options{
        read_exchange(read, in, low_rank_exchange(LowRankCodec{}.rank, {}, {}), choice),
        rule_of(in.optimizer)};
    cost_by_exchange(choice, in, options.exchange);
    choice.kept = kept_by_momentum(in) + 1;  // the error
    choice.run = [options](Worker& worker) { return power_sgd(worker, options); };
    return choice;
}

DemoOptions read_demo_options(const ObjectReader& read, const AlgorithmInput& in) {
    DemoOptions options;
    options.weight_decay = in.optimizer.weight_decay;
    if (const auto p = read.optional("decay")) options.decay = as_number_up_to(*p, 1);
    if (const auto p = read.optional("chunk")) options.chunk = as_integer(*p, 1, 4096);
    if (const auto p = read.optional("components"))
        options.components = as_integer(*p, 1, options.chunk * options.chunk);
    if (const auto p = read.optional("bytes_per_component"))
        options.bytes_per_component = as_integer(*p, 1, 64);
    options.coding = read_coding(read);
    return options;
}

AlgorithmChoice read_demo(const ObjectReader& read, const AlgorithmInput& in) {
    DemoOptions options = read_demo_options(read, in);
    ExchangeOptions preset;
    preset.codec = {demo_messages(options), false, options.coding, {}};
    preset.aggregation.kind = Aggregation::all_gather;
    AlgorithmChoice choice;
    const ExchangeOptions exchange = read_exchange(read, in, preset, choice);
    options.all_gather = exchange.aggregation.all_gather;
    cost_by_exchange(choice, in, exchange);
    choice.model_step = [step = choice.model_step, coding = options.coding](
                            const StepModelInput& at, std::int64_t k,
                            double epoch) -> std::optional<Duration> {
        const auto time = step(at, k, epoch);
        if (!time) return std::nullopt;
        return sum(*time, coding_time(coding, demo_passes_behind, at.layout->entries()));
    };
    choice.exchange.reset();
    choice.encodes = true;
    choice.run = [options](Worker& worker) { return demo(worker, options); };
    return choice;
}

// A mixing of workers or, by machine, of machines, that does not change.
MixingPtr read_choco_mixing(const ObjectReader& read, int members, AlgorithmChoice& choice) {
    const Place mixing = read.required("mixing", "such as {\"kind\": \"ring\"}");
    choice.mixing = read_mixing(mixing, members, MixingUse::averages);
    const MixingSchedule schedule = choice.mixing.make(1);
    if (!schedule.is_static())
        mixing.refuse(
            "choco-sgd keeps one sum over its neighbors, which needs a mixing that does not "
            "change, such as \"ring\" or \"torus\"");
    choice.sends_at_once = choice.mixing.degree;
    choice.meets_everybody = choice.mixing.meets_everybody;
    return schedule.at(0);
}

AlgorithmChoice read_choco(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    ChocoSgdOptions options;
    read_own_codec(read.required("codec", "such as \"top-k\""), in, false);
    options.exchange = read_neighbor_exchange(read, in, choice);
    const AggregationPlan& aggregation = options.exchange.aggregation;
    const bool by_machine = aggregation.machines != ByMachine::flat;
    const MixingPtr w =
        read_choco_mixing(read, by_machine ? in.workers / aggregation.devices : in.workers, choice);
    if (const auto p = read.optional("consensus_step"))
        options.consensus_step = as_number_above(*p, 0, 1);

    choice.vectors = 6;
    choice.run = [options](Worker& worker) { return choco_sgd(worker, options); };
    const bool waits = waits_for_backward(options.exchange.schedule.begin);
    choice.contribution = [options, waits](const Layout& layout, std::int64_t k, double) {
        if (k == 0 && waits) return Bytes{};
        return message_bytes(std::get<Compressor>(options.exchange.codec.coder), layout);
    };
    choice.encodes = true;
    choice.stage = [](std::int64_t k, double) { return k == 0 ? 0.0 : 1.0; };
    choice.model_step = [options, w](const StepModelInput& in, std::int64_t k, double) {
        return choco_sgd_step_time(options, *w, k, in);
    };
    choice.messages = [options, w](const StepModelInput& in, std::int64_t k) {
        return choco_sgd_messages(options, *w, k, in);
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto compressed_algorithms = std::to_array<AlgorithmEntry>({
    {"sign-sgd",
     "majority vote of signs, Signum (Bernstein et al., ICML 2018)",
     "Bernstein et al., ICML 2018 and ICLR 2019; released code: sands-lab/grace",
     Feature::vote_step,
     &read_sign,
     {.when_nodes_die = WhenNodesDie::reruns_replicas}},
    {"ef-sign-sgd",
     "scaled signs with error feedback (Karimireddy et al., ICML 2019)",
     "Karimireddy et al., ICML 2019; released code: epfml/error-feedback-SGD",
     Feature::scaled_sign_step,
     &read_ef_sign,
     {.when_nodes_die = WhenNodesDie::reruns_replicas}},
    {"power-sgd", "gradients of low rank (Vogels et al., NeurIPS 2019)",
     "Vogels, Karimireddy, Jaggi, NeurIPS 2019; released code: epfml/powersgd",
     Feature::low_rank_step, &read_power, momentum_sgd_on_replicas},
    {"demo",
     "DeMo: the strongest frequencies of momenta that differ, a step along signs (2024)",
     "Peng, Quesnelle, Kingma, 2024; released code: bloc97/DeMo",
     Feature::components,
     &read_demo,
     {.when_nodes_die = WhenNodesDie::reruns_replicas, .decays_by_itself = true}},
    {"choco-sgd",
     "decentralized, compressed differences (Koloskova et al., ICML 2019)",
     "Koloskova, Stich, Jaggi, ICML 2019; Koloskova, Lin, Stich, Jaggi, ICLR 2020; released code: "
     "epfml/ChocoSGD",
     Feature::differences,
     &read_choco,
     {}},
});

}  // namespace

std::span<const AlgorithmEntry> compressed_family() {
    return compressed_algorithms;
}

}  // namespace paceline
