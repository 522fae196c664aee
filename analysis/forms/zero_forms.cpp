#include "analysis/forms/zero_forms.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analysis/forms/message_counts.hpp"

namespace paceline {

namespace {

struct UnitTimes {
    Duration gather{};
    Duration reduce{};
    Duration forward{};
    Duration backward{};
};

std::optional<Duration> half_ring(int n, Bytes size, const IdleNetwork& network, int cards = 1) {
    AllReducePlan plan = AllReduce::ring;
    plan.cards = cards;
    const auto ring = all_reduce_time(plan, n, size, network);
    if (!ring) return std::nullopt;
    return *ring / 2;
}

IdleNetwork without_start_ups(IdleNetwork network) {
    network.star = begun(network.star);
    if (network.bus) network.bus = begun(*network.bus);
    return network;
}

// Returns the times of a gather and of a reduce of so many bytes. Each collective has a start-up;
// by machine, a reduce is one inside and one between.
std::optional<UnitTimes> messages_of(const ZeroOptions& options, Bytes size,
                                     const StepModelInput& in) {
    if (options.library) return std::nullopt;
    const Duration start_up = in.network.star.start_up;
    const auto started = [start_up](int members, Duration messages) {
        return members > 1 ? sum(start_up, messages) : messages;
    };
    const IdleNetwork network = without_start_ups(in.network);
    if (options.machine == 0) {
        const auto half = half_ring(in.workers, size, network, options.cards);
        if (!half) return std::nullopt;
        const Duration each = started(in.workers, *half);
        return UnitTimes{each, each, {}, {}};
    }
    if (network.bus && options.machine != network.devices) return std::nullopt;
    IdleNetwork bus;
    bus.star = network.bus ? *network.bus : network.star;
    const auto inside = half_ring(options.machine, size, bus);
    AllReducePlan plan = AllReduce::hierarchical;
    plan.devices = options.machine;
    const auto all = all_reduce_time(plan, in.workers, size, network);
    if (!inside || !all) return std::nullopt;
    return UnitTimes{
        started(options.machine, *inside),
        started(in.workers / options.machine, started(options.machine, *all - *inside)),
        {},
        {}};
}

// Returns when the forward pass has left each unit: measured, or by half of the time of backward
// passes, as far as the forward pass lasts. The last entry stands for its beginning.
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

// Returns the timing of one of the gradients that a step adds up.
StepTiming timing_of_one(StepTiming timing) {
    const Duration one = timing.step / timing.gradients;
    for (Bucket& bucket : timing.buckets) bucket.ready -= timing.step - one;
    timing.step = one;
    timing.gradients = 1;
    return timing;
}

std::optional<std::vector<UnitTimes>> units_of(const ZeroOptions& options,
                                               const StepModelInput& in) {
    const StepTiming timing = timing_of_one(in.timing);
    const std::vector<Duration> ends = ends_of_forward_form(timing);
    std::vector<UnitTimes> units;
    Duration before = ends.front();  // the end of the backward pass of the unit before
    for (const Bucket& bucket : timing.buckets) {
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

Duration gathered_step(const std::vector<UnitTimes>& units, std::size_t prefetch,
                       std::size_t gradients, std::size_t reduced_from) {
    const std::size_t n = units.size();
    std::vector<Duration> ends(2 * n * gradients);
    Duration stream{};
    std::size_t reduced = reduced_from * n;  // counted from the first gradient on
    const auto computation = [n](std::size_t reduce) {
        return reduce / n * 2 * n + n + reduce % n;
    };
    const auto reduce = [&] {
        stream = sum(std::max(stream, ends[computation(reduced)]), units[reduced % n].reduce);
        ++reduced;
    };
    for (std::size_t j = 0; j < ends.size(); ++j) {
        while (reduced < n * gradients && computation(reduced) + 1 + prefetch <= j) reduce();
        const std::size_t pass = j % (2 * n);
        const UnitTimes& unit = units[pass < n ? n - 1 - pass : pass - n];
        if (j > prefetch) stream = std::max(stream, ends[j - prefetch - 1]);
        stream = sum(stream, unit.gather);
        const Duration before = j == 0 ? Duration{} : ends[j - 1];
        ends[j] = sum(std::max(stream, before), pass < n ? unit.forward : unit.backward);
    }
    while (reduced < n * gradients) reduce();
    return stream;
}

Duration reduced_step(const std::vector<UnitTimes>& units, const StepTiming& timing, int first) {
    const Duration one = timing.step / timing.gradients;
    Duration stream{};
    for (int m = first; m < timing.gradients; ++m)
        for (std::size_t u = 0; u < units.size(); ++u) {
            const Duration ready =
                timing.buckets[u].ready - multiple(timing.gradients - 1 - m, one);
            stream = sum(std::max(stream, ready), units[u].reduce);
        }
    return stream;
}

}  // namespace

std::optional<Duration> zero_step_time(const ZeroOptions& options, const StepModelInput& in) {
    const auto units = units_of(options, in);
    if (!units) return std::nullopt;
    const Duration update = in.update / shards_of(options, in.workers);
    const int gradients = in.timing.gradients;
    const int reduced_from = gradients - reduces_of(options, gradients);
    if (options.stage == 3)
        return sum(gathered_step(*units, static_cast<std::size_t>(options.prefetch),
                                 static_cast<std::size_t>(gradients),
                                 static_cast<std::size_t>(reduced_from)),
                   update);
    Duration step = sum(reduced_step(*units, in.timing, reduced_from), update);
    for (const UnitTimes& unit : *units) step = sum(step, unit.gather);
    return step;
}

std::int64_t zero_messages(const ZeroOptions& options, const StepModelInput& in) {
    const std::int64_t n = in.workers;
    const std::int64_t shards = shards_of(options, in.workers);
    const std::int64_t rings = n > in.network.devices ? options.cards : 1;
    const std::int64_t ring = rings * (n / shards * shards * (shards - 1));
    const std::int64_t machines = n / shards;
    const std::int64_t copies = options.machine == 0 ? 0 : shards * 2 * machines * (machines - 1);
    const std::int64_t gathers = options.stage == 3 ? 2 * in.timing.gradients : 1;
    const std::int64_t reduces = reduces_of(options, in.timing.gradients);
    if (!options.library)
        return static_cast<std::int64_t>(in.timing.buckets.size()) *
               (gathers * ring + reduces * (ring + copies));
    AllReducePlan plan_of_copies = AllReduce::nccl;
    plan_of_copies.library = among_machines(*options.library);
    std::int64_t messages = 0;
    for (const Bucket& bucket : in.timing.buckets) {
        const Bytes size = in.wire.weigh(entries_of(bucket, *in.layout));
        const auto half = [&](Nccl::Operation operation) {
            return machines *
                   nccl_messages(*options.library, operation, static_cast<int>(shards), size);
        };
        messages += gathers * half(Nccl::Operation::all_gather) +
                    reduces * half(Nccl::Operation::reduce_scatter);
        if (options.machine == 0) continue;
        const Bytes own{(size.count + shards - 1) / shards};
        messages +=
            reduces * shards * all_reduce_messages(plan_of_copies, static_cast<int>(machines), own);
    }
    return messages;
}

}  // namespace paceline
