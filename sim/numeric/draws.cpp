#include "sim/numeric/draws.hpp"

#include <cmath>
#include <concepts>
#include <limits>

#include <boost/random/exponential_distribution.hpp>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/lognormal_distribution.hpp>
#include <boost/random/normal_distribution.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

template <class T>
concept Arithmetic = std::integral<T> || std::floating_point<T>;

// A number type for Boost that acts like a double. Boost finds its functions by argument type. It
// must not convert to double, because std::exp would then match as well.
class Real {
  public:
    Real() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): Boost mixes it with ints and doubles
    constexpr Real(Arithmetic auto value) : value_(static_cast<double>(value)) {}

    [[nodiscard]] double value() const { return value_; }

    Real& operator+=(Real other) { return *this = *this + other; }
    Real& operator*=(Real other) { return *this = *this * other; }

    friend Real operator-(Real a) { return {-a.value_}; }
    friend Real operator+(Real a, Real b) { return {a.value_ + b.value_}; }
    friend Real operator-(Real a, Real b) { return {a.value_ - b.value_}; }
    friend Real operator*(Real a, Real b) { return {a.value_ * b.value_}; }
    friend Real operator/(Real a, Real b) { return {a.value_ / b.value_}; }
    friend auto operator<=>(Real a, Real b) = default;

    friend Real exp(Real x) { return {elementary::exp(x.value_)}; }
    friend Real log(Real x) { return {elementary::log(x.value_)}; }
    friend Real pow(Real x, Real y) { return {elementary::pow(x.value_, y.value_)}; }
    friend Real tan(Real x) { return {elementary::tan(x.value_)}; }
    friend Real sqrt(Real x) { return {std::sqrt(x.value_)}; }

  private:
    double value_ = 0;
};

}  // namespace

}  // namespace paceline

// NOLINTNEXTLINE(cert-dcl58-cpp): the standard allows it for a type of one's own
template <>
class std::numeric_limits<paceline::Real> : public std::numeric_limits<double> {};

namespace paceline {

double draw_normal(RandomStream& stream, double mean, double deviation) {
    PACELINE_CHECK(deviation >= 0, "a deviation is not negative");
    return boost::random::normal_distribution<Real>(mean, deviation)(stream).value();
}

double draw_log_normal(RandomStream& stream, double mean_of_log, double deviation_of_log) {
    PACELINE_CHECK(deviation_of_log >= 0, "a deviation is not negative");
    return boost::random::lognormal_distribution<Real>(mean_of_log, deviation_of_log)(stream)
        .value();
}

double draw_exponential(RandomStream& stream, double rate) {
    PACELINE_CHECK(rate > 0, "a rate is positive");
    return boost::random::exponential_distribution<Real>(rate)(stream).value();
}

double draw_gamma(RandomStream& stream, double shape) {
    PACELINE_CHECK(shape > 0, "a shape is positive");
    return boost::random::gamma_distribution<Real>(shape)(stream).value();
}

}  // namespace paceline
