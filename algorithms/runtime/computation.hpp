// What a worker computes: the values of gradients, and the simulated time that its device takes.
//
// A device computes one thing at a time. Gradients, updates, coding and the writing of checkpoints
// queue on it, first-in first-out by the time of the request, and run to their end; only messages
// run beside them, and kernels of collectives slow them down (sim/compute/shared_device.hpp). The
// observer hears of a computation when the device has been granted to it. Its slowdown
// (Job::compute_time) is that of the time of the request. The device of a worker that dies is free
// again, because the death destroys all that held it or queued on it.
//
// Not modelled: computations that share a device, as small kernels of two CUDA streams can.
#pragma once

#include <cstdint>
#include <functional>

#include "algorithms/lives/worker_state.hpp"
#include "algorithms/runtime/observed.hpp"
#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker_observer.hpp"
#include "models/tensors/vector.hpp"
#include "sim/compute/shared_device.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// Returns how long `time` of the worker's next gradient takes on this worker (Job::compute_time).
Duration slowed(const SharedState& all, const WorkerState& worker, Duration time);
/// Returns how long the worker's next gradient takes.
Duration gradient_time(const SharedState& all, const WorkerState& worker);

/// Returns the k-th gradient of worker `rank` at x.
Vector evaluate_gradient(const SharedState& all, int rank, const Vector& x, std::int64_t k);
/// Returns the mean of the members' k-th gradients at x.
Vector evaluate_mean_gradient(const SharedState& all, const Group& group, const Vector& x,
                              std::int64_t k);

/// Takes the time of a computation on the worker's device, after a checkpoint that is due. The
/// arithmetic `work` is done when the time is over (local_work.hpp); it begins when the device is
/// granted. Null: none.
Task<> compute(SharedState& all, WorkerState& worker, Work what, Duration time,
               std::function<void()> work = nullptr);

/// The time of a computation, for a caller that holds the device:
///
///   DeviceUse use(all, worker, what, time);
///   do co_await use.rest(); while (use.goes_on());
///   use.end();
class DeviceUse {
  public:
    /// The computation begins. Requires that `all` and `worker` outlive this object.
    DeviceUse(const SharedState& all, WorkerState& worker, Work what, Duration time);

    [[nodiscard]] Simulation::Sleep rest() const;
    [[nodiscard]] bool goes_on() const;
    void end();

  private:
    const SharedState& all_;
    WorkerState& worker_;
    Computing computing_;
    WorkOnDevice on_device_;
};

/// Computes the worker's next gradient, at x, and passes it to `use` (Worker::gradient).
Task<> gradient(SharedState& all, WorkerState& worker, Vector x, std::function<void(Vector g)> use);
/// The same; returns the gradient.
Task<Vector> gradient(SharedState& all, WorkerState& worker, Vector x);

/// Returns work that begins now and takes `alone` without collectives beside it.
WorkOnDevice work_on_device(const SharedState& all, const WorkerState& worker, Duration alone);

/// Takes the time of writing the checkpoint that is due on this worker. Requires that the caller
/// holds the device.
Task<> write_due_checkpoint(SharedState& all, WorkerState& worker);

}  // namespace paceline
