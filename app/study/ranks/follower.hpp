// A rank other than 0 of a parallel job. It follows rank 0 (leader.hpp), and neither writes nor
// prints anything.
#pragma once

#include <stop_token>
#include <string>

#include "app/scenario/study.hpp"
#include "app/study/ranks/communicator.hpp"
#include "app/study/run_pool.hpp"

namespace paceline {

/// Runs what rank 0 hands out until rank 0 ends the job. Returns the exit code that rank 0 sends. A
/// stop ends the study of all ranks.
int follow(Communicator& communicator, const Study& study, const PoolSize& size,
           const std::stop_token& stop);

/// Tells rank 0 that this rank cannot begin, and why. Returns as above.
int decline(Communicator& communicator, const std::string& error);

}  // namespace paceline
