// Methods that average with neighbors in every step.
#include <array>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/decentralized/awc_dmsgd.hpp"
#include "algorithms/decentralized/d2_dmsgd.hpp"
#include "algorithms/decentralized/da_dmsgd.hpp"
#include "algorithms/decentralized/decentlam.hpp"
#include "algorithms/decentralized/dmsgd.hpp"
#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/decentralized/dsgd_awc.hpp"
#include "algorithms/decentralized/gradient_tracking.hpp"
#include "algorithms/decentralized/momentum_tracking.hpp"
#include "algorithms/decentralized/qg_dadam.hpp"
#include "algorithms/decentralized/qg_dmsgd.hpp"
#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/step_models.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/neighbors.hpp"

namespace paceline {

namespace {

// Reads algorithms whose only option is the momentum.
template <class Options>
AlgorithmChoice with_momentum(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                              bool beside, Task<> (*algorithm)(Worker&, Options)) {
    AlgorithmChoice choice = neighborly(read, in, vectors, beside);
    const Options options{.momentum = in.optimizer.momentum, .exchange = *choice.exchange};
    choice.run = [options, algorithm](Worker& worker) { return algorithm(worker, options); };
    return choice;
}

AlgorithmChoice read_dsgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = neighborly(read, in, 1, false);
    choice.run = [exchange = *choice.exchange](Worker& worker) { return dsgd(worker, exchange); };
    return choice;
}

AlgorithmChoice read_dsgd_awc(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = neighborly(read, in, 1, true);
    choice.run = [exchange = *choice.exchange](Worker& worker) {
        return dsgd_awc(worker, exchange);
    };
    return choice;
}

AlgorithmChoice read_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 1, false, &dmsgd);
}

AlgorithmChoice read_awc_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 1, true, &awc_dmsgd);
}

AlgorithmChoice read_da_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 2, false, &da_dmsgd);
}

AlgorithmChoice read_decentlam(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 1, false, &decentlam);
}

AlgorithmChoice read_qg_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 1, false, &qg_dmsgd);
}

AlgorithmChoice read_qg_dadam(const ObjectReader& read, const AlgorithmInput& in) {
    constexpr auto moments =
        std::to_array<Spelling<Moments>>({{"both", Moments::both}, {"second", Moments::second}});
    QgDadamOptions options;
    options.rule = read_adam_rule(read, in, options.rule);
    options.rule.weight_decay = 0;  // the gradient has it
    if (const auto p = read.optional("moments"))
        options.moments = as_choice(*p, "a choice of moments", moments);
    AlgorithmChoice choice = neighborly(read, in, 1, false);
    options.exchange = *choice.exchange;
    choice.run = [options](Worker& worker) { return qg_dadam(worker, options); };
    return choice;
}

AlgorithmChoice read_d2_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 1, false, &d2_dmsgd);
}

AlgorithmChoice read_gradient_tracking(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = neighborly(read, in, 2, false);
    choice.run = [exchange = *choice.exchange](Worker& worker) {
        return gradient_tracking(worker, exchange);
    };
    return choice;
}

// The first step also averages the first gradients. Members of a ring whose chunks are unequal
// leave it up to a byte of each round apart, and what they send next shares links with its last
// messages.
AlgorithmChoice read_momentum_tracking(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = with_momentum(read, in, 2, false, &momentum_tracking);
    choice.model_step = [later = choice.model_step](const StepModelInput& in, std::int64_t k,
                                                    double epoch) -> std::optional<Duration> {
        const std::optional<Duration> step = later(in, k, epoch);
        if (!step || k > 0) return step;
        const Bytes size = in.wire.weigh(in.layout->entries());
        const std::optional<Duration> average =
            all_reduce_time(AllReduce::ring, in.workers, size, in.network);
        if (!average) return std::nullopt;
        const bool unequal = size.count % in.workers != 0;
        const Bytes apart{unequal ? 2 * (std::int64_t{in.workers} - 1) : 0};
        return sum(sum(*step, *average), apart / in.network.star.bandwidth);
    };
    choice.messages = [later = choice.messages](const StepModelInput& in, std::int64_t k) {
        const Bytes size = in.wire.weigh(in.layout->entries());
        return later(in, k) + (k == 0 ? all_reduce_messages(AllReduce::ring, in.workers, size) : 0);
    };
    choice.contribution = [later = choice.contribution, wire = choice.wire](
                              const Layout& layout, std::int64_t k, double epoch) {
        const Bytes average = wire.weigh(layout.entries());
        return later(layout, k, epoch) + (k == 0 ? average : Bytes{});
    };
    choice.stage = [](std::int64_t k, double) { return k == 0 ? 0.0 : 1.0; };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto decentralized_algorithms = std::to_array<AlgorithmEntry>({
    {"dsgd",
     "decentralized SGD, adapt then combine",
     "Chen, Sayed, IEEE Trans. Signal Processing 60, 2012",
     Feature::neighbor_models,
     &read_dsgd,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"dsgd-awc",
     "D-PSGD: averaging overlaps the gradient (NeurIPS 2017)",
     "Lian et al., NeurIPS 2017 (D-PSGD)",
     Feature::neighbor_models,
     &read_dsgd_awc,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"dmsgd",
     "decentralized momentum SGD, adapt then combine",
     "released code: yukiTakezawa/MomentumTracking; the baseline of Yuan et al., ICCV 2021",
     Feature::neighbor_models,
     &read_dmsgd,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"awc-dmsgd",
     "the same, averaging overlaps the gradient",
     "released code: SCSLabISU/CDSGD, Polyak variant",
     Feature::neighbor_models,
     &read_awc_dmsgd,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"da-dmsgd",
     "doubly averaged; its order of steps from memory, unverified",
     "Yu, Jin, Yang, ICML 2019",
     Feature::neighbor_models,
     &read_da_dmsgd,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"decentlam",
     "DecentLaM: momentum without bias (Yuan et al., ICCV 2021)",
     "Yuan et al., ICCV 2021; released code: yukiTakezawa/MomentumTracking",
     Feature::neighbor_models,
     &read_decentlam,
     {.when_nodes_die = WhenNodesDie::renormalizes,
      .mixing_need = MixingNeed::symmetric_and_static}},
    {"qg-dmsgd",
     "quasi-global momentum (Lin et al., ICML 2021)",
     "Lin et al., ICML 2021; released code: epfml/quasi-global-momentum",
     Feature::neighbor_models,
     &read_qg_dmsgd,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"qg-dadam",
     "decentralized Adam with quasi-global moments (Lin et al., ICML 2021)",
     "Lin et al., ICML 2021; released code: epfml/quasi-global-momentum",
     Feature::neighbor_models,
     &read_qg_dadam,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"d2-dmsgd",
     "D2 with momentum, exact diffusion",
     "Tang et al., ICML 2018; momentum: EDM, arXiv 2501.19082",
     Feature::neighbor_models,
     &read_d2_dmsgd,
     {.when_nodes_die = WhenNodesDie::renormalizes,
      .mixing_need = MixingNeed::least_eigenvalue_above_minus_third}},
    {"gradient-tracking",
     "each follows the mean gradient of all",
     "Qu, Li, IEEE Trans. Control of Network Systems 5, 2018",
     Feature::neighbor_models,
     &read_gradient_tracking,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
    {"momentum-tracking",
     "each follows the mean momentum of all (Takezawa et al., 2022)",
     "Takezawa et al., 2022; released code: yukiTakezawa/MomentumTracking",
     Feature::neighbor_models,
     &read_momentum_tracking,
     {.when_nodes_die = WhenNodesDie::renormalizes}},
});

}  // namespace

std::span<const AlgorithmEntry> decentralized_family() {
    return decentralized_algorithms;
}

}  // namespace paceline
