#include "algorithms/adaptive/one_bit_sgd.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/compression/column_quantizer.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/all_gather.hpp"

namespace paceline {

namespace {

struct Coding {
    Duration encode;
    Duration own;  // the work of an owner
    Duration decode;
};

Coding coding_of(const CodingCost& cost, std::int64_t entries, int workers) {
    const std::int64_t stripe = (entries + workers - 1) / workers;
    return {coding_time(cost, 2, entries), coding_time(cost, 1, entries + 2 * stripe),
            coding_time(cost, 1, entries)};
}

Task<> exchange_stripes(Worker& self, AllToAll how, Coding coding) {
    std::vector<Bytes> stripes;
    for (int owner = 0; owner < self.workers(); ++owner)
        stripes.push_back(stripe_bytes(*self.charged_layout(), owner, self.workers()));
    co_await self.compute(coding.encode);
    const BlockWeight weight = [own = std::make_shared<const std::vector<Bytes>>(stripes)](
                                   int place) { return (*own)[static_cast<std::size_t>(place)]; };
    co_await self.exchange([&](const Rank& rank) { return all_to_all(how, rank, weight); },
                           "stripes to their owners");
    co_await self.compute(coding.own);
    co_await self.exchange(
        [&](const Rank& rank) { return all_gather(AllGather::ring, rank, weight); },
        name_of(AllGather::ring));
    co_await self.compute(coding.decode);
}

// Called once per exchange, when all workers have entered.
Vector requantized_mean(const Round<Vector>& round, Vector& residual) {
    const Vector mean = mean_of(round);
    const LayoutPtr& layout = mean.layout();
    return {layout, quantize_columns(*layout, mean.values(), residual.writable())};
}

}  // namespace

Bytes stripe_bytes(const Layout& layout, int owner, int workers) {
    Bytes bytes;
    for (const Tensor& tensor : layout.tensors()) {
        const std::int64_t columns = columns_of(tensor);
        const std::int64_t owned = (owner + 1) * columns / workers - owner * columns / workers;
        bytes += owned * column_bytes(rows_of(tensor));
    }
    return bytes;
}

std::int64_t one_bit_sgd_passes(const Layout& layout, int workers) {
    const std::int64_t entries = layout.entries();
    return 4 * entries + 2 * ((entries + workers - 1) / workers);
}

Task<> one_bit_sgd(Worker& self, OneBitSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& owners_residual = self.replicated("residuals of owners");
    Vector residual = Vector::zero_like(x);
    const AllToAll how = options.all_to_all;
    const Coding coding =
        coding_of(options.coding, self.charged_layout()->entries(), self.workers());

    while (self.begins_step()) {
        Vector said(x.layout());
        co_await self.gradient(x, [&](const Vector& g) {
            if (!g.has_values()) return;
            said = {g.layout(), quantize_columns(*g.layout(), g.values(), residual.writable())};
        });
        const Vector mean = co_await self.combine_around(
            std::move(said), [&](const Rank&) { return exchange_stripes(self, how, coding); },
            [&](const Round<Vector>& round) { return requantized_mean(round, owners_residual); },
            self.everybody());
        self.once(self.step(),
                  [&] { momentum_step(options.rule, self.learning_rate(), mean, m, x); });
        co_await self.update();
    }
}

}  // namespace paceline
