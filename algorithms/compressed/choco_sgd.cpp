#include "algorithms/compressed/choco_sgd.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

constexpr std::int64_t hat_passes = 2;

std::int64_t neighbors_of(const Worker& self) {
    const MixingPtr mixing = self.mixing();
    return std::ranges::count_if(mixing->row(self.rank()),
                                 [&](const MixingWeight& w) { return w.node != self.rank(); });
}

// Returns sum over j of w_ij q_j of the step before. The first step has none.
Task<Vector> mixed_news(Worker& self, Vector q, Bytes size) {
    if (self.step() == 0) co_return q;
    co_return co_await self.neighbor_average(std::move(q), size);
}

}  // namespace

Duration choco_coding_time(const ChocoSgdOptions& options, const Layout& layout,
                           std::int64_t neighbors) {
    return sum(encoding_time(options.compressor, options.coding, layout, hat_passes),
               decoding_time(options.compressor, options.coding, layout, neighbors));
}

Task<> choco_sgd(Worker& self, ChocoSgdOptions options) {
    Vector& x = self.model();
    Vector hat = x;
    Vector around = x;
    Vector q = Vector::zero_like(x);
    const Layout& charged = *self.charged_layout();
    const Bytes size = message_bytes(options.compressor, charged);
    const Duration coding = choco_coding_time(options, charged, neighbors_of(self));
    RandomStream own = self.stream("compression");

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        RandomStream common = self.common_stream("common compression", self.step());
        RandomStream& random = options.compressor.draws_alike ? common : own;

        Pending<Vector> averaging = self.start(mixed_news(self, q, size));
        const Vector g = co_await self.gradient(x);
        const Vector news = co_await std::move(averaging);
        around += news;
        x = x - gamma * g + options.consensus_step * (around - hat);
        co_await self.compute(coding, [&] {
            q = x - hat;
            compress(options.compressor, q, random);
            hat += q;
        });
        co_await self.update();
    }
}

}  // namespace paceline
