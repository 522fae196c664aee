// Methods that exchange only the largest entries.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/sparse/dgc.hpp"
#include "algorithms/sparse/gradient_dropping.hpp"
#include "algorithms/sparse/gtop_k.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/sparse_forms.hpp"
#include "analysis/forms/step_models.hpp"
#include "app/scenario/algorithms/codecs.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/synchronous.hpp"

namespace paceline {

namespace {

AlgorithmChoice read_dgc(const ObjectReader& read, const AlgorithmInput& in) {
    const Json codec = "dgc";
    const Codec usual = read_codec({&codec, read.place().file, read.place().path}, in);
    AlgorithmChoice choice;
    const ExchangeOptions exchange =
        read_exchange(read, in, sparse_exchange(std::get<DgcOptions>(usual.coder)), choice);
    return sparse_sgd(std::move(choice), in, exchange);
}

AlgorithmChoice read_gradient_dropping(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    GradientDroppingOptions options;
    DgcOptions& codec = options.codec;
    read_sparse_messages(read, codec.density, codec.law, codec.format, codec.selection);
    if (const auto p = read.optional("dense_steps"))
        options.dense_steps = as_integer(*p, 0, most_steps_of_an_option);
    options.rule = rule_of(in.optimizer);
    options.aggregation = read_exchange(read, in, sparse_exchange(codec), choice).aggregation;
    choice.exchange.reset();
    choice.kept = kept_by_momentum(in) + 1;  // the residual
    choice.run = [options](Worker& worker) { return gradient_dropping(worker, options); };
    choice.contribution = [options, wire = choice.wire](const Layout& layout, std::int64_t k,
                                                        double) {
        if (k < options.dense_steps) return wire.weigh(layout.entries());
        const Layout everything({{"everything", {layout.entries(), 1}}});
        return form_of_message(everything, options.codec.density, options.codec.format);
    };
    choice.stage = [options](std::int64_t k, double) {
        return k < options.dense_steps ? 0.0 : 1.0;
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double) {
        return gradient_dropping_step_time(options, k, in);
    };
    choice.least_density = codec.density;
    choice.encodes = true;
    choice.messages = [options](const StepModelInput& in, std::int64_t k) {
        if (k < options.dense_steps)
            return all_reduce_messages(options.aggregation.all_reduce, in.workers,
                                       in.wire.weigh(in.layout->entries()));
        const Layout everything({{"everything", {in.layout->entries(), 1}}});
        return sparse_exchange_messages(options.codec, options.aggregation, everything,
                                        options.codec.density, in.workers);
    };
    return choice;
}

AlgorithmChoice read_gtop_k(const ObjectReader& read, const AlgorithmInput& in) {
    GtopKOptions options;
    if (const auto p = read.optional("density")) options.density = as_number_above(*p, 0, 1);
    read_selection(read, options.selection);
    options.rule = rule_of(in.optimizer);
    AlgorithmChoice choice;
    choice.kept = kept_by_momentum(in) + 1;  // the residual
    choice.run = [options](Worker& worker) { return gtop_k(worker, options); };
    choice.contribution = [options](const Layout& layout, std::int64_t, double) {
        return gtop_k_bytes(options, layout.entries());
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t,
                                  double) -> std::optional<Duration> {
        const std::int64_t entries = in.layout->entries();
        const auto travel = all_reduce_time(AllReduce::tree, in.workers,
                                            gtop_k_bytes(options, entries), in.network);
        if (!travel) return std::nullopt;
        const Layout everything({{"everything", {entries, 1}}});
        const Duration selecting =
            form_of_selection(options.selection, everything, options.density);
        return sum(sum(in.timing.step, selecting), sum(*travel, in.update));
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        return all_reduce_messages(AllReduce::tree, in.workers,
                                   gtop_k_bytes(options, in.layout->entries()));
    };
    choice.least_density = options.density;
    choice.encodes = true;
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto sparse_algorithms = std::to_array<AlgorithmEntry>({
    {"dgc", "Deep Gradient Compression (Lin et al., ICLR 2018)",
     "Lin et al., ICLR 2018; released code: synxlin/deep-gradient-compression", Feature::dgc_step,
     &read_dgc, momentum_sgd_on_replicas},
    {"gradient-dropping", "one global threshold (Aji, Heafield, EMNLP 2017)",
     "Aji, Heafield, EMNLP 2017; released code: Marian", Feature::dropping_step,
     &read_gradient_dropping, momentum_sgd_on_replicas},
    {"gtop-k", "gTop-k: a tree that keeps the largest entries of every sum (ICDCS 2019)",
     "Shi et al., ICDCS 2019; released code: HKBU-HPML/gtopkssgd", Feature::global_top_k,
     &read_gtop_k, momentum_sgd_on_replicas},
});

}  // namespace

namespace {

// Returns the densities of all stages, the final one last.
std::vector<double> densities_of(const DgcOptions& options) {
    std::vector<double> densities = options.warm_up.densities;
    densities.push_back(options.density);
    return densities;
}

// Density 1 travels dense, by the same schedule.
ExchangeOptions at_density(const ExchangeOptions& exchange, double density) {
    return density < 1 ? exchange : dense_stage(exchange);
}

// Stages in steps are told apart by the step. Stages in epochs are not, and the dearest counts.
std::int64_t dgc_messages(const ExchangeOptions& exchange, const StepModelInput& in,
                          std::int64_t k) {
    const auto& options = std::get<DgcOptions>(exchange.codec.coder);
    const auto at = [&](double density) {
        return exchange_messages(at_density(exchange, density), in, density);
    };
    if (options.warm_up.steps_each > 0) return at(density_at(options, k, 0));
    std::int64_t most = 0;
    for (const double density : densities_of(options)) most = std::max(most, at(density));
    return most;
}

}  // namespace

AlgorithmChoice sparse_sgd(AlgorithmChoice choice, const AlgorithmInput& in,
                           const ExchangeOptions& exchange) {
    const auto options = std::get<DgcOptions>(exchange.codec.coder);
    const DgcAlgorithmOptions all{exchange};
    choice.kept = kept_by_codec(exchange.codec, in.workers);
    choice.needs_epochs = !options.warm_up.densities.empty() && options.warm_up.steps_each == 0;
    choice.run = [all](Worker& worker) { return dgc(worker, all); };
    choice.contribution = [options](const Layout& layout, std::int64_t k, double epoch) {
        return form_of_message(layout, density_at(options, k, epoch), options.format);
    };
    choice.stage = [options](std::int64_t k, double epoch) {
        return static_cast<double>(stage_at(options, k, epoch));
    };
    choice.least_density = std::ranges::min(densities_of(options));
    choice.encodes = true;
    choice.model_step = [exchange, options](const StepModelInput& in, std::int64_t k,
                                            double epoch) {
        const double density = density_at(options, k, epoch);
        return exchange_step_time(at_density(exchange, density), 0, in, density);
    };
    choice.messages = [exchange](const StepModelInput& in, std::int64_t k) {
        return dgc_messages(exchange, in, k);
    };
    return choice;
}

std::span<const AlgorithmEntry> sparse_family() {
    return sparse_algorithms;
}

}  // namespace paceline
