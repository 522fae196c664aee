// Methods that exchange only the largest entries.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/sparse/dgc.hpp"
#include "algorithms/sparse/gradient_dropping.hpp"
#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/sparse_forms.hpp"
#include "analysis/forms/step_models.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"

namespace paceline {

namespace {

constexpr auto density_laws = std::to_array<Spelling<DensityLaw>>(
    {{"worst-case", DensityLaw::worst_case}, {"independent", DensityLaw::independent}});
constexpr auto encodings = std::to_array<Spelling<SparseFormat>>({{"run-length-16", {6, 4}},
                                                                  {"fp16-int32", {6, 2, true}},
                                                                  {"fp32-int32", {8, 4}},
                                                                  {"fp32-int64", {12, 4}}});
constexpr auto sparse_exchanges = std::to_array<Spelling<SparseExchange>>({
    {"recursive-doubling", SparseExchange::recursive_doubling},
    {"all-gather-ring", SparseExchange::all_gather_ring},
    {"all-gather-bruck", SparseExchange::all_gather_bruck},
});
constexpr auto uncompresseds = std::to_array<Spelling<Uncompressed>>(
    {{"gathered", Uncompressed::gathered}, {"all-reduced", Uncompressed::all_reduced}});
constexpr auto decay_places = std::to_array<Spelling<DecayPlace>>(
    {{"compressed", DecayPlace::compressed}, {"outside", DecayPlace::outside}});
constexpr auto selections = std::to_array<Spelling<Selection>>(
    {{"free", Selection::free}, {"exact", Selection::exact}, {"sampled", Selection::sampled}});

double as_density(const Place& place) {
    return as_number_above(place, 0, 1);
}

// Reads the options that DGC and gradient dropping share under the same names.
template <class Options>
void read_sparse_options(const ObjectReader& read, const WorkerShape& in, Options& options) {
    if (const auto p = read.optional("density")) options.density = as_density(*p);
    if (const auto p = read.optional("density_law"))
        options.law = as_choice(*p, "a density law", density_laws);
    if (const auto p = read.optional("encoding"))
        options.format = as_choice(*p, "an encoding", encodings);
    if (const auto p = read.optional("exchange"))
        options.exchange = as_choice(*p, "a sparse exchange", sparse_exchanges);
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, in);
    if (const auto p = read.optional("selection"))
        options.selection.method = as_choice(*p, "a way to select", selections);
    if (const auto p = read.optional("selection_step"))
        options.selection.per_comparison = as_duration(*p);
}

WarmUp read_warm_up(const Place& place) {
    if (place.json->is_string()) {
        constexpr auto none = std::to_array<std::string_view>({"none"});
        as_name(place, "a warm-up; write \"none\" or an object", none);
        return {};
    }
    const ObjectReader read(place, definition_keys("warm_up"));
    read.not_both("steps_each", "epochs_each");
    WarmUp warm_up;
    const Place densities =
        read.required("densities", "those of the stages, such as [0.25, 0.0625]");
    if (!densities.json->is_array() || densities.json->empty())
        densities.refuse("is not a list with one density or more, such as [0.25, 0.0625]");
    for (std::size_t i = 0; i < densities.json->size(); ++i)
        warm_up.densities.push_back(as_density(
            {&(*densities.json)[i], densities.file, fmt::format("{}[{}]", densities.path, i)}));
    if (const auto p = read.optional("steps_each"))
        warm_up.steps_each = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("epochs_each"))
        warm_up.epochs_each = as_number_above(*p, 0, 1e6);
    return warm_up;
}

// Returns the densities of all stages, the final one last.
std::vector<double> densities_of(const DgcOptions& options) {
    std::vector<double> densities = options.warm_up.densities;
    densities.push_back(options.density);
    return densities;
}

// Stages in steps are told apart by the step. Stages in epochs are not, and the dearest counts.
std::int64_t dgc_messages(const DgcOptions& options, const StepModelInput& in, std::int64_t k) {
    const auto at = [&](double density) {
        return sparse_exchange_messages(options, *in.layout, density, in.workers);
    };
    if (options.warm_up.steps_each > 0) return at(density_at(options, k, 0));
    std::int64_t most = 0;
    for (const double density : densities_of(options)) most = std::max(most, at(density));
    return most;
}

// Reads the features that a run that trains can switch off, and where weight decay is applied.
void read_dgc_rule(const ObjectReader& read, const Optimizer& optimizer, DgcOptions& options) {
    options.momentum = optimizer.momentum;
    options.nesterov = optimizer.nesterov;
    options.clip = optimizer.clip;
    options.weight_decay = optimizer.weight_decay;
    if (const auto p = read.optional("decay"))
        options.decay = as_choice(*p, "a place of weight decay", decay_places);
    if (const auto p = read.optional("accumulation")) options.accumulation = as_bool(*p);
    if (const auto p = read.optional("momentum_correction"))
        options.momentum_correction = as_bool(*p);
    if (const auto p = read.optional("masking")) options.masking = as_bool(*p);
}

AlgorithmChoice read_dgc(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    DgcOptions options;
    read_sparse_options(read, in, options);
    if (const auto p = read.optional("uncompressed"))
        options.uncompressed = as_choice(*p, "a way for uncompressed tensors", uncompresseds);
    if (const auto p = read.optional("warm_up")) options.warm_up = read_warm_up(*p);
    read_dgc_rule(read, in.optimizer, options);

    const DgcAlgorithmOptions all{read_exchange(read, in, sparse_exchange(options), choice)};
    choice.needs_epochs = !options.warm_up.densities.empty() && options.warm_up.steps_each == 0;
    choice.run = [all](Worker& worker) { return dgc(worker, all); };
    choice.contribution = [options](const Layout& layout, std::int64_t k, double epoch) {
        return form_of_message(layout, density_at(options, k, epoch), options.format);
    };
    choice.stage = [options](std::int64_t k, double epoch) {
        return static_cast<double>(stage_at(options, k, epoch));
    };
    choice.least_density = std::ranges::min(densities_of(options));
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double epoch) {
        return dgc_step_time(options, density_at(options, k, epoch), in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t k) {
        return dgc_messages(options, in, k);
    };
    return choice;
}

AlgorithmChoice read_gradient_dropping(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    GradientDroppingOptions options;
    read_sparse_options(read, in, options);
    if (const auto p = read.optional("dense_steps"))
        options.dense_steps = as_integer(*p, 0, most_steps_of_an_option);
    options.rule = rule_of(in.optimizer);

    use_servers(choice, options.all_reduce);
    choice.run = [options](Worker& worker) { return gradient_dropping(worker, options); };
    choice.contribution = [options, wire = choice.wire](const Layout& layout, std::int64_t k,
                                                        double) {
        if (k < options.dense_steps) return wire.weigh(layout.entries());
        const Layout everything({{"everything", {layout.entries(), 1}}});
        return form_of_message(everything, options.density, options.format);
    };
    choice.stage = [options](std::int64_t k, double) {
        return k < options.dense_steps ? 0.0 : 1.0;
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double) {
        return gradient_dropping_step_time(options, k, in);
    };
    choice.least_density = options.density;
    choice.messages = [options](const StepModelInput& in, std::int64_t k) {
        if (k < options.dense_steps)
            return all_reduce_messages(options.all_reduce, in.workers,
                                       in.wire.weigh(in.layout->entries()));
        const Layout everything({{"everything", {in.layout->entries(), 1}}});
        return sparse_exchange_messages(exchange_of(options), everything, options.density,
                                        in.workers);
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto sparse_algorithms = std::to_array<AlgorithmEntry>({
    {"dgc", "Deep Gradient Compression (Lin et al., ICLR 2018)", &read_dgc,
     momentum_sgd_on_replicas},
    {"gradient-dropping", "one global threshold (Aji, Heafield, EMNLP 2017)",
     &read_gradient_dropping, momentum_sgd_on_replicas},
});

}  // namespace

std::span<const AlgorithmEntry> sparse_family() {
    return sparse_algorithms;
}

}  // namespace paceline
