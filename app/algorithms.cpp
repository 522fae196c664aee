#include "app/algorithms.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/awc_dmsgd.hpp"
#include "algorithms/collective.hpp"
#include "algorithms/d2_dmsgd.hpp"
#include "algorithms/da_dmsgd.hpp"
#include "algorithms/decentlam.hpp"
#include "algorithms/dense_sgd.hpp"
#include "algorithms/dgc.hpp"
#include "algorithms/dmsgd.hpp"
#include "algorithms/dsgd.hpp"
#include "algorithms/dsgd_awc.hpp"
#include "algorithms/gradient_dropping.hpp"
#include "algorithms/gradient_tracking.hpp"
#include "algorithms/overlapped_sgd.hpp"
#include "algorithms/pmsgd_lars.hpp"
#include "algorithms/qg_dmsgd.hpp"
#include "analysis/message_counts.hpp"
#include "app/names.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_steps = std::int64_t{1} << 40;

constexpr auto wires = std::to_array<Spelling<WireFormat>>({{"fp32", fp32}, {"fp16", fp16}});
constexpr auto laws = std::to_array<Spelling<DensityLaw>>(
    {{"worst-case", DensityLaw::worst_case}, {"independent", DensityLaw::independent}});
constexpr auto encodings = std::to_array<Spelling<SparseFormat>>({{"run-length-16", {6, 4}},
                                                                  {"fp16-int32", {6, 4}},
                                                                  {"fp32-int32", {8, 4}},
                                                                  {"fp32-int64", {12, 4}}});
constexpr auto exchanges = std::to_array<Spelling<SparseExchange>>({
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

constexpr auto operations = std::to_array<Spelling<Operation>>({
    {"all-reduce", Operation::all_reduce},
    {"reduce-scatter", Operation::reduce_scatter},
    {"all-gather-ring", Operation::all_gather_ring},
    {"all-gather-bruck", Operation::all_gather_bruck},
    {"all-to-all", Operation::all_to_all},
    {"broadcast", Operation::broadcast},
    {"reduce", Operation::reduce},
});

constexpr std::array<std::string_view, 5> collective_keys{"kind", "label", "operation",
                                                          "all_reduce", "wire"};
constexpr std::array<std::string_view, 4> dense_keys{"kind", "label", "all_reduce", "wire"};
constexpr std::array<std::string_view, 6> pmsgd_lars_keys{"kind", "label", "all_reduce",
                                                          "wire", "trust", "larc"};
constexpr std::array<std::string_view, 5> overlapped_keys{"kind", "label", "all_reduce", "wire",
                                                          "bucket"};
constexpr std::array<std::string_view, 15> dgc_keys{
    "kind",     "label",        "density",      "density_law",         "encoding",
    "exchange", "uncompressed", "all_reduce",   "selection",           "selection_step",
    "warm_up",  "decay",        "accumulation", "momentum_correction", "masking"};
constexpr std::array<std::string_view, 10> dropping_keys{
    "kind",     "label",      "density",   "density_law",    "encoding",
    "exchange", "all_reduce", "selection", "selection_step", "dense_steps"};
constexpr std::array<std::string_view, 4> decentralized_keys{"kind", "label", "mixing", "wire"};
constexpr std::array<std::string_view, 3> warm_up_key_table{"densities", "steps_each",
                                                            "epochs_each"};

double as_density(const Place& place) {
    return as_number_above(place, 0, 1);
}

// The options that DGC and gradient dropping share, by the same names.
template <class Options>
void read_sparse_options(const ObjectReader& read, const WorkerShape& shape, Options& options) {
    if (const auto p = read.optional("density")) options.density = as_density(*p);
    if (const auto p = read.optional("density_law"))
        options.law = as_choice(*p, "a density law", laws);
    if (const auto p = read.optional("encoding"))
        options.format = as_choice(*p, "an encoding", encodings);
    if (const auto p = read.optional("exchange"))
        options.exchange = as_choice(*p, "a sparse exchange", exchanges);
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, shape);
    if (const auto p = read.optional("selection"))
        options.selection.method = as_choice(*p, "a way to select", selections);
    if (const auto p = read.optional("selection_step"))
        options.selection.per_comparison = as_duration(*p);
}

WarmUp read_warm_up(const Place& place) {
    if (place.json->is_string()) {
        const std::array<std::string_view, 1> none{"none"};
        as_name(place, "a warm-up; write \"none\" or an object", none);
        return {};
    }
    const ObjectReader read(place, warm_up_key_table);
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
        warm_up.steps_each = as_integer(*p, 1, most_steps);
    if (const auto p = read.optional("epochs_each"))
        warm_up.epochs_each = as_number_above(*p, 0, 1e6);
    return warm_up;
}

MomentumRule rule_of(const Optimizer& optimizer) {
    return {optimizer.momentum, optimizer.nesterov, optimizer.weight_decay, optimizer.clip};
}

// What an all-reduce by servers needs.
void use_servers(AlgorithmChoice& choice, const AllReducePlan& plan) {
    if (plan.method != AllReduce::parameter_server) return;
    choice.sends_at_once = plan.servers;
    choice.meets_everybody = true;
    if (plan.first_server_node) choice.server_nodes = plan.servers;
}

AlgorithmChoice read_collective(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice;
    choice.trains = false;
    CollectiveOptions options;
    const Place operation = read.required("operation", "such as \"all-to-all\"");
    options.operation = as_choice(operation, "a collective operation", operations);
    if (const auto p = read.optional("all_reduce")) {
        if (options.operation != Operation::all_reduce)
            p->refuse("is for the operation \"all-reduce\" alone");
        options.all_reduce = read_all_reduce(*p, shape);
    }
    if (const auto p = read.optional("wire")) choice.wire = as_choice(*p, "a wire format", wires);

    use_servers(choice, options.all_reduce);
    if (options.operation == Operation::all_to_all) choice.meets_everybody = true;
    choice.run = [options](Worker& worker) { return collective(worker, options); };
    choice.contribution = [wire = choice.wire](const Layout& layout) {
        return wire.weigh(layout.entries());
    };
    // Broadcasts one after the other run into each other: only the first has a closed form.
    const bool pipelined = options.operation == Operation::broadcast;
    choice.stage = [pipelined](std::int64_t k, double) { return pipelined && k > 0 ? 1.0 : 0.0; };
    choice.model_step = [options, pipelined](const StepModelInput& in, std::int64_t k, double) {
        return pipelined && k > 0 ? std::nullopt : collective_step_time(options, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        return collective_messages(options, in.workers, in.wire.weigh(in.layout->entries()));
    };
    return choice;
}

AlgorithmChoice read_dense(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice;
    DenseSgdOptions options;
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, shape);
    if (const auto p = read.optional("wire")) choice.wire = as_choice(*p, "a wire format", wires);

    use_servers(choice, options.all_reduce);
    choice.decays_by_itself = true;
    choice.looks_ahead_and_clips = true;
    options.rule = rule_of(shape.optimizer);
    choice.run = [options](Worker& worker) { return dense_sgd(worker, options); };
    choice.contribution = [wire = choice.wire](const Layout& layout) {
        return wire.weigh(layout.entries());
    };
    choice.stage = [](std::int64_t, double) { return 0.0; };
    choice.model_step = [options](const StepModelInput& in, std::int64_t, double) {
        return dense_sgd_step_time(options, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        return all_reduce_messages(options.all_reduce, in.workers,
                                   in.wire.weigh(in.layout->entries()));
    };
    return choice;
}

// Costs what dense SGD costs, and trains otherwise.
AlgorithmChoice read_pmsgd_lars(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice = read_dense(read, shape);
    PmsgdLarsOptions options;
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, shape);
    if (const auto p = read.optional("trust")) options.lars.trust = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("larc")) options.lars.clip = as_bool(*p);
    options.momentum = shape.optimizer.momentum;
    options.lars.weight_decay = shape.optimizer.weight_decay;
    choice.looks_ahead_and_clips = false;
    choice.run = [options](Worker& worker) { return pmsgd_lars(worker, options); };
    return choice;
}

AlgorithmChoice read_overlapped(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice;
    OverlappedSgdOptions options;
    if (const auto p = read.optional("all_reduce")) options.all_reduce = read_all_reduce(*p, shape);
    if (const auto p = read.optional("wire")) choice.wire = as_choice(*p, "a wire format", wires);
    choice.bucket = Bytes{25 << 20};
    if (const auto p = read.optional("bucket")) {
        choice.bucket = as_bytes(*p);
        if (choice.bucket->count == 0) p->refuse("a bucket holds a byte or more");
    }

    use_servers(choice, options.all_reduce);
    choice.decays_by_itself = true;
    choice.looks_ahead_and_clips = true;
    options.rule = rule_of(shape.optimizer);
    choice.run = [options](Worker& worker) { return overlapped_sgd(worker, options); };
    choice.contribution = [wire = choice.wire](const Layout& layout) {
        return wire.weigh(layout.entries());
    };
    choice.stage = [](std::int64_t, double) { return 0.0; };
    choice.model_step = [options](const StepModelInput& in, std::int64_t, double) {
        return overlapped_sgd_step_time(options, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        std::int64_t messages = 0;
        for (const Bucket& bucket : in.timing.buckets)
            messages += all_reduce_messages(options.all_reduce, in.workers,
                                            in.wire.weigh(entries_of(bucket, *in.layout)));
        return messages;
    };
    return choice;
}

// What a run that trains can switch off, and where its decay goes.
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

AlgorithmChoice read_dgc(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice;
    DgcOptions options;
    read_sparse_options(read, shape, options);
    if (const auto p = read.optional("uncompressed"))
        options.uncompressed = as_choice(*p, "a way for uncompressed tensors", uncompresseds);
    if (const auto p = read.optional("warm_up")) options.warm_up = read_warm_up(*p);
    read_dgc_rule(read, shape.optimizer, options);
    choice.decays_by_itself = true;
    choice.looks_ahead_and_clips = true;

    choice.needs_epochs = !options.warm_up.densities.empty() && options.warm_up.steps_each == 0;
    use_servers(choice, options.all_reduce);
    choice.run = [options](Worker& worker) { return dgc(worker, options); };
    choice.contribution = [options](const Layout& layout) {
        return message_bytes(layout, options.density, options.format);
    };
    choice.stage = [options](std::int64_t k, double epoch) {
        return density_at(options, k, epoch);
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double epoch) {
        return dgc_step_time(options, density_at(options, k, epoch), in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t) {
        return sparse_exchange_messages(options, *in.layout, in.wire, in.workers);
    };
    return choice;
}

AlgorithmChoice read_gradient_dropping(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice;
    GradientDroppingOptions options;
    read_sparse_options(read, shape, options);
    if (const auto p = read.optional("dense_steps"))
        options.dense_steps = as_integer(*p, 0, most_steps);
    options.rule = rule_of(shape.optimizer);
    choice.decays_by_itself = true;
    choice.looks_ahead_and_clips = true;

    use_servers(choice, options.all_reduce);
    choice.run = [options](Worker& worker) { return gradient_dropping(worker, options); };
    choice.contribution = [options](const Layout& layout) {
        return message_bytes(*as_one_tensor(layout), options.density, options.format);
    };
    choice.stage = [options](std::int64_t k, double) {
        return k < options.dense_steps ? 1.0 : options.density;
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double) {
        return gradient_dropping_step_time(options, k, in);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t k) {
        if (k < options.dense_steps)
            return all_reduce_messages(options.all_reduce, in.workers,
                                       in.wire.weigh(in.layout->entries()));
        return sparse_exchange_messages(exchange_of(options), *as_one_tensor(*in.layout), in.wire,
                                        in.workers);
    };
    return choice;
}

// What the decentralized algorithms have in common: a mixing, and how they use it.
AlgorithmChoice decentralized(const ObjectReader& read, const AlgorithmInput& shape, int vectors,
                              bool beside) {
    AlgorithmChoice choice;
    choice.mixing =
        read_mixing(read.required("mixing", "such as {\"kind\": \"ring\"}"), shape.workers);
    choice.sends_at_once = choice.mixing.degree * vectors;
    choice.meets_everybody = choice.mixing.meets_everybody;
    if (const auto p = read.optional("wire")) choice.wire = as_choice(*p, "a wire format", wires);
    choice.contribution = [wire = choice.wire, vectors](const Layout& layout) {
        return vectors * wire.weigh(layout.entries());
    };
    choice.stage = [](std::int64_t, double) { return 0.0; };
    // Of what is drawn, time and messages of a step do not depend on the seed.
    const auto mixing_of = [make = choice.mixing.make](std::int64_t k) {
        constexpr std::uint64_t any_seed = 1;
        return make(any_seed).at(k);
    };
    choice.model_step = [mixing_of, vectors, beside](const StepModelInput& in, std::int64_t k,
                                                     double) {
        return neighbor_step_time(*mixing_of(k), vectors, beside, in);
    };
    choice.messages = [mixing_of, vectors](const StepModelInput&, std::int64_t k) {
        const MixingPtr mixing = mixing_of(k);
        std::int64_t messages = 0;
        for (int i = 0; i < mixing->nodes(); ++i)
            messages += static_cast<std::int64_t>(mixing->listeners(i).size()) * vectors;
        return messages;
    };
    return choice;
}

// Algorithms whose one option is the momentum.
template <class Options>
AlgorithmChoice with_momentum(const ObjectReader& read, const AlgorithmInput& shape, int vectors,
                              bool beside, Task<> (*algorithm)(Worker&, Options)) {
    AlgorithmChoice choice = decentralized(read, shape, vectors, beside);
    const Options options{.momentum = shape.optimizer.momentum};
    choice.run = [options, algorithm](Worker& worker) { return algorithm(worker, options); };
    return choice;
}

AlgorithmChoice read_dsgd(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice = decentralized(read, shape, 1, false);
    choice.run = [](Worker& worker) { return dsgd(worker); };
    return choice;
}

AlgorithmChoice read_dsgd_awc(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice = decentralized(read, shape, 1, true);
    choice.run = [](Worker& worker) { return dsgd_awc(worker); };
    return choice;
}

AlgorithmChoice read_dmsgd(const ObjectReader& read, const AlgorithmInput& shape) {
    return with_momentum(read, shape, 1, false, &dmsgd);
}

AlgorithmChoice read_awc_dmsgd(const ObjectReader& read, const AlgorithmInput& shape) {
    return with_momentum(read, shape, 1, true, &awc_dmsgd);
}

AlgorithmChoice read_da_dmsgd(const ObjectReader& read, const AlgorithmInput& shape) {
    return with_momentum(read, shape, 2, false, &da_dmsgd);
}

AlgorithmChoice read_decentlam(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice = with_momentum(read, shape, 1, false, &decentlam);
    choice.mixing_need = MixingNeed::symmetric_and_static;
    return choice;
}

AlgorithmChoice read_qg_dmsgd(const ObjectReader& read, const AlgorithmInput& shape) {
    return with_momentum(read, shape, 1, false, &qg_dmsgd);
}

AlgorithmChoice read_d2_dmsgd(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice = with_momentum(read, shape, 1, false, &d2_dmsgd);
    choice.mixing_need = MixingNeed::least_eigenvalue_above_minus_third;
    return choice;
}

AlgorithmChoice read_gradient_tracking(const ObjectReader& read, const AlgorithmInput& shape) {
    AlgorithmChoice choice = decentralized(read, shape, 2, false);
    choice.run = [](Worker& worker) { return gradient_tracking(worker); };
    return choice;
}

// To add an algorithm: algorithms/<name>.{hpp,cpp}, a reader above, a line here.
constexpr std::array<AlgorithmEntry, 16> table{{
    {"dense", "synchronous SGD, gradients all-reduced whole", dense_keys, &read_dense},
    {"dense-overlapped", "the same, in buckets while backward runs on", overlapped_keys,
     &read_overlapped},
    {"dgc", "Deep Gradient Compression (Lin et al., ICLR 2018)", dgc_keys, &read_dgc},
    {"gradient-dropping", "one global threshold (Aji, Heafield, EMNLP 2017)", dropping_keys,
     &read_gradient_dropping},
    {"pmsgd", "dense, as the literature of decentralized training names it", dense_keys,
     &read_dense},
    {"pmsgd-lars", "the same with LARS (You et al., 2017)", pmsgd_lars_keys, &read_pmsgd_lars},
    {"dsgd", "decentralized SGD, adapt then combine", decentralized_keys, &read_dsgd},
    {"dsgd-awc", "D-PSGD: the average runs beside the gradient (NeurIPS 2017)", decentralized_keys,
     &read_dsgd_awc},
    {"dmsgd", "decentralized momentum SGD, adapt then combine", decentralized_keys, &read_dmsgd},
    {"awc-dmsgd", "the same, the average beside the gradient", decentralized_keys, &read_awc_dmsgd},
    {"da-dmsgd", "doubly averaged; its order of steps from memory, unverified", decentralized_keys,
     &read_da_dmsgd},
    {"decentlam", "DecentLaM: momentum without bias (Yuan et al., ICCV 2021)", decentralized_keys,
     &read_decentlam},
    {"qg-dmsgd", "quasi-global momentum (Lin et al., ICML 2021)", decentralized_keys,
     &read_qg_dmsgd},
    {"d2-dmsgd", "D2 with momentum, exact diffusion", decentralized_keys, &read_d2_dmsgd},
    {"gradient-tracking", "each follows the mean gradient of all", decentralized_keys,
     &read_gradient_tracking},
    {"collective", "one collective per step and no training: measures a network", collective_keys,
     &read_collective},
}};

}  // namespace

std::span<const AlgorithmEntry> algorithm_table() {
    return table;
}

Keys warm_up_keys() {
    return warm_up_key_table;
}

AlgorithmChoice read_algorithm(const Place& place, const AlgorithmInput& shape) {
    const std::vector<std::string_view> names = names_of(table);
    const Place kind = kind_of(place, "an algorithm", names);
    const AlgorithmEntry& entry = table[as_name(kind, "an algorithm", names)];
    const ObjectReader read(place, entry.keys);
    AlgorithmChoice choice = entry.read(read, shape);
    const auto label = read.optional("label");
    choice.label = label ? as_string(*label) : std::string(entry.name);
    return choice;
}

}  // namespace paceline
