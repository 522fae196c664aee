#include "app/run/running_time.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "app/run/run_point.hpp"
#include "app/scenario/pieces.hpp"

namespace paceline {

namespace {

// Cost of a message that is an event, on an idle star; of one that runs ahead of the event queue,
// in a ring and in other rounds; and what a worker's part in a ring costs beside its messages.
// Measured by bench/ on a slow machine.
constexpr double seconds_per_message = 0.2e-6;
constexpr double seconds_per_ring_message = 0.6e-9;
constexpr double seconds_per_message_in_rounds = 0.055e-6;
constexpr double seconds_per_message_in_rounds_over_a_bus =
    0.14e-6;  // scenarios/per-tensor-on-machines.json
constexpr double seconds_per_ring = 1.5e-6;
// What a message to or from one of several servers costs more for each server, since all of them
// share links with all others.
constexpr double seconds_per_server = 4e-9;

// What a message that is an event, or a worker's step, costs more when it finds nothing in the
// cache: the workers take turns, and what they keep no longer fits. Measured with rings, tori and
// one-peer graphs of 256 to 65,536 nodes and trees and halving-doubling among 16,384.
constexpr double seconds_per_cold_event = 6e-6;
constexpr double bytes_per_worker = 13e3;
constexpr double bytes_of_cache = 8e6;

// What a worker's step costs beside messages, arithmetic and evaluations; measured with small nets.
constexpr double seconds_per_step = 0.3e-6;
constexpr double seconds_per_trained_step = 4e-6;

// What a piece of a gradient costs each worker beside its messages: coroutines that begin, wait and
// end.
constexpr double seconds_per_piece = 2.5e-6;

// Time to draw a number of a data set that is generated, on one core.
constexpr double seconds_per_drawn_number = 20e-9;

// Floating-point operations of training per second and core, with two per multiply-accumulate and
// three passes per gradient; measured with the nets of scenarios/.
constexpr double training_flops = 6e10;

// Time of one number of a vector, in each step, for each vector that a worker holds: what
// optimizers, averages and copies take. Measured for a method of each family.
constexpr double seconds_per_number = 1.2e-9;

// Time to draw a sample of a gradient, beside copying its inputs.
constexpr double seconds_per_sample = 10e-9;

// Time to read a point, and to build the machine of a worker and to tear it down.
constexpr double seconds_per_run = 0.4e-3;
constexpr double seconds_per_worker = 20e-6;

// Whether collectives run ahead of the event queue (sim/ahead/ahead.hpp), as far as the wires
// decide it.
bool wires_let_run_ahead(const ClusterChoice& cluster) {
    const Protocol protocol = cluster.library.protocol;
    return cluster.undisturbed_network() && !cluster.tcp && protocol == Protocol::rendezvous;
}

// Whether messages are those of collectives that could run ahead, not of exchanges with neighbors
// and servers, or of rings that share a machine's card.
bool has_collectives(const AlgorithmChoice& algorithm) {
    const auto& exchange = algorithm.exchange;
    const bool by_events = algorithm.has_rings_of_cards ||
                           (exchange && (exchange->aggregation.kind == Aggregation::servers ||
                                         exchange->aggregation.machines == ByMachine::shards ||
                                         exchange->aggregation.all_reduce.cards > 1));
    return !by_events && !algorithm.mixing.make && algorithm.server_nodes == 0 &&
           !algorithm.runs_freely;
}

// Whether the messages are passed around rings: among n workers, each sends n - 1 or more to finish
// a step. Exchanges in pairs, in rounds, may be as many.
bool passes_around_rings(const Scenario& scenario) {
    const double workers = scenario.cluster.workers;
    const auto& exchange = scenario.algorithm.exchange;
    const bool in_pairs = exchange && exchange->aggregation.kind != Aggregation::all_reduce &&
                          exchange->aggregation.kind != Aggregation::all_gather;
    return !in_pairs && messages_of_dearest_step(scenario) >= workers * (workers - 1);
}

// Returns the share of what the workers keep that is not in the cache.
double cold_share(double workers) {
    return std::max(0.0, 1 - bytes_of_cache / (workers * bytes_per_worker));
}

double seconds_of_messages(const Scenario& scenario, double messages) {
    if (!wires_let_run_ahead(scenario.cluster) || !has_collectives(scenario.algorithm)) {
        const auto& exchange = scenario.algorithm.exchange;
        const bool by_servers = exchange && exchange->aggregation.kind == Aggregation::servers;
        const double more = by_servers
                                ? exchange->aggregation.servers * seconds_per_server
                                : cold_share(scenario.cluster.workers) * seconds_per_cold_event;
        return messages * (seconds_per_message + more);
    }
    if (!passes_around_rings(scenario))
        return messages * (scenario.cluster.devices_per_node > 1
                               ? seconds_per_message_in_rounds_over_a_bus
                               : seconds_per_message_in_rounds);
    const double rounds = 2.0 * std::max(scenario.cluster.workers - 1, 1);  // of an all-reduce
    return messages * (seconds_per_ring_message + seconds_per_ring / rounds);
}

double evaluations(const Scenario& scenario, double steps) {
    const Cadence every = scenario.training->measurement.cadence(scenario.steps_per_epoch());
    constexpr double ends = 2;
    if (every.iterations > 0) return ends + steps / static_cast<double>(every.iterations);
    const auto end_s = expected_sim_seconds(scenario);
    if (every.time == Duration::zero() || !end_s) return ends;
    return ends + *end_s / to_seconds(every.time);
}

double training_seconds(const Scenario& scenario, double steps) {
    if (!scenario.training) return 0;
    const Training& training = *scenario.training;
    const std::vector<double>& macs = training.model.tensor_macs;
    const double flops = 2 * std::accumulate(macs.begin(), macs.end(), 0.0);  // forward, a sample
    const auto entries = static_cast<double>(training.model.layout->entries());
    const double workers = scenario.cluster.workers;
    const auto scored = [&](std::int64_t samples) {
        return static_cast<double>(std::min(samples, training.measurement.samples));
    };
    const auto inputs = static_cast<double>(training.data.shape.features);
    const double gradient_s =
        static_cast<double>(*scenario.workload.step_batch()) *
        (scenario.workload.batches_of_step(scenario.cluster.workers) / workers) *
        (3 * flops / training_flops + inputs * seconds_per_number + seconds_per_sample);
    const double step_s =
        gradient_s + scenario.algorithm.vectors.value_or(0) * entries * seconds_per_number;
    const double evaluation_s =
        flops * (scored(training.data.shape.train) + scored(training.data.shape.test)) /
            training_flops +
        workers * entries * seconds_per_number;
    return steps * workers * scenario.algorithm.computing * step_s +
           evaluations(scenario, steps) * evaluation_s;
}

std::optional<double> most_expected_steps(const Scenario& scenario) {
    std::optional<double> steps;
    if (const auto counted = scenario.steps()) steps = static_cast<double>(*counted);
    const auto limit = scenario.stop.time;
    if (!limit) return steps;
    const auto model = model_step_time(scenario, 1);
    const double step_s =
        std::max(model ? to_seconds(*model) : 0, to_seconds(scenario.workload.step()));
    if (step_s > 0)
        steps = std::min(steps.value_or(std::numeric_limits<double>::max()),
                         to_seconds(*limit) / step_s);
    return steps;
}

}  // namespace

std::optional<double> expected_messages(const Scenario& scenario) {
    if (const auto counted = messages_of_run(scenario)) return counted;
    constexpr double most_steps = 1e15;
    const std::optional<double> steps = most_expected_steps(scenario);
    if (!steps) return std::nullopt;
    return messages_of_steps(scenario, static_cast<std::int64_t>(std::min(*steps, most_steps)));
}

std::optional<double> expected_seconds(const Scenario& scenario) {
    const std::optional<double> messages = expected_messages(scenario);
    const std::optional<double> steps = most_expected_steps(scenario);
    if (!steps || (!messages && !scenario.training)) return std::nullopt;
    if (!scenario.algorithm.messages) return std::nullopt;  // a method that the caller brings
    const double workers = scenario.cluster.workers;
    const auto pieces =
        static_cast<double>(most_pieces(scenario.algorithm, *scenario.workload.layout));
    const double step_s = (scenario.training ? seconds_per_trained_step : seconds_per_step) +
                          (pieces - 1) * seconds_per_piece +
                          cold_share(workers) * seconds_per_cold_event;
    const bool runs_twice = scenario.alone && scenario.shares_network();
    return (runs_twice ? 2 : 1) *
           (seconds_per_run + workers * (seconds_per_worker + *steps * step_s) +
            seconds_of_messages(scenario, messages.value_or(0)) +
            training_seconds(scenario, *steps));
}

double seconds_to_generate(Bytes data) {
    constexpr double bytes_per_number = 4;
    return static_cast<double>(data.count) / bytes_per_number * seconds_per_drawn_number;
}

bool may_end_earlier(const Scenario& scenario) {
    return (scenario.training && scenario.training->stop.given()) ||
           (scenario.stop.time && !model_step_time(scenario, 1));
}

std::optional<double> expected_sim_seconds(const Scenario& scenario) {
    std::optional<double> seconds;
    if (const auto steps = scenario.steps(); steps && *steps > 0)
        if (const auto step = model_step_time(scenario, *steps))
            seconds = static_cast<double>(*steps) * to_seconds(*step);
    if (const auto limit = scenario.stop.time)
        seconds = seconds ? std::min(*seconds, to_seconds(*limit)) : to_seconds(*limit);
    return seconds;
}

}  // namespace paceline
