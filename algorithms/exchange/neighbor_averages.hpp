// Averages with neighbors, by codec, aggregation and schedule.
//
//   v_i  <-  sum over j of w_ij C(v_j)
//
// flat       every worker averages with its neighbors
// leaders    the devices of a machine first form their mean, over the bus; the first devices of
//            machines average it with those of neighboring machines, by a mixing of machines; every
//            device gets the result: BlueFog's hierarchical neighbor average. All models of a
//            machine are then equal
//
// C is nothing, or a cast to half precision; what it rounds off is lost, because a worker uses its
// own v_i rounded as its neighbors do. Vectors travel whole or in pieces. Pieces of a vector that
// is complete leave together, in order. Beside backward, a piece leaves as soon as the gradient of
// its tensors is complete and `make` has turned it into what is averaged, so that messages travel
// while backward goes on.
//
// Rounds of one worker take place in the order of calls, so vectors that are averaged side by side
// must be given in the same order on all workers. Source of hierarchical averages: BlueFog
// (released code, hierarchical_neighbor_allreduce). Limits: one communication stream.
#pragma once

#include <functional>
#include <vector>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/exchange/piece.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/resource.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

class NeighborAverages {
  public:
    /// Requires a codec without memory, that the worker outlives this object, and a job with a
    /// mixing: of workers, or by machine of machines.
    NeighborAverages(Worker& self, ExchangeOptions options);

    /// Returns the average of v. The call takes its place among the rounds when it is made.
    Task<Vector> average(Vector v);

    /// Computes the gradient at x and returns the average of what `make` returns for its pieces.
    /// Each piece is made once, on the worker's own thread. Requires that x outlives the task.
    using Make = std::function<Vector(const Piece& piece, const Vector& gradient)>;
    Task<Vector> average_behind_gradient(const Vector& x, Make make);

  private:
    [[nodiscard]] Vector encoded(Vector v) const;
    [[nodiscard]] Bytes weigh(const Layout& charged) const;
    Task<> code(const Layout& charged, std::int64_t messages);
    Task<> code_own(const Piece& piece);
    Task<Vector> begin(const Piece& piece, Vector part);
    Task<Vector> by_leaders(const Piece& piece, Vector part);
    Task<Vector> joined(std::vector<Task<Vector>> parts, Vector sum);

    Worker& self_;
    ExchangeOptions options_;
    std::vector<Piece> pieces_;
    Resource turns_{1};  // by machine: one vector at a time
};

}  // namespace paceline
