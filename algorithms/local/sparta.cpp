#include "algorithms/local/sparta.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/piece.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

LayoutPtr selection_of(const Layout& layout, double share) {
    return std::make_shared<const Layout>(
        std::vector<Tensor>{{"selection", {sparsified_entries(layout.entries(), share)}}});
}

// The selected entries as a vector of their own.
Vector selected(const Vector& x, const std::vector<bool>& drawn, const LayoutPtr& layout) {
    if (!x.has_values()) return Vector(layout);
    Eigen::VectorXd values(layout->entries());
    Eigen::Index next = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i)
        if (drawn[i]) values(next++) = x.values()(static_cast<Eigen::Index>(i));
    return {layout, std::move(values)};
}

void put(const Vector& part, const std::vector<bool>& drawn, Vector& x) {
    if (!x.has_values()) return;
    Eigen::VectorXd& values = x.writable();
    Eigen::Index next = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i)
        if (drawn[i]) values(static_cast<Eigen::Index>(i)) = part.values()(next++);
}

// Which entries all workers average in this step; none without values.
std::vector<bool> drawn_for(const Worker& self, const Vector& x, const Layout& selection) {
    if (!x.has_values()) return {};
    RandomStream random = self.common_stream("shares of models", self.step());
    return drawn_positions(static_cast<std::size_t>(x.entries()),
                           static_cast<std::size_t>(selection.entries()), random);
}

}  // namespace

Task<> sparta(Worker& self, SpartaOptions options) {
    Vector& x = self.model();
    InnerState inner(x, options.inner);
    const LayoutPtr selection = selection_of(*x.layout(), options.share);
    const LayoutPtr charged =
        self.stands_in() ? selection_of(*self.charged_layout(), options.share) : selection;
    VectorExchange exchange(self, options.exchange, {Piece{0, 0, 0, selection, charged}}, "");

    while (self.begins_step()) {
        co_await inner_step(self, options.inner, inner);
        const std::vector<bool> drawn = drawn_for(self, x, *selection);
        const Vector mean = co_await exchange.aggregate(selected(x, drawn, selection));
        put(mean, drawn, x);
    }
}

}  // namespace paceline
