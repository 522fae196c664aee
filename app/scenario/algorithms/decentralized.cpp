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
#include "algorithms/decentralized/qg_dmsgd.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/families.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 4> decentralized_keys{"kind", "label", "mixing", "wire"};

// Reads algorithms whose only option is the momentum.
template <class Options>
AlgorithmChoice with_momentum(const ObjectReader& read, const AlgorithmInput& in, int vectors,
                              bool beside, Task<> (*algorithm)(Worker&, Options)) {
    AlgorithmChoice choice = decentralized(read, in, vectors, beside);
    const Options options{.momentum = in.optimizer.momentum};
    choice.run = [options, algorithm](Worker& worker) { return algorithm(worker, options); };
    return choice;
}

AlgorithmChoice read_dsgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = decentralized(read, in, 1, false);
    choice.run = [](Worker& worker) { return dsgd(worker); };
    return choice;
}

AlgorithmChoice read_dsgd_awc(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = decentralized(read, in, 1, true);
    choice.run = [](Worker& worker) { return dsgd_awc(worker); };
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
    AlgorithmChoice choice = with_momentum(read, in, 1, false, &decentlam);
    choice.mixing_need = MixingNeed::symmetric_and_static;
    return choice;
}

AlgorithmChoice read_qg_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    return with_momentum(read, in, 1, false, &qg_dmsgd);
}

AlgorithmChoice read_d2_dmsgd(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = with_momentum(read, in, 1, false, &d2_dmsgd);
    choice.mixing_need = MixingNeed::least_eigenvalue_above_minus_third;
    return choice;
}

AlgorithmChoice read_gradient_tracking(const ObjectReader& read, const AlgorithmInput& in) {
    AlgorithmChoice choice = decentralized(read, in, 2, false);
    choice.run = [](Worker& worker) { return gradient_tracking(worker); };
    return choice;
}

// To add an algorithm: algorithms/<name>.{hpp,cpp}, a reader above, a line here.
constexpr std::array<AlgorithmEntry, 9> decentralized_algorithms{{
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
}};

}  // namespace

std::span<const AlgorithmEntry> decentralized_family() {
    return decentralized_algorithms;
}

}  // namespace paceline
