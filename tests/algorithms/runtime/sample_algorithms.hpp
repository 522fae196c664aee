// Sample algorithms over Worker, as a user would write them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "algorithms/decentralized/decentlam.hpp"
#include "algorithms/decentralized/dsgd.hpp"
#include "algorithms/dense/synchronous_sgd.hpp"
#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

/// All-reduces the buckets of backward as they become complete.
inline Task<> overlapped_reductions(Worker& self, AllReduce how) {
    while (self.begins_step()) {
        Backward backward = self.backward(self.model());
        std::vector<Pending<Vector>> reductions;
        for (std::size_t i = 0; i < backward.buckets(); ++i) {
            co_await backward.completed(i);
            Vector part = part_of(backward.gradient(), backward.offset(i), backward.layout(i));
            reductions.push_back(self.start(self.all_reduce(std::move(part), how)));
        }
        for (Pending<Vector>& reduction : reductions) co_await std::move(reduction);
    }
}

inline constexpr unsigned sample_algorithms = 6;

inline Task<> sample_algorithm(Worker& self, unsigned kind) {
    switch (kind % sample_algorithms) {
        case 0:
            return synchronous_sgd(self,
                                   SynchronousSgdOptions{dense_exchange(AllReduce::ring), {0.9}});
        case 1:
            return synchronous_sgd(
                self, SynchronousSgdOptions{dense_exchange(AllReduce::recursive_doubling), {}});
        case 2:
            return synchronous_sgd(
                self, SynchronousSgdOptions{dense_exchange(AllReduce::halving_doubling), {0.5}});
        case 3:
            return dsgd(self);
        case 4:
            return decentlam(self, {0.9});
        default:
            return overlapped_reductions(self, AllReduce::ring);
    }
}

}  // namespace paceline
