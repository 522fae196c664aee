#include "algorithms/dense/overlapped_sgd.hpp"

#include <cstddef>

#include "algorithms/runtime/backward.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/channel.hpp"

namespace paceline {

namespace {

struct PartOfGradient {
    Vector values;
    std::int64_t offset;
    Bytes weight;
};

// The communication stream of one step: all-reduces the parts in the order of their arrival.
Task<Vector> reduce_parts(Worker& self, Channel<PartOfGradient>& parts, std::size_t count,
                          AllReducePlan how, Vector sum) {
    for (std::size_t i = 0; i < count; ++i) {
        const PartOfGradient part = co_await parts.get();
        const Vector mean = co_await self.all_reduce(part.values, how, part.weight);
        if (mean.has_values()) sum.writable().segment(part.offset, mean.entries()) = mean.values();
    }
    co_return sum;
}

}  // namespace

Task<> overlapped_sgd(Worker& self, OverlappedSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");

    while (self.keeps_training()) {
        Backward backward = self.backward(x);
        Channel<PartOfGradient> complete;
        Pending<Vector> reduction = self.start(reduce_parts(
            self, complete, backward.buckets(), options.all_reduce, Vector::zero_like(x)));
        for (std::size_t i = 0; i < backward.buckets(); ++i) {
            co_await backward.completed(i);
            const Vector g = part_of(backward.gradient(), backward.offset(i), backward.layout(i));
            complete.put({g, backward.offset(i), backward.weight(i)});
        }
        const Vector mean = co_await std::move(reduction);
        self.once(self.step(),
                  [&] { momentum_step(options.rule, self.learning_rate(), mean, m, x); });
        co_await self.update();
    }
}

}  // namespace paceline
