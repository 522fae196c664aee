#include "algorithms/compressed/compressed_sgd.hpp"

#include <utility>

#include "algorithms/compression/error_feedback.hpp"
#include "algorithms/exchange/gathered.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

Duration encoding_time(const CompressedSgdOptions& options, const Layout& layout) {
    return encoding_time(options.compressor, options.coding, layout,
                         options.error_feedback ? error_feedback_passes : 0);
}

Duration decoding_time(const CompressedSgdOptions& options, const Layout& layout, int n) {
    const bool one = options.compressor.aggregation == Aggregation::summable;
    return decoding_time(options.compressor, options.coding, layout, one ? 1 : n);
}

namespace {

// Returns the mean over the workers of their decoded messages.
Task<Vector> mean_of_messages(Worker& self, Vector v, const CompressedSgdOptions& options) {
    const Bytes size = message_bytes(options.compressor, *self.charged_layout());
    if (options.compressor.aggregation == Aggregation::summable)
        return self.all_reduce(std::move(v), options.all_reduce, size);
    return gather(self, std::move(v), size, options.all_gather, &mean_of<Vector>);
}

}  // namespace

Task<> compressed_sgd(Worker& self, CompressedSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector& m = self.replicated("momentum");
    Vector e = Vector::zero_like(x);
    const Duration encoding = encoding_time(options, *self.charged_layout());
    const Duration decoding = decoding_time(options, *self.charged_layout(), self.workers());
    RandomStream own = self.stream("compression");

    while (self.keeps_training()) {
        RandomStream common = self.common_stream("common compression", self.step());
        RandomStream& random = options.compressor.draws_alike ? common : own;
        Vector v = co_await self.gradient(x);
        co_await self.compute(encoding, [&] {
            if (options.error_feedback)
                v = compress_with_feedback(options.compressor, std::move(v), e, random);
            else
                compress(options.compressor, v, random);
        });
        const Vector mean = co_await mean_of_messages(self, std::move(v), options);
        co_await self.compute(decoding);
        self.once(self.step(),
                  [&] { momentum_step(options.rule, self.learning_rate(), mean, m, x); });
        co_await self.update();
    }
}

}  // namespace paceline
