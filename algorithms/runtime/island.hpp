// An island: devices that train one replica together, and act as one worker of an outer method.
//
// Every device of an island is a Worker and runs the outer method's coroutine, as every process of
// a real job runs its program. What it computes from is the same on all devices of an island, so
// their models are equal after every step. The verbs of an outer method mean
//
//   gradient(x)         the mean gradient over the island's batches, by the inner method
//   update()            the inner method's update
//   rank(), workers()   the number of the island, and how many there are
//   stream(name)        a random stream of the island
//   what is exchanged   between islands by `lanes`, then handed to all devices inside
//
// Lane p consists of the devices in place p of all islands. With one lane, the first devices
// exchange the whole and broadcast it inside. With as many as an island has devices, device p
// exchanges the p-th chunk, and an all-gather inside follows (as HSDP) unless the inner method
// keeps parameters in shards, which its next forward pass gathers anyway. The only island of a job
// exchanges with nobody: every device has a lane of its own, and nothing is handed on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/runtime/collectives.hpp"
#include "models/tensors/vector.hpp"
#include "sim/collectives/rank.hpp"
#include "sim/engine/resource.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

/// What the devices of an island do together in each step, as one of them sees it.
class InnerMethod {
  public:
    InnerMethod() = default;
    InnerMethod(const InnerMethod&) = delete;
    InnerMethod& operator=(const InnerMethod&) = delete;
    virtual ~InnerMethod() = default;

    /// Returns the mean gradient over the island's batches at x, which is equal on its devices.
    /// Requires that x outlives the task.
    virtual Task<Vector> mean_gradient(const Vector& x) = 0;
    /// Takes the time of the optimizer's work, and of what follows it inside.
    virtual Task<> update() = 0;
    /// Returns whether every device keeps its chunk of the parameters alone between steps.
    [[nodiscard]] virtual bool keeps_shards() const = 0;
};

/// Ranks of the devices of each island. Every device is in one of them.
using IslandMembers = std::vector<std::vector<int>>;

/// An island as one of its devices sees it.
struct Island {
    const IslandMembers* of_all;
    int number = 0;                // 0, 1, ...
    int place = 0;                 // of this device in its island
    int lanes = 1;                 // 1, or as many as every island has devices
    GroupPtr lane{};               // null: this device has none
    InnerMethod* inner = nullptr;  // of this device
    int acts_for = 1;              // devices that this one stands for at a barrier
    mutable Resource turns{1};  // vectors go between islands one at a time, unless in an exchange
    mutable int news = 0;       // vectors that came by letter and are not known to all devices

    [[nodiscard]] const std::vector<int>& members() const {
        return (*of_all)[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] int islands() const { return static_cast<int>(of_all->size()); }
};

/// Returns the name of an island, which what a codec remembers for all of its devices has.
std::string name_of_island(int number);

/// Returns the messages by which the devices of an island hand on inside what has come by the
/// lanes, a vector of this weight, and their name.
CollectiveOfOwn messages_inside(const Island& island, Bytes size);
std::string_view name_inside(const Island& island);

}  // namespace paceline
