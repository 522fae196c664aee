#include "algorithms/compressed/sign_sgd.hpp"

#include <utility>

#include "algorithms/compression/signs.hpp"
#include "algorithms/exchange/gathered.hpp"
#include "algorithms/exchange/majority_vote.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

constexpr std::int64_t momentum_passes = 1;

Duration sign_encoding_time(const SignSgdOptions& options, const Layout& layout) {
    return encoding_time(make_sign(), options.coding, layout, momentum_passes);
}

}  // namespace

Duration sign_coding_time(const SignSgdOptions& options, const Layout& layout, int n) {
    return sum(sign_encoding_time(options, layout),
               decoding_time(make_sign(), options.coding, layout, n));
}

Task<> sign_sgd(Worker& self, SignSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector m = Vector::zero_like(x);
    const Compressor sign = make_sign();
    const Layout& charged = *self.charged_layout();
    const Duration encoding = sign_encoding_time(options, charged);
    const Duration decoding = decoding_time(sign, options.coding, charged, self.workers());
    RandomStream unused = self.stream("compression");

    while (self.keeps_training()) {
        const Vector g = co_await self.gradient(x);
        Vector vote = Vector::zero_like(x);
        co_await self.compute(encoding, [&] {
            m = options.momentum * std::move(m) + (1 - options.momentum) * g;
            vote = m;
            compress(sign, vote, unused);
        });
        const Vector s = co_await gather(self, std::move(vote), message_bytes(sign, charged),
                                         options.all_gather, &majority_vote);
        co_await self.compute(decoding);
        self.once(self.step(), [&] { x -= self.learning_rate() * s; });
        co_await self.update();
    }
}

}  // namespace paceline
