#include "algorithms/compressed/choco_sgd.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/compression/compressor.hpp"
#include "algorithms/exchange/piece.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/inside_machine.hpp"

namespace paceline {

namespace {

constexpr std::int64_t hat_passes = 2;

const Compressor& difference_compressor(const ChocoSgdOptions& options) {
    return std::get<Compressor>(options.exchange.codec.coder);
}

// Returns how many others a row of W hears of.
std::int64_t heard_of(const Mixing& mixing, int row) {
    return std::ranges::count_if(mixing.row(row),
                                 [&](const MixingWeight& w) { return w.node != row; });
}

// What a worker keeps of one piece of the model.
struct CopiesOfPiece {
    Piece piece;
    Bytes size;       // of a message
    Duration coding;  // of a step
    Vector hat;
    Vector around;
    Vector q;                               // the last message
    std::optional<Pending<Vector>> news{};  // sum over j of w_ij q_j, on its way
};

// The messages of a worker to its neighbors, or of the leader of a machine to other leaders.
class HatExchange {
  public:
    HatExchange(Worker& self, const ChocoSgdOptions& options)
        : self_(self), options_(options), own_(self.stream("compression")) {
        const Vector& x = self.model();
        const ExchangeSchedule& schedule = options.exchange.schedule;
        const int row = by_machine() ? self.rank() / devices() : self.rank();
        const std::int64_t neighbors = heard_of(*self.mixing(), row);
        for (const Piece& piece : pieces_of(self, schedule, {})) {
            const Vector part = part_of(x, piece);
            pieces_.push_back({piece, message_bytes(difference_compressor(options), *piece.charged),
                               choco_coding_time(options, *piece.charged, neighbors), part, part,
                               Vector::zero_like(part)});
        }
    }

    [[nodiscard]] std::vector<CopiesOfPiece>& pieces() { return pieces_; }
    [[nodiscard]] bool by_machine() const {
        return options_.exchange.aggregation.machines != ByMachine::flat;
    }
    [[nodiscard]] bool has_hats() const { return !by_machine() || self_.rank() % devices() == 0; }

    void begin_step() { common_.emplace(self_.common_stream("common compression", self_.step())); }
    /// Sends q to the neighbors.
    void send(CopiesOfPiece& at) {
        if (!has_hats()) return;
        at.news.emplace(self_.start(by_machine() ? self_.machine_average(at.q, at.size, devices())
                                                 : self_.neighbor_average(at.q, at.size)));
    }
    /// Waits for the neighbors' q of the step before, and mixes. By machine, v is first the mean of
    /// the machine's devices, and all of them get the result.
    Task<Vector> mix(CopiesOfPiece& at, Vector v) {
        if (!by_machine()) co_return co_await mix_hats(at, std::move(v));
        const Bytes dense = fp32.weigh(at.piece.charged->entries());
        const GroupPtr inside = devices_of_machine();
        v = co_await self_.reduce_to_first(
            std::move(v), [dense](const Rank& rank) { return reduce_to_first(rank, dense); },
            mean_of<Vector>, inside, "reduce inside machines");
        if (has_hats()) v = co_await mix_hats(at, std::move(v));
        co_return co_await self_.combine(
            std::move(v), [dense](const Rank& rank) { return broadcast_from_first(rank, dense); },
            [](const Round<Vector>& round) { return round.of(0); }, inside,
            "broadcast inside machines");
    }
    /// Forms q and the hat of a piece x, on the device.
    Task<> encode(CopiesOfPiece& at, Vector x) {
        if (!has_hats()) co_return;
        const Compressor& compressor = difference_compressor(options_);
        RandomStream& random = compressor.draws_alike ? *common_ : own_;
        co_await self_.compute(at.coding, [&at, &compressor, &random, x = std::move(x)] {
            at.q = x - at.hat;
            compress(compressor, at.q, random);
            at.hat += at.q;
        });
    }
    Task<> encode_and_send(CopiesOfPiece& at, Vector x) {
        co_await encode(at, std::move(x));
        send(at);
    }

  private:
    [[nodiscard]] int devices() const { return options_.exchange.aggregation.devices; }
    [[nodiscard]] GroupPtr devices_of_machine() const {
        const int first = self_.rank() / devices() * devices();
        std::vector<int> inside;
        for (int d = 0; d < devices(); ++d) inside.push_back(first + d);
        return self_.group(std::move(inside));
    }
    Task<Vector> mix_hats(CopiesOfPiece& at, Vector v) const {
        if (at.news) {
            at.around += co_await *std::move(at.news);
            at.news.reset();
        }
        co_return std::move(v) + options_.consensus_step*(at.around - at.hat);
    }

    Worker& self_;
    const ChocoSgdOptions& options_;
    std::vector<CopiesOfPiece> pieces_;
    RandomStream own_;
    std::optional<RandomStream> common_;  // of the step
};

// A step whose messages, those of the step before, travel during the gradient.
Task<> step_behind_messages(Worker& self, HatExchange& exchange) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    if (self.step() > 0)
        for (CopiesOfPiece& at : exchange.pieces()) exchange.send(at);
    const Vector g = co_await self.gradient(x);
    const Vector descended = x - gamma * g;
    Vector next = x;
    for (CopiesOfPiece& at : exchange.pieces()) {
        Vector part = co_await exchange.mix(at, part_of(descended, at.piece));
        put_part(part, at.piece, next);
    }
    x = std::move(next);
    for (CopiesOfPiece& at : exchange.pieces()) co_await exchange.encode(at, part_of(x, at.piece));
}

// A step that sends each piece of x as soon as it is formed and coded.
Task<> step_beside_backward(Worker& self, HatExchange& exchange) {
    Vector& x = self.model();
    const double gamma = self.learning_rate();
    Backward backward = self.backward(x);
    Vector next = x;
    std::vector<Pending<>> codings;
    for (CopiesOfPiece& at : exchange.pieces()) {
        co_await backward.completed(at.piece.bucket);
        Vector part = part_of(x, at.piece) - gamma * part_of(backward.gradient(), at.piece);
        part = co_await exchange.mix(at, std::move(part));
        put_part(part, at.piece, next);
        codings.push_back(self.start(exchange.encode_and_send(at, std::move(part))));
    }
    x = std::move(next);
    for (Pending<>& coding : codings) co_await std::move(coding);
}

}  // namespace

Duration choco_coding_time(const ChocoSgdOptions& options, const Layout& layout,
                           std::int64_t neighbors) {
    const Compressor& compressor = difference_compressor(options);
    const CodingCost& cost = options.exchange.codec.coding;
    return sum(encoding_time(compressor, cost, layout, hat_passes),
               decoding_time(compressor, cost, layout, neighbors));
}

Task<> choco_sgd(Worker& self, ChocoSgdOptions options) {
    HatExchange exchange(self, options);
    const bool waits = waits_for_backward(options.exchange.schedule.begin);
    while (self.begins_step()) {
        exchange.begin_step();
        co_await (waits ? step_behind_messages(self, exchange)
                        : step_beside_backward(self, exchange));
        co_await self.update();
    }
    for (CopiesOfPiece& at : exchange.pieces())
        if (at.news) co_await *std::move(at.news);
}

}  // namespace paceline
