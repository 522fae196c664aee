#include "algorithms/exchange/neighbor_averages.hpp"

#include <cstddef>
#include <utility>
#include <variant>

#include "algorithms/compression/compressor.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/inside_machine.hpp"

namespace paceline {

namespace {

const Compressor& compressor_of(const ExchangeOptions& options) {
    return std::get<Compressor>(options.codec.coder);
}

}  // namespace

NeighborAverages::NeighborAverages(Worker& self, ExchangeOptions options)
    : self_(self),
      options_(std::move(options)),
      pieces_(pieces_of(self, options_.schedule, options_.codec.leave_out)) {}

Vector NeighborAverages::encoded(Vector v) const {
    RandomStream unused = self_.stream("compression");
    compress(compressor_of(options_), v, unused);
    return v;
}

Bytes NeighborAverages::weigh(const Layout& charged) const {
    const Compressor& compressor = compressor_of(options_);
    return compressor.lossless ? self_.wire().weigh(charged.entries())
                               : message_bytes(compressor, charged);
}

// Takes the time of encoding one message and of decoding as many.
Task<> NeighborAverages::code(const Layout& charged, std::int64_t messages) {
    const Compressor& compressor = compressor_of(options_);
    if (compressor.lossless) co_return;
    const CodingCost& cost = options_.codec.coding;
    co_await self_.compute(sum(encoding_time(compressor, cost, charged),
                               decoding_time(compressor, cost, charged, messages)));
}

// By machine only the leaders code, when they have the mean of their machine.
Task<> NeighborAverages::code_own(const Piece& piece) {
    if (options_.aggregation.machines == ByMachine::flat) co_await code(*piece.charged, 1);
}

Task<Vector> NeighborAverages::by_leaders(const Piece& piece, Vector part) {
    const Resource::Lease turn = co_await turns_.acquire();
    const int devices = options_.aggregation.devices;
    const int first = self_.rank() / devices * devices;
    std::vector<int> inside;
    for (int d = 0; d < devices; ++d) inside.push_back(first + d);
    const GroupPtr group = self_.group(std::move(inside));
    const Bytes dense = fp32.weigh(piece.charged->entries());
    Vector mean = co_await self_.reduce_to_first(
        std::move(part), [dense](const Rank& rank) { return reduce_to_first(rank, dense); },
        mean_of<Vector>, group, "reduce inside machines");
    if (self_.rank() == first) {
        co_await code(*piece.charged, 1);
        mean = co_await self_.machine_average(encoded(std::move(mean)), weigh(*piece.charged),
                                              devices);
    }
    co_return co_await self_.combine(
        std::move(mean), [dense](const Rank& rank) { return broadcast_from_first(rank, dense); },
        [](const Round<Vector>& round) { return round.of(0); }, group, "broadcast inside machines");
}

// Takes its place among the rounds now, and does the rest when it is awaited.
Task<Vector> NeighborAverages::begin(const Piece& piece, Vector part) {
    if (options_.aggregation.machines != ByMachine::flat) return by_leaders(piece, std::move(part));
    return self_.neighbor_average(encoded(std::move(part)), weigh(*piece.charged));
}

Task<Vector> NeighborAverages::joined(std::vector<Task<Vector>> parts, Vector sum) {
    for (const Piece& piece : pieces_) co_await code_own(piece);
    std::vector<Pending<Vector>> under_way;
    under_way.reserve(parts.size());
    for (Task<Vector>& part : parts) under_way.push_back(self_.start(std::move(part)));
    for (std::size_t i = 0; i < under_way.size(); ++i) {
        const Vector part = co_await std::move(under_way[i]);
        if (pieces_.size() == 1) co_return part;
        put_part(part, pieces_[i], sum);
    }
    co_return sum;
}

Task<Vector> NeighborAverages::average(Vector v) {
    const bool flat = options_.aggregation.machines == ByMachine::flat;
    if (pieces_.size() == 1 && flat && compressor_of(options_).lossless)
        return self_.neighbor_average(std::move(v));
    std::vector<Task<Vector>> parts;
    for (const Piece& piece : pieces_) parts.push_back(begin(piece, part_of(v, piece)));
    return joined(std::move(parts), Vector::zero_like(v));
}

Task<Vector> NeighborAverages::average_behind_gradient(const Vector& x, Make make) {
    if (waits_for_backward(options_.schedule.begin)) {
        const Vector g = co_await self_.gradient(x);
        Vector v = Vector::zero_like(x);
        if (pieces_.size() == 1) v = make(pieces_[0], part_of(g, pieces_[0]));
        if (pieces_.size() > 1)
            for (const Piece& piece : pieces_) put_part(make(piece, part_of(g, piece)), piece, v);
        co_return co_await average(std::move(v));
    }
    Backward backward = self_.backward(x);
    std::vector<Pending<Vector>> under_way;
    Vector sum = Vector::zero_like(x);
    for (const Piece& piece : pieces_) {
        co_await backward.completed(piece.bucket);
        Vector part = make(piece, part_of(backward.gradient(), piece));
        co_await code_own(piece);
        under_way.push_back(self_.start(begin(piece, std::move(part))));
    }
    for (std::size_t i = 0; i < under_way.size(); ++i)
        put_part(co_await std::move(under_way[i]), pieces_[i], sum);
    co_return sum;
}

}  // namespace paceline
