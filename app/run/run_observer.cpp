#include "app/run/run_observer.hpp"

namespace paceline {

namespace {

template <class... Arguments>
std::function<void(Arguments...)> in_turn(const std::function<void(Arguments...)>& first,
                                          const std::function<void(Arguments...)>& second) {
    if (!first) return second;
    if (!second) return first;
    return [first, second](Arguments... arguments) {
        first(arguments...);
        second(arguments...);
    };
}

}  // namespace

NetworkObserver both(const NetworkObserver& first, const NetworkObserver& second) {
    return {.begins = in_turn(first.begins, second.begins),
            .rate = in_turn(first.rate, second.rate),
            .restarts = in_turn(first.restarts, second.restarts),
            .drains = in_turn(first.drains, second.drains),
            .arrives = in_turn(first.arrives, second.arrives),
            .capacity = in_turn(first.capacity, second.capacity),
            .carries = {}};
}

}  // namespace paceline
