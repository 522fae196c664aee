#include "algorithms/runtime/start_up.hpp"

#include <utility>

#include "algorithms/runtime/shared_state.hpp"

namespace paceline {

namespace {

Task<> begun(Simulation& simulation, Duration start_up, Task<> messages) {
    co_await simulation.sleep(start_up);
    co_await std::move(messages);
}

}  // namespace

Task<> behind_start_up(const SharedState& all, int members, Task<> messages) {
    const Duration start_up = all.job.library.start_up;
    if (start_up == Duration::zero() || members == 1) return messages;
    return begun(all.simulation(), start_up, std::move(messages));
}

CollectiveOfOwn behind_start_up(const SharedState& all, CollectiveOfOwn messages) {
    if (all.job.library.start_up == Duration::zero()) return messages;
    return [&all, messages = std::move(messages)](const Rank& rank) {
        return behind_start_up(all, rank.size(), messages(rank));
    };
}

}  // namespace paceline
