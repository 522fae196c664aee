#include "algorithms/compressed/ef_sign_sgd.hpp"

#include <utility>

#include "algorithms/compression/error_feedback.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/exchange/gathered.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

Duration ef_sign_encoding_time(const EfSignSgdOptions& options, const Layout& layout) {
    return encoding_time(make_scaled_sign(), options.coding, layout, error_feedback_passes);
}

}  // namespace

Duration ef_sign_coding_time(const EfSignSgdOptions& options, const Layout& layout, int n) {
    return sum(ef_sign_encoding_time(options, layout),
               decoding_time(make_scaled_sign(), options.coding, layout, n));
}

Task<> ef_sign_sgd(Worker& self, EfSignSgdOptions options) {
    Vector& x = self.replicated_model();
    Vector e = Vector::zero_like(x);
    const Compressor scaled_sign = make_scaled_sign();
    const Layout& charged = *self.charged_layout();
    const Duration encoding = ef_sign_encoding_time(options, charged);
    const Duration decoding = decoding_time(scaled_sign, options.coding, charged, self.workers());
    RandomStream unused = self.stream("compression");

    while (self.keeps_training()) {
        const double gamma = self.learning_rate();
        Vector v = co_await self.gradient(x);
        co_await self.compute(encoding, [&] {
            v = compress_with_feedback(scaled_sign, gamma * std::move(v), e, unused);
        });
        const Vector mean = co_await gather(self, std::move(v), message_bytes(scaled_sign, charged),
                                            options.all_gather, &mean_of<Vector>);
        co_await self.compute(decoding);
        self.once(self.step(), [&] { x -= mean; });
        co_await self.update();
    }
}

}  // namespace paceline
