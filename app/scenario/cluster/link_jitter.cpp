#include "app/scenario/cluster/link_jitter.hpp"

#include <array>
#include <vector>

#include "app/json/names.hpp"

namespace paceline {

namespace {

constexpr auto normal_keys = std::to_array<std::string_view>({"kind", "mean", "sd"});
constexpr auto log_normal_keys = std::to_array<std::string_view>({"kind", "median", "sigma"});
constexpr auto pareto_keys = std::to_array<std::string_view>({"kind", "scale", "shape"});

constexpr double most_jitter_sigma = 10;  // means are astronomic beyond it
constexpr double most_shape = 1e6;

LinkJitter read_normal(const ObjectReader& read) {
    return {.law = LinkJitterLaw::normal,
            .typical = as_duration(read.required("mean", "of the delay before it is cut off at 0")),
            .spread = to_seconds(as_duration(read.required("sd", "the standard deviation")))};
}

Duration above_zero(const Place& place) {
    const Duration span = as_duration(place);
    if (span == Duration::zero()) place.refuse("must be above 0 for this law");
    return span;
}

LinkJitter read_log_normal(const ObjectReader& read) {
    const Place sigma = read.required("sigma", "the standard deviation of the delay's logarithm");
    return {.law = LinkJitterLaw::log_normal,
            .typical = above_zero(read.required("median", "half of the delays are below it")),
            .spread = as_number_up_to(sigma, most_jitter_sigma)};
}

LinkJitter read_pareto(const ObjectReader& read) {
    const Place shape = read.required("shape", "above 1; smaller: a heavier tail");
    return {.law = LinkJitterLaw::pareto,
            .typical = above_zero(read.required("scale", "the smallest delay")),
            .spread = as_number_above(shape, 1, most_shape)};
}

constexpr auto jitter_laws = std::to_array<LinkJitterEntry>({
    {"normal", "around a mean, cut off at 0", normal_keys, &read_normal},
    {"log-normal", "around a median, with a tail to the right", log_normal_keys, &read_log_normal},
    {"pareto", "from a least delay on, with a heavy tail", pareto_keys, &read_pareto},
});

}  // namespace

std::span<const LinkJitterEntry> link_jitter_table() {
    return jitter_laws;
}

LinkJitter read_link_jitter(const Place& place) {
    const std::vector<std::string_view> names = names_of(jitter_laws);
    const Place kind = kind_of(place, "a law of jitter", names);
    const LinkJitterEntry& entry = jitter_laws[as_name(kind, "a law of jitter", names)];
    return entry.read(ObjectReader(place, entry.keys));
}

}  // namespace paceline
