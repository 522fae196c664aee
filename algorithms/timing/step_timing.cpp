#include "algorithms/timing/step_timing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/engine/check.hpp"

namespace paceline {

StepTiming make_step_timing(Duration step, const Layout& layout,
                            const std::vector<double>& tensor_macs, std::int64_t bucket_entries) {
    const std::vector<Tensor>& tensors = layout.tensors();
    PACELINE_CHECK(!tensors.empty(), "a model has a tensor or more");
    PACELINE_CHECK(tensor_macs.size() == tensors.size(), "every tensor has its share of the work");
    PACELINE_CHECK(bucket_entries >= 1, "a bucket holds an entry or more");

    std::vector<double> work = tensor_macs;
    if (std::ranges::all_of(work, [](double macs) { return macs == 0; }))
        std::ranges::transform(tensors, work.begin(), [](const Tensor& tensor) {
            return static_cast<double>(tensor.entries());
        });
    const double all = std::accumulate(work.begin(), work.end(), 0.0);
    const double seconds = to_seconds(step);

    StepTiming timing{.step = step, .buckets = {}};
    double done = 0;
    std::int64_t held = 0;
    std::size_t end = tensors.size();
    for (std::size_t i = tensors.size(); i-- > 0;) {
        done += work[i];
        held += tensors[i].entries();
        if (held < bucket_entries && i > 0) continue;
        const double backward = all > 0 ? done / all : 1;
        timing.buckets.push_back({i, end - i, from_seconds(seconds * (1 + 2 * backward) / 3)});
        held = 0;
        end = i;
    }
    timing.buckets.back().ready = step;
    return timing;
}

namespace {

// Returns the part of `step` that `part` is of `all`, to the picosecond below. Requires all > 0.
Duration share_of(Duration step, Duration part, Duration all) {
    __extension__ using Wide = __int128;
    const Wide ticks = Wide{step.count()} * part.count() / all.count();
    return Duration{static_cast<std::int64_t>(ticks)};
}

}  // namespace

StepTiming make_measured_timing(Duration step, const Layout& layout, const TensorTimes& times,
                                std::int64_t bucket_entries) {
    const std::size_t count = layout.tensors().size();
    PACELINE_CHECK(times.forward.size() == count && times.backward.size() == count,
                   "every tensor has its measured times");
    const Duration all = times.all();
    PACELINE_CHECK(all > Duration::zero(), "a measured gradient takes time");
    StepTiming timing = make_step_timing(step, layout, std::vector<double>(count), bucket_entries);
    Duration left{};  // of the forward pass, by the first tensor of the bucket before
    for (const Duration time : times.forward) left = sum(left, time);
    Duration done = left;
    for (Bucket& bucket : timing.buckets) {
        bucket.forward_end = share_of(step, left, all);
        for (std::size_t i = bucket.first + bucket.count; i-- > bucket.first;) {
            left -= times.forward[i];
            done = sum(done, times.backward[i]);
        }
        bucket.ready = share_of(step, done, all);
    }
    return timing;
}

std::int64_t entries_of(const Bucket& bucket, const Layout& layout) {
    std::int64_t entries = 0;
    for (std::size_t i = 0; i < bucket.count; ++i)
        entries += layout.tensors()[bucket.first + i].entries();
    return entries;
}

StepTiming accumulated(StepTiming one, int gradients) {
    PACELINE_CHECK(gradients >= 1, "a step has a gradient or more");
    const Duration before = multiple(gradients - 1, one.step);
    for (Bucket& bucket : one.buckets) bucket.ready = sum(before, bucket.ready);
    one.step = sum(before, one.step);
    one.gradients *= gradients;
    return one;
}

StepTiming make_step_timing(Duration step, const Layout& layout) {
    return make_step_timing(step, layout, std::vector<double>(layout.tensors().size()),
                            std::numeric_limits<std::int64_t>::max());
}

}  // namespace paceline
