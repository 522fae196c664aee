#include "sim/collectives/library.hpp"

#include <utility>

#include "sim/engine/simulation.hpp"

namespace paceline {

namespace {

Task<> slept(Simulation& simulation, Duration start_up, Task<> messages) {
    co_await simulation.sleep(start_up);
    co_await std::move(messages);
}

}  // namespace

Task<> behind(Simulation& simulation, Duration start_up, Task<> messages) {
    if (start_up == Duration::zero()) return messages;
    return slept(simulation, start_up, std::move(messages));
}

}  // namespace paceline
