#include "algorithms/compression/sparse/sparse_vector.hpp"

#include <bit>
#include <cstddef>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

constexpr std::int64_t bits = 64;

std::size_t word_of(std::int64_t position) {
    return static_cast<std::size_t>(position / bits);
}

unsigned bit_of(std::int64_t position) {
    return static_cast<unsigned>(position % bits);
}

}  // namespace

void add(const SparseVector& v, Eigen::VectorXd& sum) {
    PACELINE_CHECK(sum.size() == v.layout->entries(),
                   "a sparse vector is added to one of its size");
    for (std::size_t i = 0; i < v.positions.size(); ++i) sum(v.positions[i]) += v.values[i];
}

Support::Support(std::int64_t entries) : words_(word_of(entries + bits - 1)) {}

void Support::insert(const SparseVector& v) {
    for (const std::int64_t p : v.positions) words_[word_of(p)] |= std::uint64_t{1} << bit_of(p);
}

void Support::merge(const Support& other) {
    PACELINE_CHECK(words_.size() == other.words_.size(), "supports that merge are of one layout");
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

std::int64_t Support::count(std::int64_t first, std::int64_t last) const {
    if (first >= last) return 0;
    const std::size_t front = word_of(first);
    const std::size_t back = word_of(last - 1);
    const std::uint64_t from_first = ~std::uint64_t{0} << bit_of(first);
    const std::uint64_t to_last = ~std::uint64_t{0} >> (63U - bit_of(last - 1));
    if (front == back) return std::popcount(words_[front] & from_first & to_last);
    std::int64_t sum = std::popcount(words_[front] & from_first);
    for (std::size_t i = front + 1; i < back; ++i) sum += std::popcount(words_[i]);
    return sum + std::popcount(words_[back] & to_last);
}

}  // namespace paceline
