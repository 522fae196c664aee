// Methods that average with few workers at a time: by push-sum, in pairs, or with their momentum.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/gossip/ad_psgd.hpp"
#include "algorithms/gossip/momentum_consensus.hpp"
#include "algorithms/gossip/osgp.hpp"
#include "algorithms/gossip/sgp.hpp"
#include "algorithms/gossip/swarm_sgd.hpp"
#include "analysis/forms/gossip_step_models.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/neighbors.hpp"

namespace paceline {

namespace {

// --- momentum consensus ---

enum class Reading : std::uint8_t { iterate_difference, momentum_buffer };
constexpr auto readings = std::to_array<Spelling<Reading>>({
    {"iterate-difference", Reading::iterate_difference},
    {"momentum-buffer", Reading::momentum_buffer},
});

AlgorithmChoice read_momentum_consensus(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = neighborly(read, in, 2, true);
    MomentumConsensusOptions options{.momentum = in.optimizer.momentum};
    options.exchange = *choice.exchange;
    Reading reading = Reading::iterate_difference;
    if (const auto p = read.optional("reading")) reading = as_choice(*p, "a reading", readings);
    if (const auto p = read.optional("omega")) options.omega = as_number_up_to(*p, 1);
    choice.run = [options, reading](Worker& worker) {
        return reading == Reading::momentum_buffer
                   ? momentum_consensus_of_buffers(worker, options)
                   : momentum_consensus_of_iterates(worker, options);
    };
    return choice;
}

// --- push-sum ---

std::function<MixingPtr(std::int64_t)> mixing_of(const AlgorithmChoice& choice) {
    return [make = choice.mixing.make](std::int64_t k) {
        constexpr std::uint64_t any_seed = 1;  // times do not depend on the draws
        return make(any_seed).at(k);
    };
}

AlgorithmChoice push(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = decentralized(read, in, 1, false, MixingUse::edges);
    choice.contribution = [wire = choice.wire](const Layout& layout, std::int64_t, double) {
        return wire.weigh(layout.entries() + 1);
    };
    return choice;
}

AlgorithmChoice read_sgp(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = push(read, in);
    const SgpOptions options{rule_of(in.optimizer)};
    choice.run = [options](Worker& worker) { return sgp(worker, options); };
    choice.model_step = [of = mixing_of(choice)](const StepModelInput& in, std::int64_t k, double) {
        return sgp_step_time(*of(k), in);
    };
    return choice;
}

AlgorithmChoice read_osgp(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = push(read, in);
    const OsgpOptions options{rule_of(in.optimizer)};
    choice.run = [options](Worker& worker) { return osgp(worker, options); };
    choice.stage = [](std::int64_t k, double) { return k == 0 ? 0.0 : 1.0; };
    choice.model_step = [of = mixing_of(choice)](const StepModelInput& in, std::int64_t k, double) {
        return osgp_step_time(*of(k), k, in);
    };
    return choice;
}

// --- pairs ---

AlgorithmChoice read_ad_psgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    const AdPsgdOptions options{rule_of(in.optimizer)};
    choice.run = [options](Worker& worker) { return ad_psgd(worker, options); };
    choice.sends_at_once = 1;
    choice.contribution = [wire = choice.wire](const Layout& layout, std::int64_t, double) {
        return wire.weigh(layout.entries());
    };
    choice.model_step = [](const StepModelInput& in, std::int64_t, double) {
        return std::optional(free_running_step_time(in));
    };
    choice.messages = [](const StepModelInput& in, std::int64_t) {
        return std::int64_t{2} * (in.workers / 2);
    };
    return choice;
}

enum class SwarmMode : std::uint8_t { blocking, non_blocking, one_sided };
constexpr auto modes = std::to_array<Spelling<SwarmMode>>({
    {"blocking", SwarmMode::blocking},
    {"non-blocking", SwarmMode::non_blocking},
    {"one-sided", SwarmMode::one_sided},
});
constexpr auto step_laws = std::to_array<Spelling<StepsLaw>>({
    {"fixed", StepsLaw::fixed},
    {"geometric", StepsLaw::geometric},
});
constexpr auto swarm_exchanges = std::to_array<std::string_view>({"exact", "lattice"});

// Reads "exact" or an object: {"kind": "lattice", "bits": 8, "step": 1e-3}
std::optional<Lattice> read_exchange(const Place& place, int workers) {
    if (place.json->is_string()) {
        if (as_name(place, "an exchange", swarm_exchanges) == 0) return std::nullopt;
        return Lattice{.step = Lattice{}.step / workers};
    }
    const Place kind = kind_of(place, "an exchange", swarm_exchanges);
    const bool exact = as_name(kind, "an exchange", swarm_exchanges) == 0;
    const Keys keys = definition_keys("lattice-exchange");
    const ObjectReader read(place, exact ? keys.first(1) : keys);
    if (exact) return std::nullopt;
    Lattice lattice{.step = Lattice{}.step / workers};
    if (const auto p = read.optional("bits"))
        lattice.bits = static_cast<int>(as_integer(*p, 1, 32));
    if (const auto p = read.optional("step")) lattice.step = as_number_above(*p, 0, 1e9);
    return lattice;
}

SwarmSgdOptions read_swarm_options(const ObjectReader& read, const AlgorithmInput& in) {
    SwarmSgdOptions options;
    if (const auto p = read.optional("local_steps"))
        options.local_steps = as_integer(*p, 1, most_steps_of_an_option);
    if (const auto p = read.optional("steps_law"))
        options.steps_law = as_choice(*p, "a law of steps", step_laws);
    if (const auto p = read.optional("exchange")) options.lattice = read_exchange(*p, in.workers);
    if (const auto p = read.optional("coding_step"); p && !options.lattice)
        p->refuse("is for the exchange \"lattice\" alone");
    if (const auto p = read.optional("wire"); p && options.lattice)
        p->refuse("is for the exchange \"exact\" alone: a lattice has its own \"bits\"");
    options.coding = read_coding(read);
    return options;
}

void refuse_unless_neighbors_stay(const ObjectReader& read, const AlgorithmChoice& choice) {
    constexpr std::uint64_t any_seed = 1;
    const MixingSchedule schedule = choice.mixing.make(any_seed);
    const Place place = read.required("mixing", "");
    if (!schedule.is_static())
        place.refuse("swarm-sgd needs neighbors that do not change, such as {\"kind\": \"ring\"}");
    const Mixing& mixing = *schedule.at(0);
    for (int i = 0; i < mixing.nodes(); ++i) {
        std::vector<int> heard;
        for (const MixingWeight& w : mixing.row(i))
            if (w.node != i) heard.push_back(w.node);
        if (heard != mixing.listeners(i))
            place.refuse("swarm-sgd needs a graph whose neighbors are mutual");
    }
}

using SwarmAlgorithm = Task<> (*)(Worker&, SwarmSgdOptions);

SwarmAlgorithm algorithm_of(SwarmMode mode) {
    switch (mode) {
        case SwarmMode::blocking:
            return &swarm_sgd_blocking;
        case SwarmMode::non_blocking:
            return &swarm_sgd_non_blocking;
        case SwarmMode::one_sided:
            return &swarm_sgd_one_sided;
    }
    return nullptr;
}

std::optional<Duration> swarm_step_time(SwarmMode mode, const SwarmSgdOptions& options,
                                        const StepModelInput& in, std::int64_t k) {
    if (mode == SwarmMode::non_blocking || in.workers == 1) return free_running_step_time(in);
    if (mode == SwarmMode::one_sided) return std::nullopt;
    return blocking_swarm_step_time(options, k, in);
}

AlgorithmChoice read_swarm_sgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = decentralized(read, in, 1, false);
    refuse_unless_neighbors_stay(read, choice);
    SwarmSgdOptions options = read_swarm_options(read, in);
    options.rule = rule_of(in.optimizer);
    SwarmMode mode = SwarmMode::non_blocking;
    if (const auto p = read.optional("mode")) mode = as_choice(*p, "a mode", modes);

    choice.run = [options, run = algorithm_of(mode)](Worker& worker) {
        return run(worker, options);
    };
    choice.sends_at_once = 2;
    choice.encodes = options.lattice.has_value();
    const std::int64_t steps = options.local_steps;
    choice.contribution = [options, steps, wire = choice.wire](const Layout& layout, std::int64_t,
                                                               double) {
        return Bytes{std::max<std::int64_t>(swarm_message(options, layout, wire).count / steps, 1)};
    };
    constexpr std::int64_t longest_period = 1'000;  // beyond it all steps count alike
    const bool periodic = options.steps_law == StepsLaw::fixed && steps <= longest_period;
    choice.period = periodic ? steps : 1;
    choice.model_step = [mode, options](const StepModelInput& in, std::int64_t k, double) {
        return swarm_step_time(mode, options, in, k);
    };
    choice.messages = [steps, periodic](const StepModelInput& in, std::int64_t k) -> std::int64_t {
        if (in.workers == 1) return 0;
        const std::int64_t most = std::int64_t{2} * in.workers;
        if (periodic) return (k + 1) % steps == 0 ? most : 0;
        return (most + steps - 1) / steps;
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto gossip_algorithms = std::to_array<AlgorithmEntry>({
    {"momentum-consensus",
     "models and momentum mixed (Balu et al.), two readings, from memory",
     "Balu et al., ICASSP 2021 (arXiv 2010.11166), abstract",
     Feature::neighbor_models,
     &read_momentum_consensus,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"sgp",
     "stochastic gradient push (Assran et al., ICML 2019)",
     "Assran et al., ICML 2019, Algorithm 1",
     Feature::pushes,
     &read_sgp,
     {.when_nodes_die = WhenNodesDie::loses_shares,
      .mixing_need = MixingNeed::strongly_connected,
      .decays_by_itself = true,
      .supports_nesterov_and_clipping = true}},
    {"osgp",
     "the same, messages one step late",
     "Assran et al., ICML 2019; released code: facebookresearch/stochastic_gradient_push",
     Feature::pushes,
     &read_osgp,
     {.when_nodes_die = WhenNodesDie::loses_shares,
      .mixing_need = MixingNeed::strongly_connected,
      .decays_by_itself = true,
      .supports_nesterov_and_clipping = true}},
    {"ad-psgd",
     "pairs average while gradients are computed (Lian et al., ICML 2018)",
     "Lian, Zhang, Zhang, Liu, ICML 2018; released code: facebookresearch/stochastic_gradient_push",
     Feature::pairs,
     &read_ad_psgd,
     {.when_nodes_die = WhenNodesDie::skips,
      .runs_freely = true,
      .decays_by_itself = true,
      .supports_nesterov_and_clipping = true}},
    {"swarm-sgd",
     "local steps, then a random neighbor (NeurIPS 2021)",
     "Nadiradze et al., NeurIPS 2021, arXiv 1910.12308 (abstract); released code: "
     "ICLR-PopSGD/PopSGD",
     Feature::pairs,
     &read_swarm_sgd,
     {.when_nodes_die = WhenNodesDie::skips,
      .runs_freely = true,
      .decays_by_itself = true,
      .supports_nesterov_and_clipping = true}},
});

}  // namespace

std::span<const AlgorithmEntry> gossip_family() {
    return gossip_algorithms;
}

}  // namespace paceline
