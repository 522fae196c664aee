#include "app/run/running_time.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "app/run/run_point.hpp"

namespace paceline {

namespace {

// Cost of a message that is an event, on an idle star, and of one of a ring that runs ahead of the
// event queue; and what a worker's step costs beside its messages, for each piece of the gradient.
// Measured by bench/ on a slow machine.
constexpr double seconds_per_message = 0.2e-6;
constexpr double seconds_per_ring_message = 0.6e-9;
constexpr double seconds_per_piece = 4e-6;

// Floating-point operations of training per second and core, with two per multiply-accumulate and
// three passes per gradient; measured with the nets of scenarios/.
constexpr double training_flops = 6e10;

// Time of one number of a vector, in each step, for each vector that a worker holds: what
// optimizers, averages and copies take. Measured for a method of each family.
constexpr double seconds_per_number = 1.2e-9;

// Time to build the machine and to tear it down.
constexpr double seconds_per_run = 50e-6;

// Whether collectives run ahead of the event queue (sim/network/ahead.hpp), as far as the wires
// decide it.
bool wires_let_run_ahead(const ClusterChoice& cluster) {
    const Protocol protocol = cluster.library.protocol;
    return cluster.undisturbed_network() && !cluster.tcp && protocol == Protocol::rendezvous;
}

// Whether the messages are those of rings: among n workers, each sends n - 1 or more to finish a
// step. Exchanges with neighbors and servers, and pairs of workers in rounds, may be as many, and
// are events or cost nearly as much.
bool passes_around_rings(const Scenario& scenario, double messages_of_step) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    const double workers = scenario.cluster.workers;
    const auto& exchange = algorithm.exchange;
    const bool in_pairs = exchange && exchange->transport.carrier != Carrier::all_reduce &&
                          exchange->transport.carrier != Carrier::all_gather;
    const bool on_shared_cards = exchange && exchange->transport.machines == ByMachine::shards;
    return messages_of_step >= workers * (workers - 1) && !in_pairs && !on_shared_cards &&
           !algorithm.mixing.make && algorithm.server_nodes == 0 && !algorithm.runs_freely;
}

double seconds_of_messages(const Scenario& scenario, double messages, double steps) {
    const bool ahead = wires_let_run_ahead(scenario.cluster) &&
                       passes_around_rings(scenario, messages_of_dearest_step(scenario));
    if (!ahead) return messages * seconds_per_message;
    const double pieces = static_cast<double>(step_timing(scenario).buckets.size());
    return messages * seconds_per_ring_message +
           std::min(messages, steps * pieces * scenario.cluster.workers) * seconds_per_piece;
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
    const double entries = static_cast<double>(training.model.layout->entries());
    const double workers = scenario.cluster.workers;
    const auto scored = [&](std::int64_t samples) {
        return static_cast<double>(std::min(samples, training.measurement.samples));
    };
    const double gradient_s =
        3 * flops * static_cast<double>(*scenario.workload.step_batch()) / training_flops;
    const double step_s =
        gradient_s + scenario.algorithm.vectors.value_or(0) * entries * seconds_per_number;
    const double evaluation_s =
        flops *
            (scored(training.data.set->train.count()) + scored(training.data.set->test.count())) /
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
    return seconds_per_run + seconds_of_messages(scenario, messages.value_or(0), *steps) +
           training_seconds(scenario, *steps);
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
