#include "algorithms/dense/zero.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/all_reduce.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/collectives/schedule.hpp"
#include "sim/engine/signal.hpp"

namespace paceline {

namespace {

constexpr std::int64_t bytes_of_moments = 8;
constexpr std::int64_t bytes_of_copy = 4;

// Who has the shards, and who has the same shard.
struct Shards {
    GroupPtr among;
    GroupPtr copies;  // null: nobody else has mine
    int count;
    int mine;
};

Shards shards_of(Worker& self, const ZeroOptions& options) {
    if (options.machine == 0) return {self.everybody(), nullptr, self.workers(), self.rank()};
    const int g = options.machine;
    const int first = self.rank() / g * g;
    std::vector<int> inside;
    for (int d = 0; d < g; ++d) inside.push_back(first + d);
    std::vector<int> between;
    for (int r = self.rank() % g; r < self.workers(); r += g) between.push_back(r);
    GroupPtr copies = between.size() > 1 ? self.group(std::move(between), 1) : nullptr;
    return {self.group(std::move(inside), 1), std::move(copies), g, self.rank() % g};
}

// The messages of units, and the signals between them and the computations of a step of stage 3.
class Units {
  public:
    Units(Worker& self, const ZeroOptions& options)
        : self_(self),
          prefetch_(static_cast<std::size_t>(options.prefetch)),
          shards_(shards_of(self, options)) {
        for (const Bucket& bucket : self.timing().buckets)
            sizes_.push_back(self.wire().weigh(entries_of(bucket, *self.charged_layout())));
    }

    [[nodiscard]] int shards() const { return shards_.count; }
    [[nodiscard]] std::size_t units() const { return sizes_.size(); }

    Task<> gather(std::size_t unit) {
        const Bytes size = sizes_[unit];
        return self_.exchange(
            [size](const Rank& rank) { return ring_all_gather_chunks(rank, size); },
            "all-gather of parameters", shards_.among);
    }
    Task<> reduce(std::size_t unit) {
        const Bytes size = sizes_[unit];
        co_await self_.exchange(
            [size](const Rank& rank) { return ring_reduce_scatter(rank, size); },
            "reduce-scatter of gradients", shards_.among);
        if (!shards_.copies) co_return;
        const Bytes own = chunk(size, shards_.count, shards_.mine);
        co_await self_.exchange(
            [own](const Rank& rank) { return all_reduce(AllReduce::ring, rank, own); },
            "all-reduce of shards", shards_.copies);
    }
    Task<> gather_all() {
        for (std::size_t unit = units(); unit-- > 0;) co_await gather(unit);
    }
    // Reduces each unit when it is complete; returns the mean gradient.
    Task<Vector> reduce_beside(Backward& backward) {
        for (std::size_t unit = 0; unit + 1 < units(); ++unit) {
            co_await backward.completed(unit);
            co_await reduce(unit);
        }
        co_return co_await reduce_last(backward);
    }
    Task<Vector> gather_and_reduce(const Vector& x);

  private:
    [[nodiscard]] std::size_t unit_of(std::size_t computation) const {
        return computation < units() ? units() - 1 - computation : computation - units();
    }
    Task<Vector> reduce_last(Backward& backward) {
        co_await backward.completed(units() - 1);
        co_return co_await self_.combine_around(
            backward.gradient(), [this](const Rank&) { return reduce(units() - 1); },
            mean_of<Vector>, self_.everybody());
    }
    Task<> reach(std::size_t computation) {
        wanted_[computation].fire();
        co_await gathered_[computation].happened({"the parameters of a unit"});
    }
    Task<Vector> stream(Backward& backward);

    Worker& self_;
    std::size_t prefetch_;
    Shards shards_;
    std::vector<Bytes> sizes_;  // of units
    // Of a step of stage 3, by computation:
    std::vector<Signal> wanted_;
    std::vector<Signal> gathered_;
};

Task<Vector> Units::stream(Backward& backward) {
    const std::size_t n = units();
    std::size_t reduced = 0;
    for (std::size_t j = 0; j < 2 * n; ++j) {
        for (; n + reduced + 1 + prefetch_ <= j; ++reduced) {
            co_await backward.completed(reduced);
            co_await reduce(reduced);
        }
        if (j >= prefetch_) co_await wanted_[j - prefetch_].happened({"a unit to be wanted"});
        co_await gather(unit_of(j));
        gathered_[j].fire();
    }
    for (; reduced + 1 < n; ++reduced) {
        co_await backward.completed(reduced);
        co_await reduce(reduced);
    }
    co_return co_await reduce_last(backward);
}

Task<Vector> Units::gather_and_reduce(const Vector& x) {
    const std::size_t n = units();
    wanted_ = std::vector<Signal>(2 * n);
    gathered_ = std::vector<Signal>(2 * n);
    Backward backward = self_.forward_and_backward(
        x, [this, n](std::size_t unit) { return reach(n - 1 - unit); },
        [this, n](std::size_t unit) { return reach(n + unit); });
    co_return co_await stream(backward);
}

}  // namespace

Bytes zero_memory(const ZeroOptions& options, std::int64_t parameters, std::int64_t largest_unit,
                  WireFormat wire, int workers) {
    const std::int64_t shards = shards_of(options, workers);
    const std::int64_t w = wire.weigh(1).count;
    const std::int64_t adam = bytes_of_moments + (w < 4 ? bytes_of_copy : 0);
    const auto shard = [=](std::int64_t bytes) {
        return (bytes * parameters + shards - 1) / shards;
    };
    if (options.stage == 1) return {2 * w * parameters + shard(adam)};
    if (options.stage == 2) return {w * parameters + shard(w + adam)};
    return {shard(2 * w + adam) + (options.prefetch + 1) * w * largest_unit};
}

Task<> zero(Worker& self, ZeroOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");
    Units units(self, options);

    while (self.keeps_training()) {
        Vector mean(x.layout());
        if (options.stage == 3) {
            mean = co_await units.gather_and_reduce(x);
        } else {
            Backward backward = self.backward(x);
            mean = co_await units.reduce_beside(backward);
        }
        const std::int64_t k = self.step();
        self.once(k, [&] { adam_step(options.rule, self.learning_rate(), k + 1, mean, m, v, x); });
        co_await self.update_part(0, 1, units.shards());
        if (options.stage < 3) co_await units.gather_all();
    }
}

}  // namespace paceline
