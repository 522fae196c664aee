#include "algorithms/dense/zero.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/plans/card_rings.hpp"
#include "sim/collectives/plans/nccl_collectives.hpp"
#include "sim/collectives/reduce_scatter.hpp"
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

}  // namespace

// The messages of units, and the signals between them and the computations of a step.
class ShardedGradients::Units {
  public:
    Units(Worker& self, const ZeroOptions& options)
        : self_(self),
          gathers_(options.stage == 3),
          prefetch_(static_cast<std::size_t>(options.prefetch)),
          micro_batches_(static_cast<std::size_t>(self.timing().gradients)),
          reduced_from_(options.reduce == ZeroReduce::each ? 0 : micro_batches_ - 1),
          cards_(options.cards),
          library_(options.library),
          shards_(shards_of(self, options)) {
        for (const Bucket& bucket : self.timing().buckets)
            sizes_.push_back(self.wire().weigh(entries_of(bucket, *self.charged_layout())));
    }

    [[nodiscard]] int shards() const { return shards_.count; }
    [[nodiscard]] bool keeps_shards() const { return gathers_; }
    [[nodiscard]] std::size_t units() const { return sizes_.size(); }

    Task<> gather(std::size_t unit) {
        const Bytes size = sizes_[unit];
        return self_.exchange(
            [size, cards = cards_, library = library_](const Rank& rank) {
                return library ? nccl_collective(rank, *library, Nccl::Operation::all_gather, size)
                               : on_rings_of_cards(rank, size, cards, &ring_all_gather_chunks);
            },
            "all-gather of parameters", shards_.among);
    }
    Task<> reduce(std::size_t unit) {
        const Bytes size = sizes_[unit];
        co_await self_.exchange(
            [size, cards = cards_, library = library_](const Rank& rank) {
                return library
                           ? nccl_collective(rank, *library, Nccl::Operation::reduce_scatter, size)
                           : on_rings_of_cards(rank, size, cards, &ring_reduce_scatter);
            },
            "reduce-scatter of gradients", shards_.among);
        if (!shards_.copies) co_return;
        const Bytes own = chunk(size, shards_.count, shards_.mine);
        co_await self_.exchange([own, plan = plan_of_copies()](
                                    const Rank& rank) { return all_reduce(plan, rank, own); },
                                "all-reduce of shards", shards_.copies);
    }
    [[nodiscard]] AllReducePlan plan_of_copies() const {
        AllReducePlan plan = AllReduce::ring;
        if (library_) {
            plan.method = AllReduce::nccl;
            plan.library = among_machines(*library_);
        }
        return plan;
    }
    Task<> gather_all() {
        for (std::size_t unit = units(); unit-- > 0;) co_await gather(unit);
    }
    Task<Vector> mean_gradient(const Vector& x) {
        reduced_ = 0;
        return gathers_ ? gather_and_reduce(x) : reduce_beside(x);
    }

  private:
    // Stages 1 and 2: reduces each unit when it is complete.
    Task<Vector> reduce_beside(const Vector& x);
    // Stage 3: gathers each unit before each of its passes, too.
    Task<Vector> gather_and_reduce(const Vector& x);
    [[nodiscard]] std::size_t unit_of(std::size_t computation) const {
        const std::size_t j = computation % (2 * units());
        return j < units() ? units() - 1 - j : j - units();
    }
    // Reduces, in order, the gradients that stand on the stream before computation j is gathered.
    Task<> reduce_until(Backward& backward, std::size_t j);
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
    Task<> go_on(std::size_t /*computation*/) { co_return; }
    Task<Vector> stream(Backward& backward);

    Worker& self_;
    bool gathers_;  // parameters
    std::size_t prefetch_;
    std::size_t micro_batches_;
    std::size_t reduced_from_;  // the first micro-batch that reduces
    int cards_;                 // rings, one through each card of a machine
    std::optional<Nccl> library_;
    Shards shards_;
    std::vector<Bytes> sizes_;  // of units
    std::size_t reduced_ = 0;   // units of the step, in the order of the stream
    // Of a step of stage 3, by computation:
    std::vector<Signal> wanted_;
    std::vector<Signal> gathered_;
};

Task<> ShardedGradients::Units::reduce_until(Backward& backward, std::size_t j) {
    const std::size_t n = units();
    const std::size_t all = (micro_batches_ - reduced_from_) * n;
    while (reduced_ + 1 < all) {  // reduce_last has the last one
        const std::size_t m = reduced_from_ + reduced_ / n;
        const std::size_t unit = reduced_ % n;
        if (2 * n * m + n + unit + 1 + prefetch_ > j) co_return;
        co_await backward.completed(std::min(m, backward.micro_batches() - 1), unit);
        co_await reduce(unit);
        ++reduced_;
    }
}

Task<Vector> ShardedGradients::Units::stream(Backward& backward) {
    const std::size_t computations = wanted_.size();
    for (std::size_t j = 0; j < computations; ++j) {
        co_await reduce_until(backward, j);
        if (j >= prefetch_) co_await wanted_[j - prefetch_].happened({"a unit to be wanted"});
        co_await gather(unit_of(j));
        gathered_[j].fire();
    }
    co_await reduce_until(backward, std::numeric_limits<std::size_t>::max());
    co_return co_await reduce_last(backward);
}

Task<Vector> ShardedGradients::Units::gather_and_reduce(const Vector& x) {
    const std::size_t computations = 2 * units() * micro_batches_;
    wanted_ = std::vector<Signal>(computations);
    gathered_ = std::vector<Signal>(computations);
    Backward backward =
        self_.micro_batches(x, [this](std::size_t computation) { return reach(computation); });
    co_return co_await stream(backward);
}

// If only the last micro-batch reduces, backward completes the buckets of that one alone.
Task<Vector> ShardedGradients::Units::reduce_beside(const Vector& x) {
    Backward backward = reduced_from_ == 0 && micro_batches_ > 1
                            ? self_.micro_batches(x, [this](std::size_t j) { return go_on(j); })
                            : self_.backward(x);
    co_await reduce_until(backward, std::numeric_limits<std::size_t>::max());
    co_return co_await reduce_last(backward);
}

ShardedGradients::ShardedGradients(Worker& self, const ZeroOptions& options)
    : self_(self), units_(std::make_unique<Units>(self, options)) {}

ShardedGradients::~ShardedGradients() = default;

Task<Vector> ShardedGradients::mean_gradient(const Vector& x) {
    return units_->mean_gradient(x);
}

Task<> ShardedGradients::update() {
    co_await self_.update_part(0, 1, units_->shards());
    if (!units_->keeps_shards()) co_await units_->gather_all();
}

KeptBytes zero_memory(const ZeroOptions& options, std::int64_t parameters,
                      std::int64_t largest_unit, WireFormat wire, int workers, int gradients) {
    const std::int64_t shards = shards_of(options, workers);
    const std::int64_t w = wire.weigh(1).count;
    const std::int64_t adam = bytes_of_moments + (w < 4 ? bytes_of_copy : 0);
    const auto shard = [=](std::int64_t bytes) {
        return (bytes * parameters + shards - 1) / shards;
    };
    const Bytes whole{w * parameters};
    if (options.stage == 1) return {whole, whole, Bytes{shard(adam)}, {}};
    const bool adds_up_whole = options.reduce == ZeroReduce::last && gradients > 1;
    const Bytes gathered{w * (adds_up_whole ? parameters : largest_unit)};
    // Shards are rounded up together, so that the optimizer has what is left of a byte.
    if (options.stage == 2)
        return {whole, Bytes{w * parameters / shards},
                Bytes{shard(w + adam) - w * parameters / shards}, gathered};
    const Bytes each{w * parameters / shards};
    return {each, each, Bytes{shard(2 * w + adam) - 2 * each.count},
            Bytes{(options.prefetch + 1) * w * largest_unit} + gathered};
}

Task<> zero(Worker& self, ZeroOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector& v = self.replicated("variance");
    ShardedGradients gradients(self, options);

    while (self.begins_step()) {
        const Vector mean = co_await gradients.mean_gradient(x);
        const std::int64_t k = self.step();
        self.once(k, [&] { adam_step(options.rule, self.learning_rate(), k + 1, mean, m, v, x); });
        co_await gradients.update();
    }
}

}  // namespace paceline
