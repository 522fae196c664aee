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

Task<> on_device(Simulation& simulation, CollectivesOnDevice& device, Task<> messages) {
    const InProgress kernels(simulation, device);
    co_await std::move(messages);
}

}  // namespace

Task<> behind_start_up(const SharedState& all, WorkerState& own, int members, Task<> messages) {
    if (members == 1) return messages;
    const Library& library = all.job.library;
    if (library.occupies > 0)
        messages = on_device(all.simulation(), own.collectives, std::move(messages));
    return behind(all.simulation(), library.start_up, std::move(messages));
}

CollectiveOfOwn behind_start_up(const SharedState& all, WorkerState& own,
                                CollectiveOfOwn messages) {
    const Library& library = all.job.library;
    if (library.start_up == Duration::zero() && library.occupies == 0) return messages;
    return [&all, &own, messages = std::move(messages)](const Rank& rank) {
        return behind_start_up(all, own, rank.size(), messages(rank));
    };
}

}  // namespace paceline
