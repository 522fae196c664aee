#include "algorithms/local/sparta.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_set>
#include <utility>

#include <boost/random/uniform_int_distribution.hpp>

#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/piece.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

LayoutPtr selection_of(const Layout& layout, double share) {
    return std::make_shared<const Layout>(
        std::vector<Tensor>{{"selection", {sparsified_entries(layout.entries(), share)}}});
}

// The selected entries as a vector of their own.
Vector selected(const Vector& x, const std::vector<std::int64_t>& positions,
                const LayoutPtr& layout) {
    if (!x.has_values()) return Vector(layout);
    Eigen::VectorXd values(layout->entries());
    for (std::size_t i = 0; i < positions.size(); ++i)
        values(static_cast<Eigen::Index>(i)) = x.values()(positions[i]);
    return {layout, std::move(values)};
}

void put(const Vector& part, const std::vector<std::int64_t>& positions, Vector& x) {
    if (!x.has_values()) return;
    Eigen::VectorXd& values = x.writable();
    for (std::size_t i = 0; i < positions.size(); ++i)
        values(positions[i]) = part.values()(static_cast<Eigen::Index>(i));
}

}  // namespace

// Floyd, CACM 30, 1987.
std::vector<std::int64_t> draw_positions(std::int64_t n, std::int64_t k, RandomStream& random) {
    std::unordered_set<std::int64_t> drawn;  // only asked whether it holds a number
    std::vector<std::int64_t> positions;
    positions.reserve(static_cast<std::size_t>(k));
    for (std::int64_t last = n - k; last < n; ++last) {
        std::int64_t i = boost::random::uniform_int_distribution<std::int64_t>(0, last)(random);
        if (drawn.contains(i)) i = last;
        drawn.insert(i);
        positions.push_back(i);
    }
    std::ranges::sort(positions);
    return positions;
}

Task<> sparta(Worker& self, SpartaOptions options) {
    Vector& x = self.model();
    Vector m = Vector::zero_like(x);
    Vector v = Vector::zero_like(x);
    std::int64_t steps = 0;  // of this worker, for Adam's correction
    const LayoutPtr selection = selection_of(*x.layout(), options.share);
    const LayoutPtr charged =
        self.stands_in() ? selection_of(*self.charged_layout(), options.share) : selection;
    VectorExchange exchange(self, options.exchange, {Piece{0, 0, 0, selection, charged}}, "");

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        ++steps;
        co_await self.gradient(
            x, [&](const Vector& g) { adam_step(options.rule, gamma, steps, g, m, v, x); });
        co_await self.update();
        std::vector<std::int64_t> positions;
        if (x.has_values()) {
            RandomStream random = self.common_stream("shares of models", self.step());
            positions = draw_positions(x.entries(), selection->entries(), random);
        }
        const Vector mean = co_await exchange.aggregate(selected(x, positions, selection));
        put(mean, positions, x);
    }
}

}  // namespace paceline
