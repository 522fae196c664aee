#include "algorithms/exchange/one_bit_coder.hpp"

#include <utility>

#include "algorithms/compression/one_bit.hpp"
#include "algorithms/exchange/one_bit_all_reduce.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

OneBitPlanPtr plan_of(const Worker& self, const Codec& codec, const CoderPlace& place) {
    const bool fused = std::get<OneBitCodec>(codec.coder).fused;
    const auto cut = [&](const LayoutPtr& layout) {
        return fused ? fused_buffer(layout, self.workers())
                     : buffer_per_tensor(layout, self.workers());
    };
    return std::make_shared<const OneBitPlan>(OneBitPlan{
        cut(place.layout), cut(place.charged), codec.coding, "errors of owners" + place.tag});
}

class OneBitCoder final : public Coder {
  public:
    OneBitCoder(Worker& self, const Codec& codec, const CoderPlace& place)
        : self_(self),
          encoder_(plan_of(self, codec, place), !self.timing_only()),
          group_(place.group),
          encoded_(place.layout) {}

    Task<> encode(CoderInput input) override {
        const Duration before = coding_time(encoder_.plan()->coding, input.passes,
                                            encoder_.plan()->charged.layout->entries());
        co_await self_.compute(before, [&] { encoded_ = encoder_.encode(input.make()); });
    }
    Task<Vector> travel() override {
        co_return co_await one_bit_all_reduce(self_, encoder_.plan(), std::move(encoded_), group_);
    }
    Task<> decode() override { co_return; }
    [[nodiscard]] Bytes message_bytes() const override {
        return one_bit_bytes(encoder_.plan()->charged);
    }
    [[nodiscard]] Bytes received_bytes() const override { return message_bytes(); }
    [[nodiscard]] Duration decoding_time(std::int64_t messages) const override {
        const OneBitPlan& plan = *encoder_.plan();
        return coding_time(plan.coding, messages, plan.charged.padded->entries());
    }

  private:
    Worker& self_;
    OneBitEncoder encoder_;
    GroupPtr group_;
    Vector encoded_;
};

}  // namespace

CoderPtr make_one_bit_coder(Worker& self, const Codec& codec, CoderPlace place) {
    return std::make_unique<OneBitCoder>(self, codec, place);
}

}  // namespace paceline
