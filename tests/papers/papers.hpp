// A serial reference for each algorithm, written from its paper alone, and the row that it has in
// docs/algorithms.md.
//
// A reference shares no code with algorithms/: no optimizer, compressor, matrix of weights or
// schedule. It runs on the same Setting as the product and says what each node's model must be
// after each of its steps, as a loop without messages.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/papers/lock_step.hpp"

namespace paceline::papers {

/// One run of the product and what the reference says of it.
struct Case {
    Case(std::string name_, const Json& algorithm_, Setting setting_,
         History (*reference_)(const Case& run));

    std::string name;
    std::shared_ptr<const Json> algorithm;  // as a scenario has it
    Setting setting;
    History (*reference)(const Case& run);
};

/// Returns a run with other options: `patch` replaces keys of the algorithm.
Case changed(Case run, const Json& patch);

struct Paper {
    std::string_view algorithm;   // its name in a scenario
    std::string_view source;      // paper, venue, year; or the released code that is followed
    std::string_view variant;     // what is implemented
    std::string_view deviations;  // from the source; "none"
    std::vector<Case> (*cases)();
};

/// Returns all papers, in the order of the families.
std::vector<Paper> all_papers();

/// Returns the deviation of the product from the reference.
double difference(const Case& run);
/// Returns that of all cases.
double largest_difference(const Paper& paper);

// One list for each file.
std::span<const Paper> dense_papers();
std::span<const Paper> lars_papers();
std::span<const Paper> dgc_papers();
std::span<const Paper> gradient_dropping_papers();
std::span<const Paper> gtop_k_papers();
std::span<const Paper> exchange_papers();
std::span<const Paper> compressed_sgd_papers();
std::span<const Paper> sign_papers();
std::span<const Paper> power_sgd_papers();
std::span<const Paper> demo_papers();
std::span<const Paper> choco_papers();
std::span<const Paper> adam_papers();
std::span<const Paper> one_bit_adam_papers();
std::span<const Paper> one_bit_lamb_papers();
std::span<const Paper> zero_one_adam_papers();
std::span<const Paper> one_bit_sgd_papers();
std::span<const Paper> local_sgd_papers();
std::span<const Paper> slowmo_papers();
std::span<const Paper> bmuf_papers();
std::span<const Paper> diloco_papers();
std::span<const Paper> streaming_diloco_papers();
std::span<const Paper> local_adam_papers();
std::span<const Paper> sparta_papers();
std::span<const Paper> overlapped_average_papers();
std::span<const Paper> easgd_papers();
std::span<const Paper> dsgd_papers();
std::span<const Paper> dmsgd_papers();
std::span<const Paper> bias_corrected_papers();
std::span<const Paper> momentum_tracking_papers();
std::span<const Paper> momentum_consensus_papers();
std::span<const Paper> push_sum_papers();
std::span<const Paper> ad_psgd_papers();
std::span<const Paper> swarm_papers();
std::span<const Paper> server_papers();
std::span<const Paper> fedavg_papers();
std::span<const Paper> fedopt_papers();
std::span<const Paper> scaffold_papers();

}  // namespace paceline::papers
