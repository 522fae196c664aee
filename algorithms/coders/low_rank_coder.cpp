#include "algorithms/coders/low_rank_coder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "algorithms/compression/low_rank.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/servers.hpp"

namespace paceline {

namespace {

constexpr std::int64_t passes_before = 2;
constexpr std::int64_t passes_between = 1;
constexpr std::int64_t passes_behind = 2;

LayoutPtr flat(const char* name, std::int64_t entries) {
    return std::make_shared<const Layout>(std::vector<Tensor>{{name, {entries}}});
}

// Nothing of a tensor that travels whole is missing. Without this each worker would keep its
// distance from their mean, which cancels only while all workers are there.
void clear_whole_tensors(Vector& e) {
    if (!e.has_values()) return;
    const std::vector<Tensor>& tensors = e.layout()->tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (!tensors[i].compressible())
            e.writable().segment(e.layout()->offset(i), tensors[i].entries()).setZero();
}

struct LowRankTimes {
    Duration pass{};     // over all entries
    Duration before{};   // of P
    Duration between{};  // of Q
    Duration behind{};   // of the product and the error
    Duration decoded{};  // a message for a leader
};

LowRankTimes low_rank_times(const CodingCost& cost, const Layout& charged) {
    const Layout encoded = *without_left_out(std::make_shared<const Layout>(charged));
    const Duration pass = coding_time(cost, 1, encoded.entries());
    if (!cost.measured)
        return {pass, multiple(passes_before, pass), multiple(passes_between, pass),
                multiple(passes_behind, pass), pass};
    const auto tensors = static_cast<std::int64_t>(encoded.tensors().size());
    const Duration decode = cost.measured->decode.of(tensors, encoded.entries());
    return {{}, cost.measured->encode.of(tensors, encoded.entries()), {}, decode, decode};
}

class LowRankCoder final : public Coder {
  public:
    LowRankCoder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                 CoderPlace place)
        : self_(self),
          aggregation_(aggregation),
          place_(std::move(place)),
          shape_(*place_.layout, std::get<LowRankCodec>(codec.coder).rank),
          size_(low_rank_bytes(std::get<LowRankCodec>(codec.coder), *place_.charged)),
          times_(low_rank_times(codec.coding, *place_.charged)),
          left_(flat("P", shape_.left_entries())),
          right_(flat("Q", shape_.right_entries())),
          product_(place_.layout),
          m_(place_.layout),
          error_(place_.layout) {
        if (!self.timing_only())
            error_ = {place_.layout, Eigen::VectorXd::Zero(place_.layout->entries())};
    }

    Task<> encode(CoderInput input) override;
    Task<Vector> travel() override;
    Task<> decode() override;
    [[nodiscard]] Bytes message_bytes() const override { return size_.left + size_.right; }
    [[nodiscard]] Bytes received_bytes() const override { return message_bytes(); }
    [[nodiscard]] Duration decoding_time(std::int64_t messages) const override {
        return multiple(messages, times_.decoded);
    }

  private:
    // Q of the members; it exists once, and the second sum replaces it.
    [[nodiscard]] Vector& shared_right() {
        Vector first(right_.layout());
        if (!self_.timing_only()) {
            RandomStream random = self_.common_stream("power-sgd" + place_.tag, 0);
            first = {right_.layout(), shape_.drawn_right(random)};
        }
        return self_.replicated("Q" + place_.tag, first);
    }
    Task<Vector> sum_up(Vector v, Bytes size, Form form);

    Worker& self_;
    AggregationPlan aggregation_;
    CoderPlace place_;
    LowRank shape_;
    LowRankBytes size_;
    LowRankTimes times_;
    Vector left_;
    Vector right_;
    Vector product_;
    Vector m_;
    Vector error_;
};

Task<> LowRankCoder::encode(CoderInput input) {
    const Vector& q = shared_right();
    co_await self_.compute(sum(times_.before, multiple(input.passes, times_.pass)), [&] {
        m_ = input.make();
        m_ += error_;
        if (m_.has_values()) left_ = {left_.layout(), shape_.left(m_.values(), q.values())};
    });
}

Task<Vector> LowRankCoder::sum_up(Vector v, Bytes size, Form form) {
    if (aggregation_.kind == Aggregation::all_reduce) {
        const AllReducePlan how = aggregation_.all_reduce;
        co_return co_await self_.combine(
            std::move(v), [how, size](const Rank& rank) { return all_reduce(how, rank, size); },
            std::move(form), place_.group, name_of(how, size));
    }
    const CollectiveOfOwn messages = [this, size](const Rank& rank) {
        const int servers = std::min(aggregation_.servers, rank.size());
        const auto part = [=](int shard) { return chunk(size, servers, shard); };
        return server_exchange(rank, {servers, aggregation_.first_server_node}, part, part, {});
    };
    co_return co_await self_.combine(std::move(v), messages, std::move(form), place_.group,
                                     "exchange with servers");
}

Task<Vector> LowRankCoder::travel() {
    const Vector p = co_await sum_up(left_, size_.left, [this](const Round<Vector>& round) {
        Vector mean = mean_of(round);
        shape_.orthonormalize(mean.writable());
        return mean;
    });
    Vector& q = shared_right();
    co_await self_.compute(times_.between, [&] {
        if (m_.has_values())
            right_ = {right_.layout(), shape_.right(m_.values(), p.values(), q.values())};
    });
    // The second sum is formed when all have entered, so nobody needs the old Q any more.
    product_ = co_await sum_up(right_, size_.right, [&](const Round<Vector>& round) {
        q = mean_of(round);
        return Vector(place_.layout, shape_.product(p.values(), q.values()));
    });
    if (!product_.has_values()) product_ = Vector(place_.layout);
    co_return product_;
}

Task<> LowRankCoder::decode() {
    co_await self_.compute(times_.behind, [&] {
        error_ = std::move(m_) - product_;
        clear_whole_tensors(error_);
    });
}

}  // namespace

LowRankBytes low_rank_bytes(const LowRankCodec& codec, const Layout& charged) {
    const LowRank shape(charged, codec.rank);
    return {fp32.weigh(shape.left_entries()), fp32.weigh(shape.right_entries())};
}

CoderPtr make_low_rank_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                             CoderPlace place) {
    return std::make_unique<LowRankCoder>(self, codec, aggregation, std::move(place));
}

}  // namespace paceline
