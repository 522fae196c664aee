#include "analysis/forms/memory_forms.hpp"

#include <cmath>
#include <variant>

namespace paceline {

KeptBytes device_bytes(double kept, std::int64_t parameters, WireFormat wire) {
    constexpr double fp32_bytes = 4;
    const auto w = static_cast<double>(wire.weigh(1).count);
    const double each = 2 * w + (w < fp32_bytes ? fp32_bytes : 0) + fp32_bytes * kept;
    const std::int64_t all = std::llround(each * static_cast<double>(parameters));
    const Bytes net = wire.weigh(parameters);
    return {net, net, Bytes{all - 2 * net.count}, {}};
}

double kept_by_codec(const Codec& codec, int workers) {
    if (std::holds_alternative<DgcOptions>(codec.coder)) return 2;
    if (std::holds_alternative<OneBitCodec>(codec.coder)) return 1 + 1.0 / workers;
    if (std::holds_alternative<LowRankCodec>(codec.coder)) return 1;
    return codec.error_feedback ? 1 : 0;
}

}  // namespace paceline
