#include "algorithms/exchange/exchange.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "algorithms/coders/make_coder.hpp"
#include "algorithms/exchange/by_machine.hpp"
#include "algorithms/exchange/island_coder.hpp"
#include "algorithms/exchange/piece_queue.hpp"
#include "algorithms/lives/exchange_to_come.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/signal.hpp"

namespace paceline {

namespace {

std::string tag_of(const std::string& name, const Piece& piece) {
    const std::string of = name.empty() ? std::string() : ", of " + name;
    return piece.number == 0 ? of : of + ", piece " + std::to_string(piece.number);
}

int stream_of(const ExchangeSchedule& schedule, const Piece& piece) {
    return static_cast<int>(piece.number) % schedule.streams;
}

// Returns null on a device of an island that sends nothing to other islands.
GroupPtr everybody_on(Worker& self, int stream) {
    if (stream == 0 || self.everybody() == nullptr) return self.everybody();
    std::vector<int> all(static_cast<std::size_t>(self.workers()));
    std::iota(all.begin(), all.end(), 0);
    return self.group(std::move(all), stream);
}

CoderPtr coder_of(Worker& self, const ExchangeOptions& options, const Piece& piece,
                  const std::string& name, const MakeCoder& make) {
    const int stream = stream_of(options.schedule, piece);
    CoderPlace place{piece.layout, piece.charged, everybody_on(self, stream), tag_of(name, piece)};
    if (options.aggregation.machines != ByMachine::flat)
        return make_coder_by_machine(self, options.codec, options.aggregation, place, stream);
    if (self.island() != nullptr)
        return make_island_coder(self, options.codec, options.aggregation, place, stream);
    if (make) return make(std::move(place));
    return make_coder(self, options.codec, options.aggregation, std::move(place));
}

}  // namespace

bool averages_at_once(const ExchangeOptions& options) {
    const auto* const compressor = std::get_if<Compressor>(&options.codec.coder);
    return compressor != nullptr && compressor->lossless && !options.codec.error_feedback &&
           options.schedule.whole && !options.schedule.partition &&
           options.schedule.begin == Begin::after_backward &&
           options.aggregation.kind == Aggregation::all_reduce &&
           options.aggregation.machines == ByMachine::flat;
}

// One vector's way through the exchange.
struct VectorExchange::Pass {
    std::int64_t step;
    Vector sum;                   // of what has been decoded
    std::size_t updated = 0;      // into forward: pieces that the optimizer has taken in
    std::vector<Signal> decoded;  // by piece
    std::vector<std::unique_ptr<PieceQueue>> queues{};      // by stream
    std::vector<std::pair<std::size_t, Vector>> arrived{};  // in phases: pieces to decode
    std::vector<Pending<>> decodings{};
    std::vector<Pending<>> streams{};
};

VectorExchange::VectorExchange(Worker& self, SharedValue<ExchangeOptions> options,
                               Preparation prepare, const std::string& name, const MakeCoder& make)
    : self_(self), options_(std::move(options)) {
    const bool is_plain = !make && !prepare.make && prepare.passes == 0 && name.empty();
    if (is_plain && averages_at_once()) return;
    parts().prepare = std::move(prepare);
    parts().name = name;
    if (make || !averages_at_once()) make_coders(make);
}

VectorExchange::VectorExchange(Worker& self, SharedValue<ExchangeOptions> options,
                               std::vector<Piece> pieces, const std::string& name)
    : self_(self),
      options_(std::move(options)),
      parts_(std::make_unique<Parts>(Parts{.name = name, .pieces = std::move(pieces)})) {
    make_coders({});
}

VectorExchange::Parts& VectorExchange::parts() {
    if (parts_ == nullptr)
        parts_ = std::make_unique<Parts>(
            Parts{.pieces = pieces_of(self_, options_->schedule, options_->codec.leave_out)});
    return *parts_;
}

void VectorExchange::make_coders(const MakeCoder& make) {
    parts_->coders.reserve(parts_->pieces.size());
    for (const Piece& piece : parts_->pieces)
        parts_->coders.push_back(coder_of(self_, *options_, piece, parts_->name, make));
}

VectorExchange::~VectorExchange() = default;

bool VectorExchange::averages_at_once() const {
    const bool prepares = parts_ != nullptr && parts_->prepare.make;
    return !prepares && paceline::averages_at_once(*options_);
}

Task<> VectorExchange::encode(std::size_t i, Vector part) {
    const Piece& piece = parts_->pieces[i];
    std::function<Vector()> make = [this, &piece, part = std::move(part)]() mutable {
        return parts_->prepare.make ? parts_->prepare.make(piece, std::move(part))
                                    : std::move(part);
    };
    return parts_->coders[i]->encode({std::move(make), parts_->prepare.passes, self_.step()});
}

std::unique_ptr<VectorExchange::Pass> VectorExchange::begin_pass(const Vector& like) {
    auto pass = std::make_unique<Pass>(
        Pass{self_.step(), Vector::zero_like(like), 0, std::vector<Signal>(parts_->pieces.size())});
    for (int s = 0; s < options_->schedule.streams; ++s)
        pass->queues.push_back(std::make_unique<PieceQueue>(self_, options_->schedule.order, s));
    for (int s = 0; s < options_->schedule.streams; ++s)
        pass->streams.push_back(self_.start(carry(*pass, s)));
    return pass;
}

// A communication stream: carries its pieces, one at a time.
Task<> VectorExchange::carry(Pass& pass, int stream) {
    const auto mine = std::ranges::count_if(parts_->pieces, [&](const Piece& piece) {
        return stream_of(options_->schedule, piece) == stream;
    });
    for (std::int64_t k = 0; k < mine; ++k) {
        PieceQueue& queue = *pass.queues[static_cast<std::size_t>(stream)];
        const std::size_t i = queue.is_in_order() ? co_await queue.next() : co_await queue.take();
        Vector mean = co_await parts_->coders[i]->travel();
        if (options_->schedule.begin != Begin::in_phases) {
            begin_decoding(pass, i, std::move(mean));
            continue;
        }
        pass.arrived.emplace_back(i, std::move(mean));
        if (pass.arrived.size() < parts_->pieces.size()) continue;
        for (auto& [piece, its_mean] : pass.arrived)
            begin_decoding(pass, piece, std::move(its_mean));
    }
}

void VectorExchange::begin_decoding(Pass& pass, std::size_t i, Vector mean) {
    Pending<> decoding = self_.start(decode(pass, i, std::move(mean)));
    if (!decoding.finished()) pass.decodings.push_back(std::move(decoding));
}

Task<> VectorExchange::decode(Pass& pass, std::size_t i, Vector mean) {
    co_await parts_->coders[i]->decode();
    put_part(mean, parts_->pieces[i], pass.sum);
    pass.decoded[i].fire();
}

Task<> VectorExchange::all_decoded(Pass& pass) {
    for (Signal& decoded : pass.decoded) co_await decoded.happened({"a piece of a gradient"});
}

Task<Vector> VectorExchange::aggregate(Vector v) {
    if (parts().coders.empty()) make_coders({});
    return parts_->pieces.size() == 1 ? aggregate_whole(std::move(v))
                                      : aggregate_pieces(std::move(v));
}

Task<Vector> VectorExchange::aggregate_whole(Vector v) {
    ExchangeToCome to_come = self_.exchange_to_come();
    co_await encode(0, part_of(v, parts_->pieces[0]));
    if (parts_->coders[0]->has_one_round()) to_come.begins_its_last_round();
    Vector mean = co_await parts_->coders[0]->travel();
    co_await parts_->coders[0]->decode();
    co_return mean;
}

Task<Vector> VectorExchange::aggregate_pieces(Vector v) {
    ExchangeToCome to_come = self_.exchange_to_come();
    const std::unique_ptr<Pass> pass = begin_pass(v);
    const auto release = [&](std::size_t i) {
        pass->queues[static_cast<std::size_t>(stream_of(options_->schedule, parts_->pieces[i]))]
            ->put(i);
    };
    const bool in_phases = options_->schedule.begin == Begin::in_phases;
    for (std::size_t i = 0; i < parts_->pieces.size(); ++i) {
        co_await encode(i, part_of(v, parts_->pieces[i]));
        if (!in_phases) release(i);
    }
    for (std::size_t i = 0; in_phases && i < parts_->pieces.size(); ++i) release(i);
    co_await all_decoded(*pass);
    co_return pass->sum;
}

Task<Vector> VectorExchange::mean_gradient(const Vector& x) {
    if (averages_at_once()) return self_.mean_gradient(x, options_->aggregation.all_reduce);
    return waits_for_backward(options_->schedule.begin) ? mean_gradient_behind_backward(x)
                                                        : mean_gradient_beside_backward(x);
}

Task<Vector> VectorExchange::mean_gradient_behind_backward(const Vector& x) {
    Vector own = co_await self_.gradient(x);
    co_return co_await aggregate(std::move(own));
}

Task<Vector> VectorExchange::mean_gradient_beside_backward(const Vector& x) {
    Backward backward = self_.backward(x);
    const std::unique_ptr<Pass> pass = begin_pass(x);
    co_await exchange_beside(*pass, backward);
    co_await all_decoded(*pass);
    co_return pass->sum;
}

// Encodes each piece as soon as backward has completed it.
Task<> VectorExchange::exchange_beside(Pass& pass, Backward& backward) {
    std::optional<std::size_t> bucket;
    for (std::size_t i = 0; i < parts_->pieces.size(); ++i) {
        if (bucket != parts_->pieces[i].bucket)
            co_await backward.completed(parts_->pieces[i].bucket);
        bucket = parts_->pieces[i].bucket;
        co_await encode(i, part_of(backward.gradient(), parts_->pieces[i]));
        pass.queues[static_cast<std::size_t>(stream_of(options_->schedule, parts_->pieces[i]))]
            ->put(i);
    }
}

// The optimizer takes in a piece of the step before.
Task<> VectorExchange::arrived(std::size_t bucket, Update update) {
    if (!parts_->last) co_return;
    for (std::size_t i = 0; i < parts_->pieces.size(); ++i) {
        const Piece& piece = parts_->pieces[i];
        if (piece.bucket != bucket) continue;
        co_await parts_->last->decoded[i].happened({"a piece of a gradient"});
        const std::int64_t begin = parts_->updated_entries;
        parts_->updated_entries += piece.charged->entries();
        co_await self_.update_part(begin, parts_->updated_entries,
                                   self_.charged_layout()->entries());
        ++parts_->last->updated;
    }
    if (parts_->last->updated < parts_->pieces.size()) co_return;
    update(parts_->last->step, parts_->last->sum);
    parts_->updated_entries = 0;
    parts_->last.reset();
}

Task<> VectorExchange::step_into_forward(const Vector& x, Update update) {
    Backward backward =
        self_.forward_and_backward(x, [&](std::size_t bucket) { return arrived(bucket, update); });
    std::unique_ptr<Pass> pass = begin_pass(x);
    co_await exchange_beside(*pass, backward);
    parts_->last = std::move(pass);
}

Task<> VectorExchange::arrive(Update update) {
    for (std::size_t b = self_.timing().buckets.size(); b-- > 0;) co_await arrived(b, update);
}

}  // namespace paceline
