#include "algorithms/compression/tensor_chunks.hpp"

#include <cstddef>
#include <vector>

#include "algorithms/compression/sparse/top_k.hpp"

namespace paceline {

std::int64_t divisor_up_to(std::int64_t n, std::int64_t most) {
    for (std::int64_t d = std::min(n, most); d > 1; --d)
        if (n % d == 0) return d;
    return 1;
}

TensorChunks chunks_of(const Tensor& tensor, std::int64_t side) {
    const std::int64_t entries = tensor.entries();
    if (entries == 0) return {0, 0, 0, 0};
    const std::int64_t rows = tensor.shape.size() < 2 ? 1 : tensor.shape.front();
    const std::int64_t columns = entries / rows;
    return {rows, columns, divisor_up_to(rows, side), divisor_up_to(columns, side)};
}

std::int64_t kept_of_chunks(const Tensor& tensor, std::int64_t side, std::int64_t k) {
    const TensorChunks chunks = chunks_of(tensor, side);
    return chunks.count() * std::min(k, chunks.entries_of_one());
}

void keep_largest_of_chunks(std::span<double> tensor, const TensorChunks& chunks, std::int64_t k) {
    if (k >= chunks.entries_of_one()) return;
    TopKScratch scratch;
    std::vector<double> chunk(static_cast<std::size_t>(chunks.entries_of_one()));
    for_each_chunk(chunks, [&](std::int64_t first) {
        copy_chunk(tensor.data() + first, chunks.columns, chunk.data(), chunks.width, chunks);
        keep_only_largest(chunk, k, scratch);
        copy_chunk(chunk.data(), chunks.width, tensor.data() + first, chunks.columns, chunks);
    });
}

}  // namespace paceline
