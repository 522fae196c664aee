// The data of one worker or server that outlives its process: its model, progress and counters.
#pragma once

#include <cstdint>

#include <boost/container/deque.hpp>
#include <boost/container/flat_map.hpp>
#include <boost/container/options.hpp>
#include <boost/container/small_vector.hpp>

#include "models/tensors/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/compute/shared_device.hpp"
#include "sim/engine/resource.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

struct WorkerState {
    int rank;
    Vector model;
    const WorkerState* follows = nullptr;  // whose model it has, if not its own
    std::int64_t step = -1;                // the current one; -1 before the first
    std::int64_t first_step = 0;           // of its present life
    std::int64_t newest_step = -1;         // the newest it ever began, also before a restart
    std::int64_t schedule_step = 0;        // where its step stands in the schedule of the run
    std::int64_t gradients = 0;            // computed, without those that a restart has undone
    std::int64_t undone = 0;               // gradients that restarts have undone
    std::int64_t before_life = 0;  // of `gradients`, those that nothing of this life can lose
    std::int64_t before_step = 0;  // of them, those of earlier steps than the current one
    std::int64_t counted = 0;      // of them, those that its death would not lose
    std::int64_t lost = 0;         // of them, those that were lost with its earlier lives
    Duration compute_time{};
    Duration checkpoint_due{};  // time to write one before the next computation
    boost::container::small_flat_map<std::uint32_t, Stream, 1>
        rounds{};               // collectives begun, by epoch of the group
    int exchanges_to_come = 0;  // with rounds that have no number yet (exchange_to_come.hpp)
    boost::container::flat_map<int, std::int64_t> orders{};  // common orders asked for, by channel
    Resource device{1};  // computes one thing at a time: gradients, coding, updates, checkpoints
    CollectivesOnDevice collectives{};

    // Each round of a group has a stream of its own. Its number is the same on each member, and no
    // other collective has it.

    /// Returns the number of collectives of the group that this worker has begun.
    [[nodiscard]] Stream rounds_begun(const Group& group) const;
    /// Returns the stream of the next collective of the group.
    [[nodiscard]] Stream next_round(const Group& group) const;
    /// Begins the next collective of the group and returns its stream.
    [[nodiscard]] Stream begin_round(const Group& group);
};

/// The workers and servers of a job, by rank, in blocks of many: they stay where they are.
using WorkerStates = boost::container::deque<
    WorkerState, void, boost::container::deque_options<boost::container::block_size<64>>::type>;

}  // namespace paceline
