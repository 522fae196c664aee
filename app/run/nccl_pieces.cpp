#include "app/run/nccl_pieces.hpp"

#include <algorithm>

#include "app/run/step_costs.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"

namespace paceline {

std::vector<NcclPieces> nccl_pieces(const Scenario& scenario) {
    std::vector<NcclPieces> all;
    const int n = scenario.cluster.workers;
    const auto& plan = scenario.algorithm.all_reduce;
    if (!plan || plan->method != AllReduce::nccl || n < 2) return all;
    for (const Bucket& bucket : step_timing(scenario).buckets) {
        const Bytes size =
            scenario.algorithm.wire.weigh(entries_of(bucket, *scenario.workload.layout));
        const NcclChoice choice = nccl_choice(plan->library, Nccl::Operation::all_reduce, size, n);
        const auto found = std::ranges::find_if(all, [&](const NcclPieces& pieces) {
            return pieces.choice.algorithm == choice.algorithm &&
                   pieces.choice.protocol == choice.protocol;
        });
        if (found == all.end()) {
            all.push_back({choice, 1, size, size});
            continue;
        }
        ++found->count;
        found->smallest = std::min(found->smallest, size);
        if (size <= found->largest) continue;
        found->largest = size;
        found->choice = choice;
    }
    return all;
}

}  // namespace paceline
