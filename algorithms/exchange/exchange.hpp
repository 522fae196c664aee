// The exchange of a gradient, or of another vector, by codec, aggregation and schedule.
//
// A worker owns one, which holds the coders of its pieces (coder.hpp) and what they remember:
//
//   VectorExchange exchange(self, options);
//   while (self.begins_step()) {
//       const Vector mean = co_await exchange.mean_gradient(x);
//       ...
//   }
//
// There are three resources: the device, which computes one thing at a time, first-in first-out;
// and for each stream what it carries. Piece i, complete at time r_i,
//
//   is encoded on the device as soon as it is complete, before backward goes on
//   waits for its turn on stream i mod streams (piece_queue.hpp)
//   travels, and frees the stream
//   is decoded on the device, behind what the device has been asked for before
//
// and the exchange ends when the last piece is decoded. A whole dense gradient that is all-reduced
// after backward is formed from all batches at once, which changes no time.
//
// Into forward, pieces of one step arrive while the next step's forward pass waits for them one by
// one:
//
//   while (self.begins_step()) co_await exchange.step_into_forward(x, update);
//   co_await exchange.arrive(update);
//
// where update(k, mean) is called once for each step k, when its last piece has arrived on the
// first worker. The optimizer's time of a piece is its share of the job's, after the piece has been
// decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/coders/coder.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/exchange/piece.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/shared_value.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Backward;
class Worker;

/// What a worker makes of its part of a vector before it is encoded, in `passes` over the entries.
/// Called on any thread, for one piece at a time; changes only state of this worker and piece.
struct Preparation {
    std::function<Vector(const Piece& piece, Vector part)> make{};  // empty: nothing
    std::int64_t passes = 0;
};

/// Makes the coder of the next piece, for an algorithm that holds what its codec remembers.
using MakeCoder = std::function<CoderPtr(CoderPlace place)>;

/// Returns whether such an exchange, without a preparation, forms the mean gradient of equal
/// replicas at once, from all batches (Worker::mean_gradient).
[[nodiscard]] bool averages_at_once(const ExchangeOptions& options);

class VectorExchange {
  public:
    /// Requires that the worker outlives the exchange. `name` tells apart the exchanges of an
    /// algorithm that has several. `make` makes the coders of pieces that travel flat; empty:
    /// make_coder.
    VectorExchange(Worker& self, SharedValue<ExchangeOptions> options, Preparation prepare = {},
                   const std::string& name = {}, const MakeCoder& make = {});
    /// The same for a vector of these pieces, which is not the whole model: a fragment, or a
    /// selection.
    VectorExchange(Worker& self, SharedValue<ExchangeOptions> options, std::vector<Piece> pieces,
                   const std::string& name);
    ~VectorExchange();
    VectorExchange(const VectorExchange&) = delete;
    VectorExchange& operator=(const VectorExchange&) = delete;

    /// Returns the aggregate of the gradients of all workers at x.
    Task<Vector> mean_gradient(const Vector& x);
    /// Returns the aggregate of the v of all workers; all pieces are complete when it begins.
    Task<Vector> aggregate(Vector v);

    /// Computes the gradient at x and begins its exchange. The forward pass of a layer waits for
    /// that layer's piece of the step before.
    using Update = std::function<void(std::int64_t step, const Vector& mean)>;
    Task<> step_into_forward(const Vector& x, Update update);
    /// Waits for the last step's pieces, and updates.
    Task<> arrive(Update update);

    [[nodiscard]] const std::vector<Piece>& pieces() { return parts().pieces; }

  private:
    struct Pass;
    /// What a mean that is formed at once can do without, so that workers by the thousand need
    /// little.
    struct Parts {
        Preparation prepare{};
        std::string name{};
        std::vector<Piece> pieces{};
        std::vector<CoderPtr> coders{};  // made when they are needed, if the mean is formed at once
        std::unique_ptr<Pass> last{};    // into forward: of the step before
        std::int64_t updated_entries = 0;
    };

    void make_coders(const MakeCoder& make);
    [[nodiscard]] Parts& parts();
    [[nodiscard]] bool averages_at_once() const;
    Task<Vector> mean_gradient_behind_backward(const Vector& x);
    Task<Vector> mean_gradient_beside_backward(const Vector& x);
    Task<Vector> aggregate_whole(Vector v);
    Task<Vector> aggregate_pieces(Vector v);
    Task<> encode(std::size_t i, Vector part);
    Task<> exchange_beside(Pass& pass, Backward& backward);
    Task<> carry(Pass& pass, int stream);
    void begin_decoding(Pass& pass, std::size_t i, Vector mean);
    Task<> decode(Pass& pass, std::size_t i, Vector mean);
    Task<> arrived(std::size_t bucket, Update update);
    std::unique_ptr<Pass> begin_pass(const Vector& like);
    Task<> all_decoded(Pass& pass);

    Worker& self_;
    SharedValue<ExchangeOptions> options_;
    std::unique_ptr<Parts> parts_{};  // null until they are asked for
};

}  // namespace paceline
