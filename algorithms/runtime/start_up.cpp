#include "algorithms/runtime/start_up.hpp"

#include <utility>

#include "algorithms/runtime/shared_state.hpp"

namespace paceline {

Task<> behind_start_up(const SharedState& all, int members, Task<> messages) {
    if (members == 1) return messages;
    return behind(all.simulation(), all.job.library.start_up, std::move(messages));
}

CollectiveOfOwn behind_start_up(const SharedState& all, CollectiveOfOwn messages) {
    if (all.job.library.start_up == Duration::zero()) return messages;
    return [&all, messages = std::move(messages)](const Rank& rank) {
        return behind_start_up(all, rank.size(), messages(rank));
    };
}

}  // namespace paceline
