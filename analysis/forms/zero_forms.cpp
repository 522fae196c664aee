#include "analysis/forms/zero_forms.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace paceline {

namespace {

struct UnitTimes {
    Duration gather{};
    Duration reduce{};
    Duration forward{};
    Duration backward{};
};

std::optional<Duration> half_ring(int n, Bytes size, const IdleNetwork& network) {
    const auto ring = all_reduce_time(AllReduce::ring, n, size, network);
    if (!ring) return std::nullopt;
    return *ring / 2;
}

// Returns the times of a gather and of a reduce of so many bytes.
std::optional<UnitTimes> messages_of(const ZeroOptions& options, Bytes size,
                                     const StepModelInput& in) {
    if (options.machine == 0) {
        const auto half = half_ring(in.workers, size, in.network);
        if (!half) return std::nullopt;
        return UnitTimes{*half, *half, {}, {}};
    }
    IdleNetwork bus;
    bus.star = in.network.bus ? *in.network.bus : in.network.star;
    const auto inside = half_ring(options.machine, size, bus);
    AllReducePlan plan = AllReduce::hierarchical;
    plan.devices = options.machine;
    const auto all = all_reduce_time(plan, in.workers, size, in.network);
    if (!inside || !all) return std::nullopt;
    return UnitTimes{*inside, *all - *inside, {}, {}};
}

// Returns when the forward pass has left each unit: measured, or by half of the time of backward passes, as far as the forward
// pass lasts. The last entry stands for its beginning.
std::vector<Duration> ends_of_forward_form(const StepTiming& timing) {
    const Duration forward = timing.buckets.front().forward_end.value_or(timing.step / 3);
    std::vector<Duration> ends{forward};
    for (std::size_t b = 1; b < timing.buckets.size(); ++b) {
        const Duration halved = forward - (timing.buckets[b - 1].ready - forward) / 2;
        ends.push_back(
            timing.buckets[b].forward_end.value_or(std::clamp(halved, Duration::zero(), forward)));
    }
    ends.push_back(Duration::zero());
    return ends;
}

std::optional<std::vector<UnitTimes>> units_of(const ZeroOptions& options,
                                               const StepModelInput& in) {
    if (in.timing.gradients != 1) return std::nullopt;
    const std::vector<Duration> ends = ends_of_forward_form(in.timing);
    std::vector<UnitTimes> units;
    Duration before = ends.front();  // the end of the backward pass of the unit before
    for (const Bucket& bucket : in.timing.buckets) {
        const auto times = messages_of(options, in.wire.weigh(entries_of(bucket, *in.layout)), in);
        if (!times) return std::nullopt;
        const std::size_t unit = units.size();
        units.push_back(*times);
        units[unit].forward = ends[unit] - ends[unit + 1];
        units[unit].backward = bucket.ready - before;
        before = bucket.ready;
    }
    return units;
}

Duration gathered_step(const std::vector<UnitTimes>& units, std::size_t prefetch) {
    const std::size_t n = units.size();
    std::vector<Duration> ends(2 * n);
    Duration stream{};
    std::size_t reduced = 0;
    const auto reduce = [&] {
        stream = sum(std::max(stream, ends[n + reduced]), units[reduced].reduce);
        ++reduced;
    };
    for (std::size_t j = 0; j < 2 * n; ++j) {
        while (n + reduced + 1 + prefetch <= j) reduce();
        const UnitTimes& unit = units[j < n ? n - 1 - j : j - n];
        if (j > prefetch) stream = std::max(stream, ends[j - prefetch - 1]);
        stream = sum(stream, unit.gather);
        const Duration before = j == 0 ? Duration{} : ends[j - 1];
        ends[j] = sum(std::max(stream, before), j < n ? unit.forward : unit.backward);
    }
    while (reduced < n) reduce();
    return stream;
}

Duration reduced_step(const std::vector<UnitTimes>& units, const StepTiming& timing) {
    Duration stream{};
    for (std::size_t u = 0; u < units.size(); ++u)
        stream = sum(std::max(stream, timing.buckets[u].ready), units[u].reduce);
    return stream;
}

}  // namespace

std::optional<Duration> zero_step_time(const ZeroOptions& options, const StepModelInput& in) {
    const auto units = units_of(options, in);
    if (!units) return std::nullopt;
    const Duration update = in.update / shards_of(options, in.workers);
    if (options.stage == 3)
        return sum(gathered_step(*units, static_cast<std::size_t>(options.prefetch)), update);
    Duration step = sum(reduced_step(*units, in.timing), update);
    for (const UnitTimes& unit : *units) step = sum(step, unit.gather);
    return step;
}

std::int64_t zero_messages(const ZeroOptions& options, const StepModelInput& in) {
    const std::int64_t n = in.workers;
    const std::int64_t shards = shards_of(options, in.workers);
    const std::int64_t ring = n / shards * shards * (shards - 1);
    const std::int64_t machines = n / shards;
    const std::int64_t copies = options.machine == 0 ? 0 : shards * 2 * machines * (machines - 1);
    const std::int64_t gathers = options.stage == 3 ? 2 : 1;
    return static_cast<std::int64_t>(in.timing.buckets.size()) * ((gathers + 1) * ring + copies);
}

}  // namespace paceline
