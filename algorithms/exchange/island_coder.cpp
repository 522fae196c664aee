#include "algorithms/exchange/island_coder.hpp"

#include <memory>
#include <string>
#include <utility>

#include "algorithms/coders/make_coder.hpp"
#include "algorithms/exchange/vector_chunk.hpp"
#include "algorithms/runtime/island.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

class IslandCoder final : public Coder {
  public:
    IslandCoder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                const CoderPlace& place, int channel)
        : self_(self),
          chunk_{self.island()->lanes, self.island()->place % self.island()->lanes},
          whole_(place.layout),
          bytes_(self.wire().weigh(place.charged->entries())),
          inside_(self.inside(channel)),
          own_(self.timing_only() ? Vector(whole_)
                                  : Vector(whole_, Eigen::VectorXd::Zero(whole_->entries()))) {
        if (place.group == nullptr) return;
        const std::string lane = chunk_.count == 1 ? "" : ", chunk " + std::to_string(chunk_.index);
        coder_ = make_coder(
            self, codec, aggregation,
            {chunk_.of(*whole_), chunk_.of(*place.charged), place.group, place.tag + lane});
    }

    Task<> encode(CoderInput input) override {
        if (coder_)
            co_await coder_->encode(
                {[this, make = std::move(input.make)] { return chunk_.cut(make()); }, input.passes,
                 input.number});
    }

    Task<Vector> travel() override {
        const Island& island = *self_.island();
        if (coder_) {
            const Vector mean = co_await coder_->travel();
            co_await coder_->decode();
            own_ = chunk_.placed(mean, whole_);
        }
        if (island.islands() == 1) co_return own_;
        co_return co_await self_.combine(own_, messages_inside(island, bytes_),
                                         island.lanes == 1 ? of_first<Vector> : joined_chunks,
                                         inside_, name_inside(island));
    }
    Task<> decode() override { co_return; }

    [[nodiscard]] Bytes message_bytes() const override { return bytes_; }
    [[nodiscard]] Bytes received_bytes() const override { return bytes_; }
    [[nodiscard]] Duration decoding_time(std::int64_t /*messages*/) const override { return {}; }

  private:
    Worker& self_;
    VectorChunk chunk_;
    LayoutPtr whole_;
    Bytes bytes_;  // of the whole vector, inside
    GroupPtr inside_;
    CoderPtr coder_;  // null: this device has no lane
    Vector own_;
};

}  // namespace

CoderPtr make_island_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                           const CoderPlace& place, int channel) {
    return std::make_unique<IslandCoder>(self, codec, aggregation, place, channel);
}

}  // namespace paceline
