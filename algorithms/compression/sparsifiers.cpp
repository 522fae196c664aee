#include "algorithms/compression/sparsifiers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>

#include "algorithms/compression/sparse/top_k.hpp"

namespace paceline {

namespace {

constexpr std::int64_t value_bits = 32;
constexpr std::int64_t position_bits = 32;

std::int64_t kept_of(std::span<const double> v, double density) {
    return sparsified_entries(static_cast<std::int64_t>(v.size()), density);
}

// Scales the entries in `kept` and sets the others to zero.
void keep(std::span<double> v, const std::vector<bool>& kept, double scale) {
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = kept[i] ? scale * v[i] : 0;
}

std::size_t draw_up_to(std::size_t last, RandomStream& random) {
    return boost::random::uniform_int_distribution<std::size_t>(0, last)(random);
}

std::vector<bool> drawn_block(std::size_t n, std::size_t k, RandomStream& random) {
    std::vector<bool> drawn(n, false);
    const std::size_t begin = draw_up_to(n - 1, random);
    for (std::size_t i = 0; i < k; ++i) drawn[(begin + i) % n] = true;
    return drawn;
}

using Draw = std::vector<bool> (*)(std::size_t n, std::size_t k, RandomStream& random);

Compressor make_random(double density, bool unbiased, Draw draw) {
    Compressor compressor;
    compressor.combining = Combining::summable;
    compressor.unbiased = unbiased;
    compressor.draws_alike = true;
    compressor.held = [density](const Tensor& tensor) {
        return sparsified_entries(tensor.entries(), density);
    };
    compressor.bits = [density](const Tensor& tensor) {
        const std::int64_t d = tensor.entries();
        return value_bits * sparsified_entries(d, density);
    };
    compressor.apply = [=](std::span<double> v, const Tensor& /*tensor*/, RandomStream& random) {
        if (v.empty()) return;
        const auto k = static_cast<std::size_t>(kept_of(v, density));
        const double scale = unbiased ? static_cast<double>(v.size()) / static_cast<double>(k) : 1;
        keep(v, draw(v.size(), k, random), scale);
    };
    return compressor;
}

}  // namespace

// Floyd, CACM 30, 1987.
std::vector<bool> drawn_positions(std::size_t n, std::size_t k, RandomStream& random) {
    std::vector<bool> drawn(n, false);
    for (std::size_t last = n - k; last < n; ++last) {
        const std::size_t i = draw_up_to(last, random);
        drawn[drawn[i] ? last : i] = true;
    }
    return drawn;
}

std::int64_t sparsified_entries(std::int64_t entries, double density) {
    // The tolerance restores products that are integers but come out slightly below in a double.
    const double exact = density * static_cast<double>(entries) * (1 + 1e-12);
    const auto kept = static_cast<std::int64_t>(std::floor(exact));
    return std::clamp<std::int64_t>(kept, std::min<std::int64_t>(1, entries), entries);
}

Compressor make_top_k(double density) {
    Compressor compressor;
    compressor.name = "top-k";
    compressor.encode = 5;
    const auto is_dense = [density](std::int64_t d) {
        return (value_bits + position_bits) * sparsified_entries(d, density) >= value_bits * d;
    };
    compressor.held = [=](const Tensor& tensor) {
        const std::int64_t d = tensor.entries();
        return is_dense(d) ? d : sparsified_entries(d, density);
    };
    compressor.bits = [=](const Tensor& tensor) {
        const std::int64_t d = tensor.entries();
        if (is_dense(d)) return value_bits * d;
        return (value_bits + position_bits) * sparsified_entries(d, density);
    };
    compressor.apply = [=](std::span<double> v, const Tensor& /*tensor*/,
                           RandomStream& /*random*/) {
        if (is_dense(static_cast<std::int64_t>(v.size()))) return;
        TopKScratch scratch;
        keep_only_largest(v, kept_of(v, density), scratch);
    };
    return compressor;
}

Compressor make_random_k(double density, bool unbiased) {
    Compressor compressor = make_random(density, unbiased, &drawn_positions);
    compressor.name = "random-k";
    return compressor;
}

Compressor make_random_block(double density, bool unbiased) {
    Compressor compressor = make_random(density, unbiased, &drawn_block);
    compressor.name = "random-block";
    compressor.encode = 0;
    return compressor;
}

}  // namespace paceline
