#include "algorithms/coders/one_bit_coder.hpp"

#include <cstddef>
#include <utility>

#include "algorithms/coders/one_bit_all_reduce.hpp"
#include "algorithms/compression/one_bit.hpp"
#include "algorithms/runtime/worker.hpp"
#include "models/tensors/layout_parts.hpp"

namespace paceline {

namespace {

OneBitPlanPtr plan_of(const Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                      const CoderPlace& place) {
    const bool fused = std::get<OneBitCodec>(codec.coder).fused;
    const auto cut = [&](const LayoutPtr& layout) {
        const LayoutPtr encoded = self.layouts().without_left_out(layout);
        return fused && encoded->entries() > 0 ? fused_buffer(encoded, self.workers())
                                               : buffer_per_tensor(encoded, self.workers());
    };
    OneBitPlan plan{cut(place.layout), cut(place.charged), codec.coding,
                    "errors of owners" + place.tag};
    plan.plain_values = place.layout->entries() - plan.values.layout->entries();
    plan.plain_charged = fp32.weigh(place.charged->entries() - plan.charged.layout->entries());
    plan.plain = aggregation.all_reduce;
    plan.all_to_all = aggregation.all_to_all;
    return std::make_shared<const OneBitPlan>(std::move(plan));
}

// Calls use(where a tensor begins, where it begins if all tensors that are left out come last, its
// entries).
template <class Use>
void for_each_in_order(const Layout& layout, Use use) {
    std::int64_t begin = 0;
    for (const bool left_out : {false, true})
        for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
            const Tensor& tensor = layout.tensors()[j];
            if (tensor.left_out != left_out) continue;
            use(layout.offset(j), begin, tensor.entries());
            begin += tensor.entries();
        }
}

class OneBitCoder final : public Coder {
  public:
    OneBitCoder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                const CoderPlace& place)
        : self_(self),
          encoder_(plan_of(self, codec, aggregation, place), !self.timing_only()),
          group_(place.group),
          layout_(place.layout),
          encoded_(encoder_.plan()->values.padded) {}

    Task<> encode(CoderInput input) override {
        const Duration before = coding_time(encoder_.plan()->coding, input.passes,
                                            encoder_.plan()->charged.layout->entries());
        co_await self_.compute(before, [&] { encoded_ = encoder_.encode(ordered(input.make())); });
    }
    Task<Vector> travel() override {
        const Vector mean =
            co_await one_bit_all_reduce(self_, encoder_.plan(), std::move(encoded_), group_);
        co_return as_layout(mean);
    }
    Task<> decode() override { co_return; }
    [[nodiscard]] Bytes message_bytes() const override {
        return one_bit_bytes(encoder_.plan()->charged) + encoder_.plan()->plain_charged;
    }
    [[nodiscard]] Bytes received_bytes() const override { return message_bytes(); }
    [[nodiscard]] Duration decoding_time(std::int64_t messages) const override {
        const OneBitPlan& plan = *encoder_.plan();
        return coding_time(plan.coding, messages, plan.charged.padded->entries());
    }

  private:
    [[nodiscard]] bool encodes_all() const { return encoder_.plan()->values.layout == layout_; }
    // Puts the tensors that are left out last.
    [[nodiscard]] Vector ordered(const Vector& v) const {
        if (!v.has_values() || encodes_all()) return v;
        Eigen::VectorXd all(layout_->entries());
        for_each_in_order(*layout_,
                          [&](std::int64_t offset, std::int64_t begin, std::int64_t entries) {
                              all.segment(begin, entries) = v.values().segment(offset, entries);
                          });
        return {layout_, std::move(all)};
    }
    // Puts them back.
    [[nodiscard]] Vector as_layout(const Vector& mean) const {
        if (encodes_all()) return mean;
        if (!mean.has_values()) return Vector(layout_);
        Eigen::VectorXd all(layout_->entries());
        for_each_in_order(*layout_,
                          [&](std::int64_t offset, std::int64_t begin, std::int64_t entries) {
                              all.segment(offset, entries) = mean.values().segment(begin, entries);
                          });
        return {layout_, std::move(all)};
    }

    Worker& self_;
    OneBitEncoder encoder_;
    GroupPtr group_;
    LayoutPtr layout_;
    Vector encoded_;
};

}  // namespace

CoderPtr make_one_bit_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                            const CoderPlace& place) {
    return std::make_unique<OneBitCoder>(self, codec, aggregation, place);
}

}  // namespace paceline
