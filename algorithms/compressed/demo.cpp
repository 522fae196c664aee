#include "algorithms/compressed/demo.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "algorithms/compression/chunked_dct.hpp"
#include "algorithms/runtime/worker.hpp"

namespace paceline {

namespace {

// The mean of each component over the members that sent it.
Vector mean_of_senders(const Round<Vector>& round) {
    Vector sum = round.of(0);
    if (!sum.has_values()) return sum;
    Eigen::VectorXd senders = Eigen::VectorXd::Zero(sum.entries());
    for (std::size_t i = 0; i < round.members(); ++i) {
        if (i > 0) sum += round.of(i);
        senders.array() += (round.of(i).values().array() != 0).cast<double>();
    }
    sum.writable().array() /= senders.array().max(1);
    return sum;
}

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
        return kept_components(tensor, options.chunk, options.components);
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
