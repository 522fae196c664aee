#include "app/questions/warnings/of_data.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace paceline {

namespace {

std::int64_t smallest_shard(const Scenario& scenario) {
    const DataChoice& data = scenario.training->data;
    const int workers = scenario.cluster.workers;
    if (data.shards_are_even) return data.shape.train / workers;
    const Shards shards = data.deal(workers, RandomStreams(scenario.seed));
    const auto size = [](const std::vector<int>& shard) { return std::ssize(shard); };
    return size(std::ranges::min(shards, {}, size));
}

}  // namespace

std::string batch_beyond_shard(const Scenario& scenario) {
    if (!scenario.training || !scenario.workload.batch) return "";
    if (scenario.training->sampling == Sampling::with_replacement)
        return "";  // drawn several times
    const std::int64_t batch =
        *scenario.workload.largest_step_batch() / scenario.workload.accumulation;
    const std::int64_t shard = smallest_shard(scenario);
    if (batch <= shard) return "";
    return fmt::format(
        "a batch of {} is larger than the smallest shard, of {} samples, so it contains samples "
        "several times; use a smaller \"batch\", fewer nodes or more data",
        batch, shard);
}

std::string one_class(const Scenario& scenario) {
    if (!scenario.training || !scenario.training->data.shape.one_class) return "";
    return fmt::format(
        "all {} training samples are of one class, so there is nothing to learn; check the column "
        "or file of labels",
        scenario.training->data.shape.train);
}

}  // namespace paceline
