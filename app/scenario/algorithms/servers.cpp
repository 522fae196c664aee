// Methods with a server.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/servers/async_sgd.hpp"
#include "algorithms/servers/fedavg.hpp"
#include "algorithms/servers/stale_synchronous_sgd.hpp"
#include "analysis/forms/server_step_models.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/compressors.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/families.hpp"
#include "app/scenario/algorithms/own_exchange.hpp"
#include "app/scenario/algorithms/synchronous.hpp"

namespace paceline {

namespace {

// This is dense SGD under another name, with an all-reduce by servers.
AlgorithmChoice read_sync(const ObjectReader& read, const AlgorithmInput& in) {
    const Json by_servers = "parameter-server";
    const Place here{&by_servers, read.place().file, read.place().path};
    const AllReducePlan otherwise = read_all_reduce(read.optional("all_reduce").value_or(here), in);
    if (otherwise.method != AllReduce::parameter_server)
        read.optional("all_reduce")
            ->refuse(
                "is for \"parameter-server\" alone, by name or as an object; for others use the "
                "kind \"dense\"");
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    choice.vectors = vectors_of_replicas;
    const ExchangeOptions exchange = read_exchange(read, in, dense_exchange(otherwise), choice);
    return synchronous(std::move(choice), in, exchange);
}

// Sets what methods with one server on its own node have in common: one model up and one down.
template <class Options>
AlgorithmChoice with_server(const ObjectReader& read, Options options,
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

void read_upload(const ObjectReader& read, const AlgorithmInput& in, FedavgOptions& options) {
    if (const auto codec = read_own_codec(read, in, true)) {
        const auto& compressor = std::get<Compressor>(codec->coder);
        if (compressor.lossless) return;  // models travel as they are
        options.compressor = compressor;
        options.error_feedback = codec->error_feedback;
        options.coding = codec->coding;
        return;
    }
    options.coding = read_coding(read);
    if (const auto p = read.optional("compressor")) {
        options.compressor = read_compressor_of_own(*p);
        options.error_feedback = !options.compressor->unbiased;
        if (options.compressor->draws_alike)
            p->refuse("draws the same positions on all clients; use one that draws its own");
    }
    if (const auto p = read.optional("error_feedback")) {
        if (!options.compressor) p->refuse("is of a \"compressor\"; name one");
        options.error_feedback = as_bool(*p);
    }
    if (const auto p = read.optional("coding_step"); p && !options.compressor)
        p->refuse("is of a \"compressor\"; name one");
}

AlgorithmChoice read_fedavg(const ObjectReader& read, const AlgorithmInput& in) {
    FedavgOptions options;
    if (const auto p = read.optional("fraction")) options.fraction = as_number_above(*p, 0, 1);
    if (const auto p = read.optional("local_steps"))
        options.local_steps = as_integer(*p, 1, 1'000'000);
    if (const auto p = read.optional("over_selection")) {
        options.over_selection = as_number_above(*p, 0, 1e6);
        if (options.over_selection < 1) p->refuse("asks fewer than are needed; 1 or more");
    }
    if (const auto p = read.optional("deadline")) {
        options.deadline = as_duration(*p);
        if (*options.deadline == Duration::zero()) p->refuse("ends a round as it begins");
    }
    read_upload(read, in, options);
    options.momentum = in.optimizer.momentum;
    AlgorithmChoice choice = with_server(read, options, &fedavg, &fedavg_server);
    choice.period = options.local_steps;
    choice.computing =
        static_cast<double>(clients_of_a_round(options.fraction, in.workers)) / in.workers;
    choice.contribution = [wire = choice.wire, options](const Layout& layout, std::int64_t,
                                                        double) {
        const Bytes model = options.compressor ? message_bytes(*options.compressor, layout)
                                               : wire.weigh(layout.entries());
        return Bytes{std::max<std::int64_t>(model.count / options.local_steps, 1)};
    };
    choice.model_step = [options](const StepModelInput& in, std::int64_t k, double) {
        return fedavg_step_time(options, in, k);
    };
    choice.messages = [options](const StepModelInput& in, std::int64_t k) -> std::int64_t {
        if (k % options.local_steps != 0) return 0;
        return std::int64_t{2} * clients_asked(options, in.workers);
    };
    return choice;
}

// To add an algorithm: docs/adding/algorithm.md.
constexpr auto servers_algorithms = std::to_array<AlgorithmEntry>({
    {"ps-sync", "dense, summed by parameter servers", &read_sync, momentum_sgd_on_replicas},
    {"ps-async",
     "a parameter server and nobody waits (NIPS 2012)",
     &read_async,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true, .runs_freely = true}},
    {"ps-stale",
     "a parameter server and bounded staleness (NIPS 2013)",
     &read_stale,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true, .runs_freely = true}},
    {"fedavg",
     "rounds of local steps on some workers (McMahan et al., 2017)",
     &read_fedavg,
     {.when_nodes_die = WhenNodesDie::server_goes_on, .has_server = true}},
});

}  // namespace

std::span<const AlgorithmEntry> server_family() {
    return servers_algorithms;
}

}  // namespace paceline
