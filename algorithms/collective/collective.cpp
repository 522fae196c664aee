#include "algorithms/collective/collective.hpp"

#include <string_view>

#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/plans/nccl_collectives.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/collectives/tree.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Task<> broadcast_by(const Rank& rank, const CollectiveOptions& options, Bytes size) {
    if (options.method == RootedMethod::chain) return chain_broadcast(rank, size, options.slices);
    return options.method == RootedMethod::at_once ? broadcast_at_once(rank, size)
                                                   : binomial_broadcast(rank, size);
}

Task<> reduce_by(const Rank& rank, const CollectiveOptions& options, Bytes size) {
    if (options.method == RootedMethod::chain) return chain_reduce(rank, size, options.slices);
    return options.method == RootedMethod::ring ? pipelined_ring_reduce(rank, size, options.slices)
                                                : binomial_reduce(rank, size);
}

Task<> messages_of(const Rank& rank, const CollectiveOptions& options, Bytes size) {
    if (options.library)
        return nccl_collective(rank, *options.library, by_name_of_nccl(options.operation), size);
    const Bytes block = block_of(size, rank.size());
    switch (options.operation) {
        case Operation::all_reduce:
            return all_reduce(options.all_reduce, rank, size);
        case Operation::reduce_scatter:
            return ring_reduce_scatter(rank, size);
        case Operation::all_gather_ring:
            return ring_all_gather(rank, block);
        case Operation::all_gather_bruck:
            return bruck_all_gather(rank, block);
        case Operation::all_to_all:
            return all_to_all(options.all_to_all, rank, block);
        case Operation::broadcast:
            return broadcast_by(rank, options, size);
        case Operation::reduce:
            return reduce_by(rank, options, size);
    }
    PACELINE_CHECK(false, "every operation has its case");
}

std::string_view name_of_operation(const CollectiveOptions& options, Bytes size) {
    switch (options.operation) {
        case Operation::all_reduce:
            return name_of(options.all_reduce, size);
        case Operation::reduce_scatter:
            return "ring reduce-scatter";
        case Operation::all_gather_ring:
            return name_of(AllGather::ring);
        case Operation::all_gather_bruck:
            return name_of(AllGather::bruck);
        case Operation::all_to_all:
            return "all-to-all";
        case Operation::broadcast:
            return "broadcast";
        case Operation::reduce:
            return "reduce";
    }
    return "collective";
}

}  // namespace

Nccl::Operation by_name_of_nccl(Operation operation) {
    switch (operation) {
        case Operation::reduce_scatter:
            return Nccl::Operation::reduce_scatter;
        case Operation::all_gather_ring:
            return Nccl::Operation::all_gather;
        case Operation::broadcast:
            return Nccl::Operation::broadcast;
        case Operation::reduce:
            return Nccl::Operation::reduce;
        case Operation::all_reduce:
        case Operation::all_gather_bruck:
        case Operation::all_to_all:
            break;
    }
    PACELINE_CHECK(false, "the library chooses for no other operation");
}

Bytes block_of(Bytes size, int workers) {
    return chunk(size, workers, workers - 1);
}

Task<> collective(Worker& self, CollectiveOptions options) {
    PACELINE_CHECK(self.timing_only(), "a collective alone has no values to learn from");
    const Vector& x = self.replicated_model();
    const Bytes size = self.wire().weigh(x.entries());

    while (self.begins_step()) {
        const Vector g = co_await self.gradient(x);
        co_await self.exchange([&](const Rank& rank) { return messages_of(rank, options, size); },
                               name_of_operation(options, size));
        co_await self.update();
    }
}

}  // namespace paceline
