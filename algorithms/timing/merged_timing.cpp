#include "algorithms/timing/merged_timing.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace paceline {

StepTiming merged(const StepTiming& tensors, const ExchangeEstimate& exchange) {
    PACELINE_CHECK(!tensors.buckets.empty(), "a step has a bucket or more");
    StepTiming timing = tensors;
    timing.buckets.clear();
    Duration free{};  // when the stream is
    Bucket run = tensors.buckets.front();
    for (std::size_t i = 1; i < tensors.buckets.size(); ++i) {
        const Bucket& next = tensors.buckets[i];
        const Duration start = std::max(run.ready, free);
        if (next.ready < sum(start, exchange.start_up)) {
            run = {next.first, run.count + next.count, next.ready, run.forward_end};
            continue;
        }
        timing.buckets.push_back(run);
        free = sum(start, exchange.time(run));
        run = next;
    }
    timing.buckets.push_back(run);
    return timing;
}

}  // namespace paceline
