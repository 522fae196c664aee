#include "algorithms/lives/worker_state.hpp"

namespace paceline {

namespace {

constexpr Stream first_round_of(const Group& group) {
    constexpr unsigned round_bits = 40;
    return Stream{group.epoch} << round_bits;
}

}  // namespace

Stream WorkerState::rounds_begun(const Group& group) const {
    const auto found = rounds.find(group.epoch);
    return found == rounds.end() ? 0 : found->second;
}

Stream WorkerState::next_round(const Group& group) const {
    return first_round_of(group) + rounds_begun(group);
}

Stream WorkerState::begin_round(const Group& group) {
    return first_round_of(group) + rounds[group.epoch]++;
}

}  // namespace paceline
