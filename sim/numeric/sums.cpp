#include "sim/numeric/sums.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

constexpr std::size_t lanes = 32;

// Returns the sum of n terms, where `term(i)` is the i-th.
template <class Term>
double sum_of(std::size_t n, Term term) {
    std::array<double, lanes> lane{};
    const std::size_t whole = n - n % lanes;
    for (std::size_t i = 0; i < whole; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) lane[l] += term(i + l);
    for (std::size_t i = whole; i < n; ++i) lane[i - whole] += term(i);
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
    return lane[0];
}

}  // namespace

double sum(std::span<const double> x) {
    return sum_of(x.size(), [x](std::size_t i) { return x[i]; });
}

double sum(std::span<const float> x) {
    return sum_of(x.size(), [x](std::size_t i) { return static_cast<double>(x[i]); });
}

double dot(std::span<const double> x, std::span<const double> y) {
    PACELINE_CHECK(x.size() == y.size(), "a dot product is of two vectors of one length");
    return sum_of(x.size(), [x, y](std::size_t i) { return x[i] * y[i]; });
}

double dot(std::span<const float> x, std::span<const float> y) {
    PACELINE_CHECK(x.size() == y.size(), "a dot product is of two vectors of one length");
    return sum_of(x.size(), [x, y](std::size_t i) {
        return static_cast<double>(x[i]) * static_cast<double>(y[i]);
    });
}

double squared_norm(std::span<const double> x) {
    return sum_of(x.size(), [x](std::size_t i) { return x[i] * x[i]; });
}

double squared_distance(std::span<const double> x, std::span<const double> y) {
    PACELINE_CHECK(x.size() == y.size(), "a distance is of two vectors of one length");
    return sum_of(x.size(), [x, y](std::size_t i) {
        const double difference = x[i] - y[i];
        return difference * difference;
    });
}

double norm(std::span<const double> x) {
    return std::sqrt(squared_norm(x));
}

}  // namespace paceline
