#include "algorithms/sparse/gtop_k.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "algorithms/compression/sparse/top_k.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

constexpr Bytes gtop_k_entry{8};

void keep_largest_of(Vector& v, std::int64_t k, TopKScratch& scratch) {
    Eigen::VectorXd& all = v.writable();
    keep_only_largest({all.data(), static_cast<std::size_t>(all.size())}, k, scratch);
}

}  // namespace

Bytes gtop_k_bytes(const GtopKOptions& options, std::int64_t entries) {
    return sparsified_entries(entries, options.density) * gtop_k_entry;
}

Vector global_top_k(const Round<Vector>& round, std::int64_t k) {
    std::vector<Vector> held;
    for (std::size_t i = 0; i < round.members(); ++i) held.push_back(round.of(i));
    if (!held.front().has_values()) return held.front();
    TopKScratch scratch;
    for (std::size_t half = 1; half < held.size(); half *= 2)
        for (std::size_t i = 0; i + half < held.size(); i += 2 * half) {
            held[i] += held[i + half];
            keep_largest_of(held[i], k, scratch);
        }
    return std::move(held.front());
}

Task<> gtop_k(Worker& self, GtopKOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector residual = Vector::zero_like(x);
    TopKScratch scratch;
    const std::int64_t k = x.has_values() ? sparsified_entries(x.entries(), options.density) : 0;
    const std::int64_t charged = self.charged_layout()->entries();
    const Bytes size = gtop_k_bytes(options, charged);
    const Duration selecting = selection_time(options.selection, charged, options.density);
    const CollectiveOfOwn messages = [size](const Rank& rank) {
        return all_reduce(AllReduce::tree, rank, size);
    };
    const Form merge = [k](const Round<Vector>& round) {
        return global_top_k(round, k) / static_cast<double>(round.members());
    };

    while (self.begins_step()) {
        Vector sent = co_await self.gradient(x);
        co_await self.compute(selecting, [&] {
            if (!sent.has_values()) return;
            residual += sent;
            sent = residual;
            keep_largest_of(sent, k, scratch);
        });
        const Vector own = sent;
        const Vector mean = co_await self.combine(std::move(sent), messages, merge,
                                                  self.everybody(), "global top-k");
        if (own.has_values()) {
            Eigen::VectorXd& waits = residual.writable();
            for (Eigen::Index i = 0; i < waits.size(); ++i)
                if (own.values()(i) != 0 && mean.values()(i) != 0) waits(i) = 0;
        }
        self.once(self.step(),
                  [&] { momentum_step(options.rule, self.learning_rate(), mean, m, x); });
        co_await self.update();
    }
}

}  // namespace paceline
