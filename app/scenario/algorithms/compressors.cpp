#include "app/scenario/algorithms/compressors.hpp"

#include <array>
#include <cstdint>

#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "app/json/names.hpp"

namespace paceline {

namespace {

constexpr std::array<std::string_view, 1> kind_alone{"kind"};
constexpr std::array<std::string_view, 2> top_k_keys{"kind", "density"};
constexpr std::array<std::string_view, 3> random_keys{"kind", "density", "unbiased"};
constexpr std::array<std::string_view, 3> qsgd_keys{"kind", "levels", "bucket"};

constexpr double default_density = 0.01;

double read_density(const ObjectReader& read) {
    const auto p = read.optional("density");
    return p ? as_number_above(*p, 0, 1) : default_density;
}

bool read_unbiased(const ObjectReader& read) {
    const auto p = read.optional("unbiased");
    return p && as_bool(*p);
}

Compressor read_top_k(const ObjectReader& read) {
    return make_top_k(read_density(read));
}

Compressor read_random_k(const ObjectReader& read) {
    return make_random_k(read_density(read), read_unbiased(read));
}

Compressor read_random_block(const ObjectReader& read) {
    return make_random_block(read_density(read), read_unbiased(read));
}

Compressor read_qsgd(const ObjectReader& read) {
    QsgdOptions options;
    if (const auto p = read.optional("levels"))
        options.levels = as_integer(*p, 1, std::int64_t{1} << 30);
    if (const auto p = read.optional("bucket"))
        options.bucket = as_integer(*p, 1, std::int64_t{1} << 40);
    return make_qsgd(options);
}

template <Compressor (*Make)()>
Compressor read_plain(const ObjectReader& /*read*/) {
    return Make();
}

// To add a compressor: algorithms/compression/<name>.{hpp,cpp}, a reader above, a line here.
constexpr std::array<CompressorEntry, 9> compressor_kinds{{
    {"top-k", top_k_keys, &read_top_k},
    {"random-k", random_keys, &read_random_k},
    {"random-block", random_keys, &read_random_block},
    {"qsgd", qsgd_keys, &read_qsgd},
    {"terngrad", kind_alone, &read_plain<&make_terngrad>},
    {"sign", kind_alone, &read_plain<&make_sign>},
    {"scaled-sign", kind_alone, &read_plain<&make_scaled_sign>},
    {"natural", kind_alone, &read_plain<&make_natural>},
    {"fp16", kind_alone, &read_plain<&make_half>},
}};

}  // namespace

std::span<const CompressorEntry> compressor_table() {
    return compressor_kinds;
}

Compressor read_compressor(const Place& place) {
    const std::vector<std::string_view> names = names_of(compressor_kinds);
    const Place kind = kind_of(place, "a compressor", names);
    const CompressorEntry& entry = compressor_kinds[as_name(kind, "a compressor", names)];
    return entry.read(ObjectReader(place, entry.keys));
}

}  // namespace paceline
