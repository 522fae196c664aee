#include "algorithms/compression/chunked_top_k.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "algorithms/compression/sparse/top_k.hpp"
#include "algorithms/compression/tensor_chunks.hpp"

namespace paceline {

namespace {

constexpr int whole_value = 32;  // bits

// What is sent of a tensor.
struct Chosen {
    std::vector<std::size_t> places;
    std::vector<double> values;
};

// Returns nothing of a tensor that is not finite.
Chosen largest_of_chunks(std::span<const double> tensor, const TensorChunks& chunks,
                         std::int64_t k) {
    Chosen chosen;
    bool finite = true;
    TopKScratch scratch;
    std::vector<double> chunk(static_cast<std::size_t>(chunks.entries_of_one()));
    for_each_chunk(chunks, [&](std::int64_t first) {
        copy_chunk(tensor.data() + first, chunks.columns, chunk.data(), chunks.width, chunks);
        finite = select_exact(chunk, std::min(k, chunks.entries_of_one()), scratch) && finite;
        for (const std::int64_t i : scratch.selected()) {
            const std::int64_t at = first + i / chunks.width * chunks.columns + i % chunks.width;
            chosen.places.push_back(static_cast<std::size_t>(at));
            chosen.values.push_back(chunk[static_cast<std::size_t>(i)]);
        }
    });
    return finite ? chosen : Chosen{};
}

void put_into_bins(std::vector<double>& values, const ChunkedTopKOptions& options) {
    const auto n = static_cast<double>(values.size());
    const auto bins = static_cast<std::size_t>(1) << static_cast<unsigned>(options.value_bits);
    const auto count = static_cast<double>(bins);
    double mean = 0;
    for (const double v : values) mean += v;
    mean /= n;
    double squares = 0;
    for (const double v : values) squares += (v - mean) * (v - mean);
    const double deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
    const double width = deviation > 0 ? options.value_range * deviation / count : 1;

    const auto bin_of = [&](double v) {
        return static_cast<std::size_t>(
            std::clamp(std::nearbyint((v - mean) / width + count / 2), 0.0, count - 1));
    };
    std::vector<double> sums(bins);
    std::vector<double> members(bins);
    for (const double v : values) {
        sums[bin_of(v)] += v - mean;
        members[bin_of(v)] += 1;
    }
    for (double& v : values) v = sums[bin_of(v)] / members[bin_of(v)] + mean;
}

}  // namespace

int least_index_bits(std::int64_t chunk) {
    const auto last = static_cast<std::uint64_t>(chunk * chunk - 1);
    return std::max(1, static_cast<int>(std::bit_width(last)));
}

Compressor make_chunked_top_k(const ChunkedTopKOptions& options) {
    Compressor compressor;
    compressor.name = "chunked-top-k";
    compressor.encode = 5;
    compressor.of_senders = options.of_senders;
    compressor.held = [options](const Tensor& tensor) {
        return kept_of_chunks(tensor, options.chunk, options.kept);
    };
    const int positions =
        options.index_bits > 0 ? options.index_bits : least_index_bits(options.chunk);
    compressor.bits = [options, positions, held = compressor.held](const Tensor& tensor) {
        const std::int64_t table = options.value_bits == whole_value
                                       ? 0
                                       : 32 * ((std::int64_t{1} << options.value_bits) + 1);
        const std::int64_t entries = held(tensor);
        return entries == 0 ? 0 : entries * (positions + options.value_bits) + table;
    };
    compressor.apply = [options](std::span<double> v, const Tensor& tensor,
                                 RandomStream& /*random*/) {
        Chosen chosen = largest_of_chunks(v, chunks_of(tensor, options.chunk), options.kept);
        if (chosen.values.empty()) return;
        if (options.value_bits != whole_value) put_into_bins(chosen.values, options);
        std::ranges::fill(v, 0.0);
        for (std::size_t i = 0; i < chosen.places.size(); ++i)
            v[chosen.places[i]] = chosen.values[i];
    };
    return compressor;
}

}  // namespace paceline
