// Owns the root tasks of a simulation, each under a name.
//
// Declare it last, after everything its tasks refer to, so that coroutine frames are destroyed
// first. Tasks start when the simulation runs, in the order in which they were spawned. If a task
// throws, Simulation::run() rethrows the exception.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Processes {
  public:
    /// Daemons do not keep the run alive, and a daemon still waiting at the end is not a deadlock.
    explicit Processes(Simulation& simulation, EventKind kind = EventKind::foreground)
        : simulation_(simulation), kind_(kind) {}
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;
    ~Processes() { drop(); }

    /// Adds a process that starts at the current instant, once the simulation runs.
    void spawn(std::string name, Task<> work);

    [[nodiscard]] std::size_t size() const { return roots_.size(); }
    [[nodiscard]] bool finished() const;

    /// Cancels all processes: destroys every frame now, in the order of spawning.
    void drop();

  private:
    struct Root {
        ProcessPtr process;
        Task<> work;
    };

    Simulation& simulation_;
    EventKind kind_;
    std::deque<Root> roots_;
};

}  // namespace paceline
