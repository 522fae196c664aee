#include "sim/collectives/two_phase.hpp"

namespace paceline {

Task<> two_phase(AllToAll how, Rank self, BlockWeight chunk, std::function<Task<>()> own_work) {
    co_await all_to_all(how, self, chunk);
    co_await own_work();
    co_await all_gather(AllGather::ring, self, chunk);
}

}  // namespace paceline
