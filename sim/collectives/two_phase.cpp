#include "sim/collectives/two_phase.hpp"

#include "sim/collectives/all_to_all.hpp"

namespace paceline {

Task<> two_phase(Rank self, BlockWeight chunk, std::function<Task<>()> own_work) {
    co_await all_to_all(self, chunk);
    co_await own_work();
    co_await all_gather(AllGather::ring, self, chunk);
}

}  // namespace paceline
