#include "app/scenario/aggregations/compressors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/compression/chunked_top_k.hpp"
#include "algorithms/compression/columns.hpp"
#include "algorithms/compression/eight_bit.hpp"
#include "algorithms/compression/entry_bits.hpp"
#include "algorithms/compression/half.hpp"
#include "algorithms/compression/natural.hpp"
#include "algorithms/compression/qsgd.hpp"
#include "algorithms/compression/signs.hpp"
#include "algorithms/compression/sparsifiers.hpp"
#include "algorithms/compression/terngrad.hpp"
#include "app/json/names.hpp"
#include "app/json/schema.hpp"

namespace paceline {

namespace {

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

constexpr auto scalers = std::to_array<Spelling<bool>>({{"own", false}, {"shared", true}});

Compressor read_terngrad(const ObjectReader& read) {
    const auto p = read.optional("scaler");
    return p && as_choice(*p, "a kind of scaler", scalers) ? make_shared_terngrad()
                                                           : make_terngrad();
}

Compressor read_sign(const ObjectReader& read) {
    Compressor sign = make_sign();
    if (const auto p = read.optional("majority")) sign.majority = as_bool(*p);
    return sign;
}

Compressor read_eight_bit(const ObjectReader& read) {
    EightBitOptions options;
    if (const auto p = read.optional("bucket"))
        options.bucket = as_integer(*p, 1, std::int64_t{1} << 40);
    return make_eight_bit(options);
}

constexpr auto means =
    std::to_array<Spelling<bool>>({{"all", false}, {"senders", true}});  // of senders

Compressor read_chunked_top_k(const ObjectReader& read) {
    ChunkedTopKOptions options;
    if (const auto p = read.optional("chunk")) options.chunk = as_integer(*p, 1, 65'536);
    if (const auto p = read.optional("kept"))
        options.kept = as_integer(*p, 1, std::int64_t{1} << 32);
    if (const auto p = read.optional("value_bits")) {
        options.value_bits = static_cast<int>(as_integer(*p, 2, 32));
        if (options.value_bits > 8 && options.value_bits < 32)
            p->refuse("is not a number of bits from 2 to 8; 32 sends values unchanged");
    }
    if (const auto p = read.optional("index_bits"))
        options.index_bits = static_cast<int>(as_integer(*p, least_index_bits(options.chunk), 64));
    if (const auto p = read.optional("value_range"))
        options.value_range = as_number_above(*p, 0, 1e3);
    if (const auto p = read.optional("mean"))
        options.of_senders = as_choice(*p, "whom an entry's mean is over", means);
    return make_chunked_top_k(options);
}

template <Compressor (*Make)()>
Compressor read_plain(const ObjectReader& /*read*/) {
    return Make();
}

// To add a compressor: algorithms/compression/<name>.{hpp,cpp}, a reader above, a line here.
constexpr auto compressor_kinds = std::to_array<CompressorEntry>({
    {"top-k", "the k = density d largest of d entries: 64 k bits; dense from density 0.5 on",
     &read_top_k},
    {"random-k", "k = density d entries, the same random ones on all workers: 32 k bits",
     &read_random_k},
    {"random-block",
     "k = density d consecutive entries, the same random ones on all workers: 32 k bits",
     &read_random_block},
    {"qsgd", "levels of a bucket's norm: d ceil(log2(2 levels + 1)) + 32 ceil(d / bucket) bits",
     &read_qsgd},
    {"terngrad", "-M, 0 or M by chance, M the largest entry: 2 d + 32 bits", &read_terngrad},
    {"sign", "1 or -1: d bits", &read_sign},
    {"scaled-sign", "the mean size with the sign: d + 32 bits", &read_plain<&make_scaled_sign>},
    {"natural", "a power of two by chance: 9 d bits", &read_plain<&make_natural>},
    {"fp16", "the nearest half-precision number: 16 d bits", &read_plain<&make_half>},
    {"8-bit", "256 levels between a bucket's extremes: 8 d + 64 bits a bucket", &read_eight_bit},
    {"chunked-top-k", "k entries of each chunk, in bins: k (value_bits + index_bits) bits a chunk",
     &read_chunked_top_k},
    {"one-bit-columns", "two levels per column: 32 (ceil(rows / 32) + 2) bits a column",
     &read_plain<&make_columns>},
});

// Reads a compressor, and the bits per entry of those that send all entries alike.
Compressor read_entry(const ObjectReader& read, const CompressorEntry& entry) {
    Compressor compressor = entry.read(read);
    if (compressor.entry_bits == 0) return compressor;
    if (const auto p = read.optional("entry_bits")) {
        const auto bits = static_cast<int>(as_integer(*p, compressor.entry_bits, 32));
        return with_entry_bits(std::move(compressor), bits);
    }
    return compressor;
}

}  // namespace

std::span<const CompressorEntry> compressor_table() {
    return compressor_kinds;
}

Compressor read_compressor_options(const ObjectReader& read, std::string_view name) {
    return read_entry(read, *std::ranges::find(compressor_kinds, name, &CompressorEntry::name));
}

}  // namespace paceline
