#include "sim/engine/processes.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

namespace {

// Wraps the work in a frame, so that its start can wait in the ready list.
Task<> begin_later(Simulation& simulation, Task<> work) {
    co_await simulation.sleep(Duration::zero());
    co_await std::move(work);
}

}  // namespace

void Processes::spawn(std::string name, Task<> work) {
    const Root& root = roots_.emplace_back(make_process(std::move(name), kind_),
                                           begin_later(simulation_, std::move(work)));
    root.work.promise().begin(simulation_, root.process.get(), nullptr);
}

void Processes::drop() {
    while (!roots_.empty()) roots_.pop_front();  // clear() guarantees no order
}

bool Processes::finished() const {
    return std::ranges::all_of(roots_,
                               [](const Root& root) { return root.work.promise().finished(); });
}

}  // namespace paceline
