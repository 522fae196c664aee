#include "app/run/step_costs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/timing/merged_timing.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/memory_forms.hpp"
#include "analysis/forms/step_models.hpp"
#include "models/activations.hpp"

namespace paceline {

namespace {

constexpr std::int64_t most_kinds_of_steps = 1'000'000;  // they take a second or so to count

StepModelInput model_input(const Scenario& scenario, const IdleNetwork& network) {
    return {scenario.cluster.workers, network,
            step_timing(scenario),    scenario.workload.update,
            scenario.workload.layout, scenario.algorithm.wire};
}

// The stages of a run, and the epochs of its steps.
class Stages {
  public:
    explicit Stages(const Scenario& scenario)
        : algorithm_(scenario.algorithm), per_epoch_(scenario.steps_per_epoch()) {}

    [[nodiscard]] double epoch(std::int64_t k) const {
        return per_epoch_ > 0 ? static_cast<double>(k) / per_epoch_ : 0;
    }
    [[nodiscard]] double stage(std::int64_t k) const { return algorithm_.stage(k, epoch(k)); }
    [[nodiscard]] std::int64_t period(std::int64_t k) const {
        return algorithm_.period_at ? algorithm_.period_at(k) : algorithm_.period;
    }
    // Returns the first step of the stage of step k. Its beginning is found by bisection.
    [[nodiscard]] std::int64_t begin(std::int64_t k) const {
        const double here = stage(k);
        if (stage(0) == here) return 0;
        std::int64_t before = 0;  // known to belong to an earlier stage
        std::int64_t first = k;
        while (before + 1 < first) {
            const std::int64_t middle = before + (first - before) / 2;
            (stage(middle) == here ? first : before) = middle;
        }
        return first;
    }
    // Returns the last step of the stage of step k, below `steps`.
    [[nodiscard]] std::int64_t last(std::int64_t k, std::int64_t steps) const {
        const double here = stage(k);
        std::int64_t last = k;
        std::int64_t beyond = steps;
        while (last + 1 < beyond) {
            const std::int64_t middle = last + (beyond - last) / 2;
            (stage(middle) == here ? last : beyond) = middle;
        }
        return last;
    }

  private:
    const AlgorithmChoice& algorithm_;
    double per_epoch_;
};

// Calls visit(first step, its epoch, number of such steps) for each kind of step until it returns
// false. Returns whether it was called for all kinds. It gives up if a very long period makes too
// many kinds of steps.
template <class Visit>
bool for_each_kind_of_step(const Scenario& scenario, std::int64_t steps, Visit visit) {
    const Stages stages(scenario);
    for (std::int64_t begin = 0; begin < steps;) {
        const std::int64_t last = stages.last(begin, steps);
        const std::int64_t period = stages.period(begin);
        if (std::min(period, last - begin + 1) > most_kinds_of_steps) return false;
        for (std::int64_t k = begin; k <= last && k < begin + period; ++k) {
            const std::int64_t alike = (last - k) / period + 1;
            if (!visit(k, stages.epoch(k), static_cast<double>(alike))) return false;
        }
        begin = last + 1;
    }
    return true;
}

// Merges tensors by what their exchanges take on the network that nothing disturbs. Where that is
// not known, they stay as they are.
StepTiming merged_by_rule(const Scenario& scenario, const StepTiming& tensors) {
    const std::optional<IdleNetwork> network = scenario.cluster.undisturbed_network();
    if (!network || !scenario.algorithm.exchange) return tensors;
    const StepModelInput in{scenario.cluster.workers,
                            *network,
                            tensors,
                            scenario.workload.update,
                            scenario.workload.layout,
                            scenario.algorithm.wire};
    const auto estimate = exchange_estimate(*scenario.algorithm.exchange, in);
    return estimate ? merged(tensors, *estimate) : tensors;
}

StepTiming timing_of_gradient(const Workload& workload, std::int64_t bucket_entries) {
    if (workload.tensor_times)
        return make_measured_timing(workload.gradient, *workload.layout, *workload.tensor_times,
                                    bucket_entries);
    return make_step_timing(workload.gradient, *workload.layout, *workload.tensor_macs,
                            bucket_entries);
}

}  // namespace

StepTiming step_timing(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    const AlgorithmChoice& algorithm = scenario.algorithm;
    if (!algorithm.bucket)
        return accumulated(timing_of_gradient(workload, std::numeric_limits<std::int64_t>::max()),
                           workload.accumulation);
    const std::int64_t entries = algorithm.bucket->count / algorithm.wire.weigh(1).count;
    StepTiming timing = timing_of_gradient(workload, std::max<std::int64_t>(entries, 1));
    if (algorithm.merges_pieces) timing = merged_by_rule(scenario, timing);
    return accumulated(std::move(timing), workload.accumulation);
}

std::int64_t whole_steps(const Scenario& scenario, std::int64_t steps) {
    if (scenario.algorithm.period == 1 || steps < 1) return steps;
    const Stages stages(scenario);
    if (stages.stage(steps) != stages.stage(steps - 1)) return steps;  // its stage ends
    const std::int64_t begin = stages.begin(steps - 1);
    const std::int64_t period = stages.period(begin);
    return begin + (steps - begin) / period * period;
}

std::int64_t steps_to_whole(const Scenario& scenario, std::int64_t steps) {
    const std::int64_t whole = whole_steps(scenario, steps);
    if (whole == steps) return steps;
    const Stages stages(scenario);
    const std::int64_t next = whole + stages.period(stages.begin(steps - 1));
    return stages.last(steps - 1, next) + 1;
}

std::int64_t rated_steps(const Scenario& scenario, std::int64_t steps) {
    const std::int64_t whole = whole_steps(scenario, steps);
    return whole > 0 ? whole : steps;
}

std::int64_t skipped_steps(const Scenario& scenario) {
    return scenario.skip == 0 ? 0 : steps_to_whole(scenario, scenario.skip);
}

namespace {

// Returns the closed form of that many steps, in seconds.
std::optional<double> model_of_steps(const Scenario& scenario, const StepModelInput& in,
                                     std::int64_t steps) {
    double total_s = 0;
    const bool known =
        for_each_kind_of_step(scenario, steps, [&](std::int64_t first, double epoch, double count) {
            const std::optional<Duration> step = scenario.algorithm.model_step(in, first, epoch);
            if (!step || *step == Duration::max()) return false;
            total_s += count * to_seconds(*step);
            return true;
        });
    return known ? std::optional(total_s) : std::nullopt;
}

// Returns the closed form of the mean of steps `first` to `last` - 1, in seconds.
std::optional<double> model_of_mean_step(const Scenario& scenario, const StepModelInput& in,
                                         std::int64_t first, std::int64_t last) {
    const std::optional<double> before = model_of_steps(scenario, in, first);
    const std::optional<double> all = model_of_steps(scenario, in, last);
    if (!before || !all) return std::nullopt;
    return (*all - *before) / static_cast<double>(last - first);
}

// Returns whether a step of `mean_s` lasts as long as its messages and its gradients one after the
// other, so that no gradient is computed beside a collective.
bool is_in_series(const Scenario& scenario, StepModelInput in, std::int64_t first,
                  std::int64_t last, double mean_s) {
    const double gradients_s = to_seconds(in.timing.step);
    in.timing.step = Duration::zero();
    for (Bucket& bucket : in.timing.buckets) bucket = {bucket.first, bucket.count, {}, {}};
    const std::optional<double> messages_s = model_of_mean_step(scenario, in, first, last);
    constexpr double rounding = 1e-9;
    return messages_s && mean_s >= (gradients_s + *messages_s) * (1 - rounding);
}

}  // namespace

namespace {

// Returns whether all workers begin a step together and no exchange ends before the one who began
// it last could have taken all of its steps. A step then is that of workers who are all as slow.
bool waits_for_the_slowest(const AlgorithmChoice& algorithm, int workers) {
    const bool is_synchronous =
        algorithm.when_nodes_die == WhenNodesDie::reruns_replicas && algorithm.period == 1;
    if (!is_synchronous || !algorithm.exchange) return false;
    const AggregationPlan& plan = algorithm.exchange->aggregation;
    if (plan.kind != Aggregation::all_reduce || plan.machines != ByMachine::flat) return false;
    const AllReduce method = plan.all_reduce.method;
    const bool in_pairs =
        method == AllReduce::recursive_doubling || method == AllReduce::halving_doubling;
    const bool is_power_of_two = std::has_single_bit(static_cast<unsigned>(workers));
    return method == AllReduce::ring || (in_pairs && is_power_of_two);
}

// Makes all workers of the form as slow as the slowest class.
void slow_down(const std::vector<double>& speeds, StepTiming& timing) {
    const double factor = 1 / std::ranges::min(speeds);
    const auto longer = [&](Duration time) { return from_seconds(factor * to_seconds(time)); };
    timing.step = longer(timing.step);
    for (Bucket& bucket : timing.buckets) {
        bucket.ready = longer(bucket.ready);
        if (bucket.forward_end) bucket.forward_end = longer(*bucket.forward_end);
    }
}

}  // namespace

std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t first,
                                        std::int64_t last) {
    const ClusterChoice& cluster = scenario.cluster;
    const bool has_classes = !cluster.class_speeds.empty();
    const std::optional<IdleNetwork> network =
        has_classes ? cluster.idle_network_of_classes() : cluster.as_idle_network();
    if (!network || last <= first || !scenario.other_jobs.empty()) return std::nullopt;
    if (has_classes && !waits_for_the_slowest(scenario.algorithm, cluster.workers))
        return std::nullopt;
    StepModelInput in = model_input(scenario, *network);
    if (has_classes) slow_down(cluster.class_speeds, in.timing);
    const std::optional<double> mean_s = model_of_mean_step(scenario, in, first, last);
    if (!mean_s) return std::nullopt;
    if (scenario.cluster.library.occupies > 0 && !is_in_series(scenario, in, first, last, *mean_s))
        return std::nullopt;
    return from_seconds(*mean_s);
}

std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t steps) {
    return model_step_time(scenario, 0, steps);
}

std::optional<Duration> model_rated_step(const Scenario& scenario, std::int64_t steps) {
    return model_step_time(scenario, skipped_steps(scenario), rated_steps(scenario, steps));
}

std::optional<double> messages_of_steps(const Scenario& scenario, std::int64_t steps) {
    if (!scenario.algorithm.messages) return std::nullopt;
    const StepModelInput in = model_input(scenario, {});  // messages do not depend on the wires
    double messages = 0;
    const bool known = for_each_kind_of_step(
        scenario, steps, [&](std::int64_t first, double /*epoch*/, double count) {
            messages += count * static_cast<double>(scenario.algorithm.messages(in, first));
            return true;
        });
    if (!known) return std::nullopt;
    return messages;
}

std::optional<double> messages_of_run(const Scenario& scenario) {
    std::optional<std::int64_t> steps = scenario.steps();
    if (scenario.stop.time) {
        const auto step = model_step_time(scenario, 1);
        if (step && *step > Duration::zero())
            steps = std::min(steps.value_or(std::numeric_limits<std::int64_t>::max()),
                             *scenario.stop.time / *step + 1);
    }
    if (!steps) return std::nullopt;
    return messages_of_steps(scenario, *steps);
}

std::optional<KeptBytes> kept_on_device(const Scenario& scenario) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    if (algorithm.memory)
        return algorithm.memory(model_input(scenario, {}));  // it does not depend on the wires
    if (!algorithm.kept) return std::nullopt;
    return device_bytes(*algorithm.kept, scenario.workload.layout->entries(), algorithm.wire);
}

namespace {

// Returns what the activations of so many samples take; empty if it is not said which are kept.
std::optional<Bytes> activations_of(const Scenario& scenario, std::int64_t batch) {
    const Workload& workload = scenario.workload;
    if (!workload.recompute) return std::nullopt;
    const bool is_narrow = workload.precision == Precision::fp16 ||
                           workload.precision == Precision::bf16 ||
                           scenario.algorithm.wire.bytes_per_entry == 2;
    const double bytes =
        activation_bytes(*workload.decoder, batch, is_narrow ? 2 : 4, *workload.recompute);
    constexpr double most = 1e18;  // a number of bytes; no device has as many
    return Bytes{std::llround(std::min(bytes, most))};
}

// Returns the kind of device that is the fullest; where memories are not known, the one that keeps
// the most.
const KindOfDevice& fullest(const Scenario& scenario) {
    const double kept =
        static_cast<double>(kept_on_device(scenario).value_or(KeptBytes{}).all().count);
    const auto fill = [&](const KindOfDevice& kind) {
        const Bytes activations =
            activations_of(scenario, kind.charged_batch.value_or(0)).value_or(Bytes{});
        const double bytes = kept + static_cast<double>(activations.count);
        return kind.memory ? std::pair(bytes / static_cast<double>(kind.memory->count), bytes)
                           : std::pair(0.0, bytes);
    };
    return *std::ranges::max_element(scenario.workload.kinds, {}, fill);
}

}  // namespace

std::optional<Bytes> activations_on_device(const Scenario& scenario) {
    const Workload& workload = scenario.workload;
    if (!workload.recompute) return std::nullopt;
    return activations_of(scenario, workload.kinds.empty() ? *workload.charged_batch()
                                                           : *fullest(scenario).charged_batch);
}

std::optional<Bytes> memory_of_device(const Scenario& scenario) {
    if (scenario.workload.kinds.empty()) return scenario.workload.memory_of_device();
    return fullest(scenario).memory;
}

std::string device_of_class(const Scenario& scenario) {
    return scenario.workload.kinds.empty() ? "" : " of " + fullest(scenario).name;
}

std::optional<Bytes> device_memory(const Scenario& scenario) {
    const std::optional<KeptBytes> kept = kept_on_device(scenario);
    if (!kept) return std::nullopt;
    return kept->all() + activations_on_device(scenario).value_or(Bytes{});
}

double messages_of_dearest_step(const Scenario& scenario) {
    constexpr std::int64_t first_steps = 1'000'000;
    const StepModelInput in = model_input(scenario, {});  // messages do not depend on the wires
    const double workers = scenario.cluster.workers;
    if (!scenario.algorithm.messages) return 2 * workers * (workers - 1);  // a ring's
    std::int64_t most = 0;
    for_each_kind_of_step(scenario, scenario.steps().value_or(first_steps),
                          [&](std::int64_t first, double /*epoch*/, double /*count*/) {
                              most = std::max(most, scenario.algorithm.messages(in, first));
                              return true;
                          });
    return static_cast<double>(most);
}

namespace {

constexpr std::int64_t far_step = std::int64_t{1} << 50;  // in the last stage, whatever the options

}  // namespace

std::int64_t begin_of_last_stage(const Scenario& scenario) {
    return Stages(scenario).begin(far_step);
}

bool is_in_last_stage(const Scenario& scenario, std::int64_t k) {
    const Stages stages(scenario);
    return stages.stage(k) == stages.stage(far_step);
}

namespace {

// A step far in the last stage, which ends a period.
std::int64_t exchanging_step(const Scenario& scenario) {
    const std::int64_t period = Stages(scenario).period(far_step);
    return far_step / period * period + period - 1;
}

}  // namespace

std::optional<Gain> gain_of_fusing(const Scenario& scenario) {
    const std::optional<IdleNetwork> network = scenario.cluster.as_idle_network();
    if (!scenario.algorithm.fused_step || !network) return std::nullopt;
    const StepModelInput in = model_input(scenario, *network);
    const std::int64_t k = exchanging_step(scenario);
    const auto one_by_one = scenario.algorithm.model_step(in, k, 0);
    const auto as_one = scenario.algorithm.fused_step(in, k);
    if (!one_by_one || !as_one) return std::nullopt;
    return Gain{*one_by_one, *as_one};
}

std::optional<Gain> gain_of_leaders(const Scenario& scenario) {
    const AlgorithmChoice& algorithm = scenario.algorithm;
    const int devices = scenario.cluster.devices_per_node;
    const int workers = scenario.cluster.workers;
    const std::optional<IdleNetwork> network = scenario.cluster.as_idle_network();
    if (!algorithm.could_have_leaders || !algorithm.model_step || !network || devices < 2 ||
        workers == devices || workers % devices != 0)
        return std::nullopt;
    ExchangeOptions by_machine = algorithm.exchange.value();
    if (by_machine.aggregation.all_reduce.method == AllReduce::hierarchical ||
        by_machine.aggregation.first_server_node ||
        by_machine.aggregation.all_reduce.first_server_node)
        return std::nullopt;  // it goes by machine itself, or to nodes of other servers
    by_machine.aggregation.machines = ByMachine::leaders;
    by_machine.aggregation.devices = devices;
    const StepModelInput in = model_input(scenario, *network);
    const auto step = [&](const ExchangeOptions& options) {
        return exchange_step_time(options, 0, in, algorithm.least_density);
    };
    const std::int64_t k = exchanging_step(scenario);
    const auto flat = step(*algorithm.exchange);
    const auto with_leaders = step(by_machine);
    const auto as_it_is = algorithm.model_step(in, k, Stages(scenario).epoch(k));
    if (!flat || !with_leaders || as_it_is != flat) return std::nullopt;
    return Gain{*flat, *with_leaders};
}

std::optional<Gain> gain_of_narrow_wire(const Scenario& scenario) {
    const std::int64_t first = begin_of_last_stage(scenario);
    const std::int64_t period = Stages(scenario).period(first);
    Scenario narrow = scenario;
    narrow.algorithm.wire = fp16;
    const auto as_it_is = model_step_time(scenario, first, first + period);
    const auto otherwise = model_step_time(narrow, first, first + period);
    if (!as_it_is || !otherwise) return std::nullopt;
    return Gain{*as_it_is, *otherwise};
}

std::optional<double> compression_ratio(const Scenario& scenario, std::int64_t first,
                                        std::int64_t last) {
    if (last <= first) return std::nullopt;
    if (scenario.cluster.workers > 1 && messages_of_steps(scenario, last) == 0.0)
        return std::nullopt;
    const Layout& layout = *scenario.workload.layout;
    const Stages stages(scenario);
    double contributed = 0;
    for (std::int64_t begin = first; begin < last;) {
        const std::int64_t next = stages.last(begin, last) + 1;
        const Bytes step = scenario.algorithm.contribution(layout, begin, stages.epoch(begin));
        contributed += static_cast<double>(next - begin) * static_cast<double>(step.count);
        begin = next;
    }
    if (contributed == 0) return std::nullopt;
    const double mean = contributed / static_cast<double>(last - first);
    return static_cast<double>(fp32.weigh(layout.entries()).count) / mean;
}

}  // namespace paceline
