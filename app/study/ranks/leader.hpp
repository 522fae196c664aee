// Rank 0 of a parallel job. It hands out the runs of a study to all ranks, including its own loops,
// as they finish earlier ones.
//
//   leader                                other ranks (follower.hpp)
//   gather()        <---- hello ----
//   run()           ----- begin ------->  as many loops as they have, each:
//                   <---- ask ----------
//                   -- run 17 | none -->
//                   <---- result 17 ----
//   run()           ...                   again, for the baselines
//   dismiss()       ----- end 0 ------->
//                   <---- bye ----------
//
// Only the thread that calls these functions uses the communicator; this rank's own runs are on
// other threads. Which rank gets which run depends on timing; the results do not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/study/ranks/communicator.hpp"
#include "app/study/ranks/hello.hpp"
#include "app/study/run_pool.hpp"

namespace paceline {

class Leader {
  public:
    /// `interrupt` is called when a signal has asked another rank to stop, and must request a stop
    /// of the study. Requires that the communicator outlives this object.
    Leader(Communicator& communicator, std::function<void()> interrupt);

    /// Waits for all ranks. Throws ConfigError if one cannot begin, or runs another program or
    /// study than `own`.
    void gather(const Hello& own);
    /// Returns the number of loops on other ranks. Requires an earlier gather().
    [[nodiscard]] std::size_t loops_elsewhere() const { return loops_elsewhere_; }

    /// Does what run_side_by_side does, over all ranks. `size` is that of this rank. Requires an
    /// earlier gather().
    void run(const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
             StudyProgress& progress, const std::stop_token& stop);

    /// Ends the other ranks with this exit code. Returns whether all have said goodbye within
    /// `patience`.
    bool dismiss(int exit_code, std::chrono::milliseconds patience = std::chrono::seconds(10));

  private:
    struct Handing;  // a run() in progress

    [[nodiscard]] std::optional<RankMessage> next_letter();
    [[nodiscard]] std::string name_of(int rank) const;
    void check(int rank, const Hello& own) const;
    void send_all(MessageKind kind, std::uint64_t number = 0);
    void answer(Handing& handing, const RankMessage& message);

    Communicator& communicator_;
    std::function<void()> interrupt_;
    std::vector<Hello> hellos_;  // [rank]; of rank 0: empty
    std::size_t loops_elsewhere_ = 0;
};

}  // namespace paceline
