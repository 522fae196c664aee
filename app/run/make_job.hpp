// The job of a scenario as the runtime takes it, and the training that gives it values.
#pragma once

#include <memory>

#include "algorithms/runtime/job.hpp"
#include "analysis/measures/training_log.hpp"
#include "app/run/run_observer.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

/// Returns a job without values.
Job make_job(const Scenario& scenario);

// These require that the scenario trains.
std::unique_ptr<Problem> make_problem(const Scenario& scenario);
/// `observer` may be null.
std::unique_ptr<TrainingLog> make_log(const Scenario& scenario, Simulation& simulation,
                                      Network& network, Problem& problem, const Observer* observer);
/// Adds values to the job. Requires that problem and log outlive it.
void make_it_train(Job& job, const Scenario& scenario, Problem& problem, TrainingLog& log);

}  // namespace paceline
