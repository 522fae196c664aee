// The owner of root tasks: what is simulated, by name.
//
// Declare it last, after everything its tasks refer to, so that frames die first. Tasks begin when
// the simulation runs, in the order in which they were spawned. An exception in one leaves
// Simulation::run().
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Processes {
  public:
    /// Daemons do not keep the run alive, and are not missed when they still wait at its end.
    explicit Processes(Simulation& simulation, EventKind kind = EventKind::foreground)
        : simulation_(simulation), kind_(kind) {}
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;
    ~Processes() { drop(); }

    /// Adds a process that begins at the current instant, once the simulation runs.
    void spawn(std::string name, Task<> work);

    [[nodiscard]] std::size_t size() const { return roots_.size(); }
    [[nodiscard]] bool finished() const;

    /// Cancels all: every frame dies now, in the order of spawning.
    void drop();

  private:
    struct Root {
        Process process;
        Task<> work;
    };

    Simulation& simulation_;
    EventKind kind_;
    std::deque<Root> roots_;  // stable addresses: coroutines refer to their process
};

}  // namespace paceline
