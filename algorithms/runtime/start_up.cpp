#include "algorithms/runtime/start_up.hpp"

#include <utility>

#include "algorithms/runtime/shared_state.hpp"

namespace paceline {

namespace {

// A collective in progress on a device; ends with the coroutine, also if a death ends that.
class InProgress {
  public:
    InProgress(const Simulation& simulation, CollectivesOnDevice& device)
        : simulation_(simulation), device_(device) {
        device_.begin(simulation_.now());
    }
    InProgress(const InProgress&) = delete;
    InProgress& operator=(const InProgress&) = delete;
    ~InProgress() { device_.end(simulation_.now()); }

  private:
    const Simulation& simulation_;
    CollectivesOnDevice& device_;
};

Task<> begun(Simulation& simulation, Duration start_up, CollectivesOnDevice& device,
             Task<> messages) {
    if (start_up > Duration::zero()) co_await simulation.sleep(start_up);
    const InProgress kernels(simulation, device);
    co_await std::move(messages);
}

bool costs_nothing(const Library& library) {
    return library.start_up == Duration::zero() && library.occupies == 0;
}

}  // namespace

Task<> behind_start_up(const SharedState& all, WorkerState& own, int members, Task<> messages) {
    const Library& library = all.job.library;
    if (costs_nothing(library) || members == 1) return messages;
    return begun(all.simulation(), library.start_up, own.collectives, std::move(messages));
}

CollectiveOfOwn behind_start_up(const SharedState& all, WorkerState& own,
                                CollectiveOfOwn messages) {
    if (costs_nothing(all.job.library)) return messages;
    return [&all, &own, messages = std::move(messages)](const Rank& rank) {
        return behind_start_up(all, own, rank.size(), messages(rank));
    };
}

}  // namespace paceline
