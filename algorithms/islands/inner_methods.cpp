#include "algorithms/islands/inner_methods.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

class DenseInside final : public InnerMethod {
  public:
    DenseInside(Worker& inside, const ExchangeOptions& options, const std::string& name)
        : inside_(inside), exchange_(inside, options, Preparation{}, name) {}

    Task<Vector> mean_gradient(const Vector& x) override { return exchange_.mean_gradient(x); }
    Task<> update() override { return inside_.update(); }
    [[nodiscard]] bool keeps_shards() const override { return false; }

  private:
    Worker& inside_;
    VectorExchange exchange_;
};

class ShardedInside final : public InnerMethod {
  public:
    ShardedInside(Worker& inside, const ZeroOptions& options)
        : gradients_(inside, options), keeps_shards_(options.stage == 3) {}

    Task<Vector> mean_gradient(const Vector& x) override { return gradients_.mean_gradient(x); }
    Task<> update() override { return gradients_.update(); }
    [[nodiscard]] bool keeps_shards() const override { return keeps_shards_; }

  private:
    ShardedGradients gradients_;
    bool keeps_shards_;
};

}  // namespace

Island island_of(int rank, const IslandOptions& options) {
    for (std::size_t i = 0; i < options.members.size(); ++i) {
        const std::vector<int>& devices = options.members[i];
        const auto found = std::ranges::find(devices, rank);
        if (found == devices.end()) continue;
        return {.of_all = &options.members,
                .number = static_cast<int>(i),
                .place = static_cast<int>(found - devices.begin()),
                .lanes = options.members.size() == 1 ? 1 : options.lanes};
    }
    PACELINE_CHECK(false, "every device is in an island");
}

std::unique_ptr<InnerMethod> inner_method(Worker& inside, const IslandOptions& options,
                                          int number) {
    if (const auto* const sharded = std::get_if<ZeroOptions>(&options.inside))
        return std::make_unique<ShardedInside>(inside, *sharded);
    // What a codec remembers for all devices of an island has the island's name.
    std::string name;
    if (options.members.size() > 1) name = name_of_island(number);
    return std::make_unique<DenseInside>(inside, std::get<ExchangeOptions>(options.inside), name);
}

}  // namespace paceline
