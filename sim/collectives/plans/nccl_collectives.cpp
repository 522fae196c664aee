#include "sim/collectives/plans/nccl_collectives.hpp"

#include <utility>

#include "sim/collectives/pipelined.hpp"
#include "sim/collectives/plans/card_rings.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

Task<> messages_of_ring(Rank self, Nccl::Operation operation, Bytes part, const Slices& slices) {
    switch (operation) {
        case Nccl::Operation::reduce_scatter:
            return pipelined_ring_reduce_scatter(std::move(self), part, slices);
        case Nccl::Operation::all_gather:
            return pipelined_ring_all_gather(std::move(self), part, slices);
        case Nccl::Operation::broadcast:
            return chain_broadcast(std::move(self), part, slices);
        case Nccl::Operation::reduce:
            return chain_reduce(std::move(self), part, slices);
        case Nccl::Operation::all_reduce:
            break;
    }
    PACELINE_CHECK(false, "every other operation has its case");
}

}  // namespace

Task<> nccl_collective(const Rank& self, const Nccl& library, Nccl::Operation operation,
                       Bytes size) {
    if (self.size() == 1) return messages_of_ring(self, operation, size, {});
    const NcclChoice choice = nccl_choice(library, operation, size, self.size());
    return behind(self.network().simulation(), choice.start_up,
                  on_rings_of_cards(self.with_cost(choice.cost), choice.on_wire, choice.rings,
                                    [operation, slices = choice.slices](Rank ring, Bytes part) {
                                        return messages_of_ring(std::move(ring), operation, part,
                                                                slices);
                                    }));
}

}  // namespace paceline
