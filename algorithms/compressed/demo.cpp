#include "algorithms/compressed/demo.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "algorithms/coders/mean_of_senders.hpp"
#include "algorithms/compression/chunked_dct.hpp"
#include "algorithms/compression/tensor_chunks.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

double sign_of(double v) {
    if (v > 0) return 1;
    return v < 0 ? -1 : v;
}

// Takes the fast components out of the momentum, which the gradient has joined.
Vector extract(const DemoOptions& options, const ChunkedDct& dct, double gamma, const Vector& g,
               Vector& momentum) {
    momentum = options.decay * std::move(momentum) + gamma * g;
    Vector components = momentum;
    dct.transform(components.writable());
    dct.keep_largest(components.writable(), options.components);
    Vector sent = components;
    dct.inverse(sent.writable());
    momentum -= sent;
    return components;
}

void step_along(const DemoOptions& options, const ChunkedDct& dct, double gamma, Vector components,
                Vector& x) {
    dct.inverse(components.writable());
    const Eigen::VectorXd signs = components.values().unaryExpr(&sign_of);
    Eigen::VectorXd& values = x.writable();
    values = (1 - gamma * options.weight_decay) * values - gamma * signs;
}

}  // namespace

Compressor demo_messages(const DemoOptions& options) {
    Compressor compressor;
    compressor.name = "dct";
    compressor.encode = 7;
    compressor.decode = 1;
    compressor.held = [options](const Tensor& tensor) {
        return kept_of_chunks(tensor, options.chunk, options.components);
    };
    compressor.bits = [held = compressor.held, options](const Tensor& tensor) {
        return 8 * options.bytes_per_component * held(tensor);
    };
    return compressor;
}

Task<> demo(Worker& self, DemoOptions options) {
    Vector& x = self.replicated_model();
    Vector momentum = Vector::zero_like(x);
    const Layout& charged = *self.charged_layout();
    const Compressor messages = demo_messages(options);
    const Bytes size = message_bytes(messages, charged);
    const Duration encoding = encoding_time(messages, options.coding, charged);
    const Duration decoding =
        sum(decoding_time(messages, options.coding, charged, self.workers()),
            coding_time(options.coding, demo_passes_behind, charged.entries()));
    std::optional<ChunkedDct> dct;
    if (x.has_values()) dct.emplace(x.layout(), options.chunk);
    const CollectiveOfOwn gather = [how = options.all_gather, size](const Rank& rank) {
        return all_gather(how, rank, size);
    };

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        Vector g = co_await self.gradient(x);
        co_await self.compute(encoding, [&] {
            if (dct) g = extract(options, *dct, gamma, g, momentum);
        });
        const Vector all = co_await self.combine(std::move(g), gather, &mean_of_senders);
        co_await self.compute(decoding);
        self.once(self.step(), [&] {
            if (dct) step_along(options, *dct, gamma, all, x);
        });
        co_await self.update();
    }
}

}  // namespace paceline
