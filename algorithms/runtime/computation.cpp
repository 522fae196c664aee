#include "algorithms/runtime/computation.hpp"

#include <optional>
#include <utility>

#include "algorithms/runtime/diverged.hpp"
#include "algorithms/runtime/local_work.hpp"
#include "algorithms/runtime/observed.hpp"
#include "sim/engine/resource.hpp"

namespace paceline {

Duration slowed(const SharedState& all, const WorkerState& worker, Duration time) {
    const ComputeTime& law = all.job.compute_time;
    return law ? law(worker.rank, worker.gradients, all.simulation().now(), time) : time;
}

Duration gradient_time(const SharedState& all, const WorkerState& worker) {
    return slowed(all, worker, all.job.timing.step);
}

Vector evaluate_gradient(const SharedState& all, int rank, const Vector& x, std::int64_t k) {
    if (!x.has_values()) return Vector(x.layout());
    return {x.layout(), all.job.objective(x, rank, k)};
}

Vector evaluate_mean_gradient(const SharedState& all, const Group& group, const Vector& x,
                              std::int64_t k) {
    if (all.job.mean_objective && &group == all.groups.everybody().get())
        return {x.layout(), all.job.mean_objective(x, k)};
    const std::vector<int>& of = group.members;
    Eigen::VectorXd sum = all.job.objective(x, of[0], k);
    for (std::size_t i = 1; i < of.size(); ++i) sum += all.job.objective(x, of[i], k);
    return {x.layout(), sum * (1.0 / static_cast<double>(of.size()))};  // the same bits as mean_of
}

DeviceUse::DeviceUse(const SharedState& all, WorkerState& worker, Work what, Duration time)
    : all_(all),
      worker_(worker),
      computing_(all.observer(), all.host(worker.rank), what),
      on_device_(work_on_device(all, worker, time)) {}

Simulation::Sleep DeviceUse::rest() const {
    Simulation& simulation = all_.simulation();
    return simulation.sleep(on_device_.left(simulation.now()));
}

bool DeviceUse::goes_on() const {
    return on_device_.left(all_.simulation().now()) > Duration::zero();
}

void DeviceUse::end() {
    worker_.compute_time += on_device_.alone() + on_device_.held_until(all_.simulation().now());
}

// These and write_due_checkpoint are not inlined: their frames would become part of a caller's, and
// frames above a kilobyte leave the quick part of glibc's allocator.
[[gnu::noinline]] Task<> compute(SharedState& all, WorkerState& worker, Work what, Duration time,
                                 std::function<void()> work) {
    const Resource::Lease device = co_await worker.device.acquire();
    std::optional<LocalWork::Piece> piece;
    if (work && all.job.start.has_values())
        piece.emplace(all.local_work, std::exchange(work, nullptr));
    if (worker.checkpoint_due > Duration::zero()) co_await write_due_checkpoint(all, worker);
    {
        DeviceUse use(all, worker, what, time);
        do co_await use.rest();
        while (use.goes_on());
        use.end();
    }
    if (piece) piece->join();
    if (work) work();  // without values there is nothing to spread over threads
}

[[gnu::noinline]] Task<> gradient(SharedState& all, WorkerState& worker, Vector x,
                                  std::function<void(Vector g)> use) {
    const std::int64_t k = worker.gradients;
    const Duration time = gradient_time(all, worker);
    co_await compute(all, worker, {Work::Kind::gradient, k}, time, [&] {
        Vector g = evaluate_gradient(all, worker.rank, x, k);
        check_finite(g, worker.rank, k);
        use(std::move(g));
    });
    ++worker.gradients;
}

Task<Vector> gradient(SharedState& all, WorkerState& worker, Vector x) {
    Vector g(x.layout());
    if (x.has_values()) {
        co_await gradient(all, worker, std::move(x), [&](Vector formed) { g = std::move(formed); });
    } else {
        co_await compute(all, worker, {Work::Kind::gradient, worker.gradients},
                         gradient_time(all, worker));
        ++worker.gradients;
    }
    co_return g;
}

WorkOnDevice work_on_device(const SharedState& all, const WorkerState& worker, Duration alone) {
    return {worker.collectives, all.job.library.occupies, all.simulation().now(), alone};
}

[[gnu::noinline]] Task<> write_due_checkpoint(SharedState& all, WorkerState& worker) {
    const Duration time = std::exchange(worker.checkpoint_due, Duration::zero());
    {
        InWait writing(all.observer(), all.host(worker.rank), WaitFor::checkpoint);
        co_await all.simulation().sleep(time);
        writing.note_over();
    }
    all.lives.note_written(worker.rank);
}

}  // namespace paceline
