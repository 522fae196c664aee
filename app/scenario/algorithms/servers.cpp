// Methods with a server.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/servers/async_sgd.hpp"
#include "algorithms/servers/client_rounds.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "algorithms/servers/fedopt.hpp"
#include "algorithms/servers/fedprox.hpp"
#include "algorithms/servers/scaffold.hpp"
#include "algorithms/servers/stale_synchronous_sgd.hpp"
#include "analysis/forms/server_step_models.hpp"
#include "app/scenario/aggregations/compressors.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/own_exchange.hpp"
#include "app/scenario/algorithms/synchronous.hpp"

namespace paceline {

namespace {

// Sets what methods with one server on its own node have in common: one model up and one down.
template <class Options>
AlgorithmChoice with_server(const ObjectReader& read, const Options& options,
                            Task<> (*work)(Worker&, Options), Task<> (*serve)(Worker&, Options)) {
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    choice.run = [options, work](Worker& worker) { return work(worker, options); };
    choice.serve = [options, serve](Worker& server) { return serve(server, options); };
    choice.contribution = [wire = choice.wire](const Layout& layout, std::int64_t, double) {
        return wire.weigh(layout.entries());
    };
    choice.messages = [](const StepModelInput& in, std::int64_t) {
        return std::int64_t{2} * in.workers;
    };
    return choice;
}

// The first step differs from the others: all workers push at once.
double first_or_not(std::int64_t k, double /*epoch*/) {
    return k == 0 ? 0 : 1;
}

AlgorithmChoice read_async(const ObjectReader& read, const AlgorithmInput& in) {
    AsyncSgdOptions options;
    if (const auto p = read.optional("staleness_scaling")) options.staleness_scaling = as_bool(*p);
    options.momentum = in.optimizer.momentum;
    AlgorithmChoice choice = with_server(read, options, &async_sgd, &async_sgd_server);
    choice.stage = first_or_not;
    choice.model_step = [](const StepModelInput& in, std::int64_t k, double) {
        return async_sgd_step_time(in, k);
    };
    return choice;
}

AlgorithmChoice read_stale(const ObjectReader& read, const AlgorithmInput& in) {
    StaleSynchronousSgdOptions options;
    if (const auto p = read.optional("bound"))
        options.bound = as_integer(*p, 0, most_steps_of_an_option);
    options.momentum = in.optimizer.momentum;
    AlgorithmChoice choice =
        with_server(read, options, &stale_synchronous_sgd, &stale_synchronous_sgd_server);
    choice.stage = first_or_not;
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double) {
        return stale_synchronous_sgd_step_time(options, in, k);
    };
    return choice;
}

void read_upload(const ObjectReader& read, const AlgorithmInput& in, bool feedback,
                 RoundOptions& options) {
    const auto p = read.optional("codec");
    if (!p) return;
    const Codec codec = read_own_codec(*p, in, feedback);
    const auto& compressor = std::get<Compressor>(codec.coder);
    if (compressor.lossless) return;  // models travel as they are
    options.compressor = compressor;
    options.error_feedback = feedback && codec.error_feedback;
    options.error_decay = codec.error_decay;
    options.coding = codec.coding;
}

// Returns the steps that go through a client's shard that many times.
std::int64_t steps_of_epochs(const ObjectReader& read, const Place& place,
                             const AlgorithmInput& in) {
    constexpr double most = 1e6;  // steps, as for "local_steps"
    read.not_both("local_steps", "local_epochs");
    const double epochs = as_number_above(place, 0, most);
    if (in.steps_per_epoch == 0)
        place.refuse("needs \"workload.batch\" and a data set's size; or state \"local_steps\"");
    if (!in.shards_are_even)
        place.refuse(
            "would be a different number of steps for each client, because their shards have "
            "different sizes; set \"local_steps\"");
    const double steps = std::clamp(epochs * in.steps_per_epoch, 1.0, most);
    return std::llround(steps);
}

constexpr std::string_view no_late_island =
    "drops clients in the middle of a step, which the devices of an island take together; leave it "
    "out";

// Reads what all methods with rounds have.
RoundOptions read_rounds(const ObjectReader& read, const AlgorithmInput& in) {
    RoundOptions options;
    if (const auto p = read.optional("fraction")) options.fraction = as_number_above(*p, 0, 1);
    if (const auto p = read.optional("local_steps"))
        options.local_steps = as_integer(*p, 1, 1'000'000);
    if (const auto p = read.optional("local_epochs"))
        options.local_steps = steps_of_epochs(read, *p, in);
    if (const auto p = read.optional("over_selection")) {
        options.over_selection = as_number_above(*p, 0, 1e6);
        if (options.over_selection < 1) p->refuse("asks fewer clients than are needed; 1 or more");
        if (options.over_selection > 1 && in.around != Features())
            p->refuse(std::string(no_late_island));
    }
    if (const auto p = read.optional("deadline")) {
        options.deadline = as_duration(*p);
        if (*options.deadline == Duration::zero()) p->refuse("ends a round as it begins");
        if (in.around != Features()) p->refuse(std::string(no_late_island));
    }
    options.momentum = in.optimizer.momentum;
    return options;
}

// Reads what all methods have whose clients may encode what they hand in, with error feedback or
// without.
RoundOptions read_compressed_rounds(const ObjectReader& read, const AlgorithmInput& in,
                                    bool feedback = true) {
    RoundOptions options = read_rounds(read, in);
    read_upload(read, in, feedback, options);
    return options;
}

// Sets what rounds cost in which a client receives and hands in `vectors` vectors, in one message
// each way.
AlgorithmChoice in_rounds(AlgorithmChoice choice, const RoundOptions& options, int vectors,
                          int workers) {
    choice.period = options.local_steps;
    choice.computing = static_cast<double>(clients_of_a_round(options.fraction, workers)) / workers;
    choice.contribution = [wire = choice.wire, options, vectors](const Layout& layout, std::int64_t,
                                                                 double) {
        const Bytes sent = options.compressor ? message_bytes(*options.compressor, layout)
                                              : vectors * wire.weigh(layout.entries());
        return Bytes{std::max<std::int64_t>(sent.count / options.local_steps, 1)};
    };
    choice.model_step = [options, vectors](const StepModelInput& in, std::int64_t k, double) {
        return client_round_step_time(options, vectors, in, k);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t k) -> std::int64_t {
        if (k % options.local_steps != 0) return 0;
        return std::int64_t{2} * clients_asked(options, in.workers);
    };
    return choice;
}

AlgorithmChoice read_fedavg(const ObjectReader& read, const AlgorithmInput& in) {
    const FedavgOptions options = read_compressed_rounds(read, in);
    return in_rounds(with_server(read, options, &fedavg, &fedavg_server), options, 1, in.workers);
}

AlgorithmChoice read_fedprox(const ObjectReader& read, const AlgorithmInput& in) {
    FedproxOptions options{.rounds = read_compressed_rounds(read, in)};
    if (const auto p = read.optional("mu")) options.mu = as_number_up_to(*p, 1e9);
    return in_rounds(with_server(read, options, &fedprox, &fedprox_server), options.rounds, 1,
                     in.workers);
}

constexpr auto server_rules =
    std::to_array<Spelling<ServerRule>>({{"adam", ServerRule::adam},
                                         {"yogi", ServerRule::yogi},
                                         {"adagrad", ServerRule::adagrad},
                                         {"momentum", ServerRule::momentum}});

FedoptOptions read_server_rule(const ObjectReader& read) {
    ServerRule rule{};
    if (const auto p = read.optional("rule"))
        rule = as_choice(*p, "a rule of the server", server_rules);
    FedoptOptions options = usual_fedopt(rule);
    const bool plain = options.rule == ServerRule::momentum;
    if (const auto p = read.optional("server_learning_rate"))
        options.server_learning_rate = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("beta1")) options.beta1 = as_share(*p);
    if (const auto p = read.optional("beta2")) {
        if (options.rule != ServerRule::adam && options.rule != ServerRule::yogi)
            p->refuse("belongs to the rules \"adam\" and \"yogi\"; leave it out");
        options.beta2 = as_share(*p);
    }
    if (const auto p = read.optional("tau")) {
        if (plain)
            p->refuse(
                "belongs to rules that divide by a variance, not to \"momentum\"; leave it out");
        options.tau = as_number_above(*p, 0, 1);
    }
    return options;
}

AlgorithmChoice read_fedopt(const ObjectReader& read, const AlgorithmInput& in) {
    FedoptOptions options = read_server_rule(read);
    options.rounds = read_compressed_rounds(read, in);
    return in_rounds(with_server(read, options, &fedopt, &fedopt_server), options.rounds, 1,
                     in.workers);
}

// As measured: what a client of FedAvg holds, c_i, its correction, and a second vector in its
// letter.
constexpr double vectors_of_scaffold = 6.4;

AlgorithmChoice read_scaffold(const ObjectReader& read, const AlgorithmInput& in) {
    ScaffoldOptions options{.rounds = read_compressed_rounds(read, in, false)};
    if (const auto p = read.optional("scaling")) {
        options.scaling = as_number_above(*p, 0, 1);
        if (!options.rounds.compressor)
            p->refuse("scales what a codec encodes; give \"codec\", or leave it out");
    }
    if (const auto p = read.optional("server_learning_rate"))
        options.server_learning_rate = as_number_above(*p, 0, 1e9);
    AlgorithmChoice choice = in_rounds(with_server(read, options, &scaffold, &scaffold_server),
                                       options.rounds, 2, in.workers);
    choice.vectors = vectors_of_scaffold;
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto servers_algorithms = std::to_array<AlgorithmEntry>({
    {"ps-async",
     "a parameter server and nobody waits (NIPS 2012)",
     "Dean et al., NIPS 2012, Algorithm 1.1; released code: apache/mxnet (`dist_async`), "
     "cerndb/dist-keras",
     Feature::server_of_models,
     &read_async,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true, .runs_freely = true}},
    {"ps-stale",
     "a parameter server and bounded staleness (NIPS 2013)",
     "Ho et al., NIPS 2013; released code: sailing-pmls/bosen",
     Feature::server_of_models,
     &read_stale,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true, .runs_freely = true}},
    {"fedavg",
     "rounds of local steps on some workers (McMahan et al., 2017)",
     "McMahan et al., AISTATS 2017 (arXiv 1602.05629)",
     Feature::server_rounds,
     &read_fedavg,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true}},
    {"fedprox",
     "FedAvg whose clients are pulled to the server's model (Li et al., 2020)",
     "Li et al., MLSys 2020 (arXiv 1812.06127); released code: FedProx",
     Feature::server_rounds,
     &read_fedprox,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true}},
    {"fedopt",
     "FedAdam, FedYogi, FedAdagrad, FedAvgM: an optimizer on the server (Reddi et al., 2021)",
     "Reddi et al., ICLR 2021 (arXiv 2003.00295); released code: Flower",
     Feature::server_rounds,
     &read_fedopt,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true}},
    {"scaffold",
     "control variates against client drift (Karimireddy et al., 2020)",
     "Karimireddy et al., ICML 2020 (arXiv 1910.06378); released code: Flower, FLGo",
     Feature::server_rounds,
     &read_scaffold,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true}},
});

}  // namespace

std::span<const AlgorithmEntry> server_family() {
    return servers_algorithms;
}

}  // namespace paceline
