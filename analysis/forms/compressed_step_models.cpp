#include "analysis/forms/compressed_step_models.hpp"

#include <memory>
#include <vector>

namespace paceline {

namespace {

using Known = std::optional<Duration>;  // empty if no closed form is known

// Returns the time of gradient, update and coding.
Duration work_of(const StepModelInput& in, Duration coding) {
    return sum(sum(in.timing.step, in.update), coding);
}

}  // namespace

Bytes form_of_packed(const Compressor& compressor, const Layout& layout) {
    std::int64_t bits = 0;
    for (const Tensor& tensor : layout.tensors())
        bits += tensor.left_out ? 32 * tensor.entries() : compressor.bits(tensor);
    return {bits / 8 + (bits % 8 == 0 ? 0 : 1)};
}

std::optional<Duration> choco_sgd_step_time(const ChocoSgdOptions& options, const Mixing& mixing,
                                            std::int64_t step, const StepModelInput& in) {
    const auto degree = static_cast<std::int64_t>(mixing.listeners(0).size());
    const Duration coding = choco_coding_time(options, *in.layout, degree);
    // The exchange is modeled as a vector with one entry of one byte per byte of the message.
    StepModelInput exchange = in;
    exchange.layout = std::make_shared<const Layout>(
        std::vector<Tensor>{{"message", {form_of_packed(options.compressor, *in.layout).count}}});
    exchange.wire = {1};
    const Known beside = neighbor_step_time(mixing, 1, true, exchange);
    if (!beside) return std::nullopt;
    return step == 0 ? work_of(in, coding) : sum(*beside, coding);
}

}  // namespace paceline
