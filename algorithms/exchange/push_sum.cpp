#include "algorithms/exchange/push_sum.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// Returns x with w appended.
Vector packed(const PushSum& mine) {
    const auto layout =
        std::make_shared<const Layout>(std::vector<Tensor>{{"x", {mine.x.entries()}}, {"w", {1}}});
    if (!mine.x.has_values()) return Vector(layout);
    Eigen::VectorXd values(mine.x.entries() + 1);
    values << mine.x.values(), mine.w;
    return {layout, std::move(values)};
}

PushSum unpacked(const Vector& sum, const Vector& like) {
    if (!like.has_values()) return {like};
    const Eigen::Index entries = like.entries();
    return {{like.layout(), sum.values().head(entries)}, sum.values()[entries]};
}

}  // namespace

Task<PushSum> push_sum(Worker& self, PushSum mine) {
    const Bytes size = self.weigh(mine.x) + self.wire().weigh(1);
    const auto listeners = static_cast<double>(self.listeners().size());
    const Vector share = packed(mine) / (listeners + 1);
    co_return unpacked(co_await self.neighbor_sum(share, size), mine.x);
}

}  // namespace paceline
