// What the steps of a run cost, by closed forms, before it runs.
//
// A stage is a run of consecutive steps that all cost the same, or whose cost repeats with the
// algorithm's period. A whole period is such a repetition; it begins where its stage begins. The
// end of a stage ends a period, too. Rates (step time, bytes per step, speedup) are those of whole
// periods, because any other number of steps has too many or too few of the dear ones:
//
//   whole steps of K  =  the largest number of steps, K at most, at which a period ends
//
// With a period of 1, every step ends one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "algorithms/timing/step_timing.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns the parts of a worker's step, as its buckets need them.
StepTiming step_timing(const Scenario& scenario);

/// Returns the whole steps of `steps`, as above; 0 if not one period fits.
std::int64_t whole_steps(const Scenario& scenario, std::int64_t steps);

/// Returns the least number of steps, `steps` at least, at which a period ends.
std::int64_t steps_to_whole(const Scenario& scenario, std::int64_t steps);

/// Returns the step up to which the rates of a run of `steps` go: whole steps, or all where not one
/// period fits.
std::int64_t rated_steps(const Scenario& scenario, std::int64_t steps);

/// Returns the first steps that rates leave out: those that the scenario asks for, up to the end of
/// a period.
std::int64_t skipped_steps(const Scenario& scenario);

/// Returns the closed form of a step on an idle network, averaged over the steps from `first` to
/// `last`, exclusively; empty if none is known.
std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t first,
                                        std::int64_t last);
/// Returns the same of the first `steps` steps.
std::optional<Duration> model_step_time(const Scenario& scenario, std::int64_t steps);
/// Returns the same of the steps that the rates of a run of `steps` are about.
std::optional<Duration> model_rated_step(const Scenario& scenario, std::int64_t steps);

/// Returns the number of messages in that many steps, over all workers. Returns nothing if only a
/// time limit ends the run and no closed form gives the number of steps, or if steps repeat with a
/// period of millions.
std::optional<double> messages_of_run(const Scenario& scenario);

/// Returns the number of messages in the first `steps` steps, over all workers; nothing if steps
/// repeat with a period of millions.
std::optional<double> messages_of_steps(const Scenario& scenario, std::int64_t steps);

/// Returns the messages of the dearest step. Of a run without a number of steps it looks at the
/// first million.
double messages_of_dearest_step(const Scenario& scenario);

/// Returns what parameters, gradient and optimizer take on a device; empty where the algorithm does
/// not say.
std::optional<KeptBytes> kept_on_device(const Scenario& scenario);

/// Returns what the activations of a gradient take on a device; empty if the scenario does not say
/// which are kept.
std::optional<Bytes> activations_on_device(const Scenario& scenario);

/// Returns both together; empty where the first is not known.
std::optional<Bytes> device_memory(const Scenario& scenario);

/// Returns the memory that such a device has, if it is known. Where nodes have classes, these three
/// are of the device that they fill most.
std::optional<Bytes> memory_of_device(const Scenario& scenario);

/// Returns " of cluster.classes[0]" or the like for that device; empty where all are alike.
std::string device_of_class(const Scenario& scenario);

/// Returns the first step of the algorithm's last stage, which all later steps belong to.
std::int64_t begin_of_last_stage(const Scenario& scenario);

/// Returns whether step k belongs to the last stage.
bool is_in_last_stage(const Scenario& scenario, std::int64_t k);

/// Closed forms of a step of the last stage: as it is, and as another option would have it.
struct Gain {
    Duration as_it_is;
    Duration otherwise;
};
/// Returns what an exchanging step gains if all tensors are exchanged as one; empty unless the
/// algorithm exchanges them one by one and has a closed form.
std::optional<Gain> gain_of_fusing(const Scenario& scenario);

/// Returns what an exchanging step gains if it goes by machine, by leaders; empty unless a step is
/// a gradient and a flat exchange, which spans machines of several devices, could go by machine,
/// and has closed forms both ways.
std::optional<Gain> gain_of_leaders(const Scenario& scenario);

/// Returns what a step gains, averaged over a period, if numbers have 16 bits on the wire; empty
/// unless both have a closed form.
std::optional<Gain> gain_of_narrow_wire(const Scenario& scenario);

/// Returns the bytes of dense fp32 gradients over what a worker contributes, before aggregation, in
/// the steps from `first` to `last`, exclusively; empty if that is nothing.
std::optional<double> compression_ratio(const Scenario& scenario, std::int64_t first,
                                        std::int64_t last);

}  // namespace paceline
