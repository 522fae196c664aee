// A rank other than 0 of a parallel job: does what rank 0 says (leader.hpp), and writes and prints
// nothing.
#pragma once

#include <stop_token>
#include <string>

#include "app/ranks/post.hpp"
#include "app/run_pool.hpp"
#include "app/study.hpp"

namespace paceline {

/// Runs what rank 0 hands out until it ends the job; returns the exit code that it says. A stop ends
/// the study of all ranks.
int follow(Post& post, const Study& study, const PoolSize& size, const std::stop_token& stop);

/// Tells rank 0 that this rank cannot begin, and why; returns as above.
int decline(Post& post, const std::string& error);

}  // namespace paceline
