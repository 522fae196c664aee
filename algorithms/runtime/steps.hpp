// Which steps a job takes. Whether step k is taken is decided once, for all workers, when the first
// of them asks, by the job's stop rule. If the job limits the gradients that all workers may begin
// together, its workers need not take equally many steps.
#pragma once

#include <cstdint>

#include "algorithms/lives/checkpoint.hpp"
#include "algorithms/runtime/job.hpp"

namespace paceline {

class Steps {
  public:
    /// Requires that the job outlives this object.
    Steps(const Job& job, int workers) : job_(job), workers_(workers) {}

    /// Returns whether step k is taken, which worker `rank` asks. Steps are decided one after the
    /// other.
    [[nodiscard]] bool takes(std::int64_t k, int rank);
    /// Counts the gradient of a step that a worker begins, if the job limits them. Returns where
    /// the step stands in the schedule of the run.
    [[nodiscard]] std::int64_t count_gradient(std::int64_t step) {
        return job_.gradients ? gradients_begun_++ / workers_ : step;
    }
    /// Returns false once all gradients that the job allows have begun.
    [[nodiscard]] bool gradients_left() const {
        return !job_.gradients || gradients_begun_ < *job_.gradients;
    }

    /// Returns how many steps somebody has begun: a step begins when the one before it is done.
    [[nodiscard]] std::int64_t begun() const { return begun_; }
    /// Returns whether step k is the newest one and `rank` was the first to begin it.
    [[nodiscard]] bool began_newest(std::int64_t k, int rank) const {
        return k + 1 == begun_ && rank == newest_beginner_;
    }
    /// Returns whether it is decided that no more steps begin.
    [[nodiscard]] bool over() const { return over_; }

    /// Goes back to the beginning of a checkpoint's step.
    void go_back(const Checkpoint& to);

  private:
    const Job& job_;
    int workers_;
    std::int64_t begun_ = 0;
    std::int64_t gradients_begun_ = 0;  // counted if the job limits them
    int newest_beginner_ = 0;
    bool over_ = false;
};

}  // namespace paceline
