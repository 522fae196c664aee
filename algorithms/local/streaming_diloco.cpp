#include "algorithms/local/streaming_diloco.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/piece.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// A fragment, and the way that its outer gradients take.
struct Fragment {
    Piece place;  // in the model
    std::unique_ptr<VectorExchange> exchange;
};

std::vector<Fragment> make_fragments(Worker& self, const StreamingDilocoOptions& options) {
    const auto count = static_cast<std::size_t>(options.fragments);
    std::vector<Fragment> fragments;
    for (Piece& place : fragments_of(self, count, options.diloco.exchange.codec.leave_out)) {
        Piece alone = place;
        alone.number = 0;
        alone.offset = 0;
        const std::string name =
            count == 1 ? std::string() : "fragment " + std::to_string(fragments.size());
        auto exchange = std::make_unique<VectorExchange>(
            self, options.diloco.exchange, std::vector<Piece>{std::move(alone)}, name);
        fragments.push_back({std::move(place), std::move(exchange)});
    }
    return fragments;
}

// An outer gradient on its way.
struct Flight {
    FragmentTurn turn;
    std::int64_t arrival;  // the step after which it is waited for
    Pending<Vector> gradient;
};

// Takes the k-th outer step of a fragment, on the state that all workers share.
void outer_step_of(const OuterRule& rule, std::int64_t k, const Piece& place,
                   const Vector& gradient, OuterState& outer) {
    Vector y = part_of(outer.y, place);
    Vector m = part_of(outer.m, place);
    Vector v = part_of(outer.v, place);
    outer_step(rule, k, gradient, y, m, v);
    put_part(y, place, outer.y);
    put_part(m, place, outer.m);
    put_part(v, place, outer.v);
}

}  // namespace

std::optional<FragmentTurn> turn_after(const StreamingDilocoOptions& options, std::int64_t k) {
    if (options.due == FragmentDue::taken_in) k += options.delay;
    const std::int64_t period = options.diloco.period;
    const std::int64_t parts = options.fragments;
    const std::int64_t behind = k % period + 1;  // steps of the block behind us, 1 ... H
    const std::int64_t next = (behind * parts + period - 1) / period;  // least p+1 that is not over
    if (period * next / parts != behind) return std::nullopt;
    return FragmentTurn{static_cast<std::size_t>(next - 1), k / period * parts + next - 1};
}

Task<> streaming_diloco(Worker& self, StreamingDilocoOptions options) {
    Vector& x = self.model();
    OuterState outer(self, options.diloco.outer);
    InnerState inner(x, options.diloco.inner);
    const std::vector<Fragment> fragments = make_fragments(self, options);
    std::optional<Flight> flight;

    while (self.begins_step()) {
        co_await inner_step(self, options.diloco.inner, inner);
        const std::int64_t k = self.step();
        const auto turn = turn_after(options, k);
        if (turn && fragments[turn->fragment].place.charged->entries() == 0) {
            self.once(turn->number, [] {});  // nothing to send
        } else if (turn) {
            const Fragment& due = fragments[turn->fragment];
            Vector moved = part_of(outer.y, due.place) - part_of(x, due.place);
            flight.emplace(*turn, k + options.delay,
                           self.start(due.exchange->aggregate(std::move(moved))));
        }
        if (!flight || flight->arrival != k) continue;
        Flight arriving = *std::exchange(flight, std::nullopt);
        const Vector gradient = co_await std::move(arriving.gradient);
        const Piece& place = fragments[arriving.turn.fragment].place;
        self.once(arriving.turn.number, [&] {
            outer_step_of(options.diloco.outer, arriving.turn.number / options.fragments, place,
                          gradient, outer);
        });
        put_part(options.alpha * part_of(x, place) + (1 - options.alpha) * part_of(outer.y, place),
                 place, x);
        self.metrics().count_staleness(static_cast<double>(options.delay));
    }
}

}  // namespace paceline
