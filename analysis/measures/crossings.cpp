#include "analysis/measures/crossings.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "sim/engine/check.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double much = 10;

double coordinate(double x, Scale scale) {
    return scale == Scale::logarithmic ? elementary::log(x) : x;
}

double value_at(double coordinate, Scale scale) {
    return scale == Scale::logarithmic ? elementary::exp(coordinate) : coordinate;
}

double to_step(double x, const Search& search) {
    return search.step > 0 ? std::round(x / search.step) * search.step : x;
}

// Returns a value between a and b on the scale, or nothing if there is none.
std::optional<double> middle(double a, double b, const Search& search) {
    const double between =
        search.scale == Scale::logarithmic ? a * std::sqrt(b / a) : a + (b - a) / 2;
    double x = to_step(between, search);
    if (x <= a) x = a + search.step;
    if (x >= b) x = b - search.step;
    return x > a && x < b ? std::optional(x) : std::nullopt;
}

// Decides where to sample between neighbors, within the tolerance of the grid's range.
class Halving {
  public:
    Halving(const std::vector<double>& grid, const Search& search)
        : search_(search), length_(grid.back() - grid.front()) {}

    // Returns where to sample between two neighbors, or nothing if their sides agree, one of them
    // is a gap, or they are close enough.
    [[nodiscard]] std::optional<double> value_between(const Sample& a, const Sample& b) const {
        const bool known = a.side() != Side::gap && b.side() != Side::gap;
        if (!known || a.side() == b.side() || near(a.x, b.x)) return std::nullopt;
        return middle(a.x, b.x, search_);
    }

  private:
    [[nodiscard]] bool near(double a, double b) const {
        const double whole = search_.scale == Scale::logarithmic ? a : length_;
        return b - a <= search_.tolerance * whole;
    }

    const Search& search_;
    double length_;
};

void add_samples(const std::vector<double>& values, const Sampler& sample,
                 std::vector<Sample>& samples) {
    const std::vector<Sides> sides = sample(values);
    PACELINE_CHECK(sides.size() == values.size(), "every value is sampled");
    for (std::size_t i = 0; i < values.size(); ++i) samples.push_back({values[i], sides[i]});
    std::ranges::sort(samples, {}, &Sample::x);
}

// Returns the difference per unit of the scale between neighbors i and i + 1, or 0 if unknown.
double slope(const std::vector<Sample>& samples, std::size_t i, Scale scale) {
    if (i + 1 >= samples.size()) return 0;
    const Sample& a = samples[i];
    const Sample& b = samples[i + 1];
    if (a.side() == Side::gap || b.side() == Side::gap) return 0;
    return std::abs((b.difference() - a.difference()) /
                    (coordinate(b.x, scale) - coordinate(a.x, scale)));
}

// Returns whether the difference stays large however narrow the bracket of i and i + 1 is.
bool jumps(const std::vector<Sample>& samples, std::size_t i, const Search& search) {
    const Sample& a = samples[i];
    const Sample& b = samples[i + 1];
    if (!middle(a.x, b.x, search)) return false;
    const double fall = std::abs(b.difference() - a.difference());
    const double size = std::max(
        {std::abs(*a.at.left), std::abs(*a.at.right), std::abs(*b.at.left), std::abs(*b.at.right)});
    const double steepest = std::max(i > 0 ? slope(samples, i - 1, search.scale) : 0,
                                     slope(samples, i + 1, search.scale));
    const double width = coordinate(b.x, search.scale) - coordinate(a.x, search.scale);
    return fall > much * search.tolerance * size && fall > much * steepest * width;
}

Change sign_change(const std::vector<Sample>& samples, std::size_t i, const Search& search) {
    const Sample& a = samples[i];
    const Sample& b = samples[i + 1];
    Change change{ChangeKind::crossing, a, b, a.side(), b.side(), a.x};
    if (jumps(samples, i, search)) {
        change.kind = ChangeKind::jump;
        return change;
    }
    const double share = a.difference() / (a.difference() - b.difference());
    const double from = coordinate(a.x, search.scale);
    const double to = coordinate(b.x, search.scale);
    change.at = std::clamp(value_at(from + share * (to - from), search.scale), a.x, b.x);
    return change;
}

Side side_at(const std::vector<Sample>& samples, std::size_t i) {
    return i < samples.size() ? samples[i].side() : Side::gap;
}

// Returns one past the end of the run of samples from i on that share its side.
std::size_t end_of_run(const std::vector<Sample>& samples, std::size_t i) {
    const Side side = samples[i].side();
    while (i < samples.size() && samples[i].side() == side) ++i;
    return i;
}

// Adds a run of gaps, samples [begin, end), and what it may hide.
void add_gap(const std::vector<Sample>& samples, std::size_t begin, std::size_t end,
             Changes& found) {
    found.gaps.push_back({samples[begin].x, samples[end - 1].x});
    if (begin == 0 || end == samples.size()) return;
    const Sample& a = samples[begin - 1];
    const Sample& b = samples[end];
    const bool changes = a.side() != b.side() && a.side() != Side::equal && b.side() != Side::equal;
    if (changes) found.changes.push_back({ChangeKind::hidden, a, b, a.side(), b.side(), a.x});
}

void read_runs(const Search& search, Changes& found) {
    const std::vector<Sample>& samples = found.samples;
    for (std::size_t begin = 0; begin < samples.size();) {
        const std::size_t end = end_of_run(samples, begin);
        const Side side = samples[begin].side();
        const Side next = side_at(samples, end);
        if (side == Side::gap)
            add_gap(samples, begin, end, found);
        else if (side == Side::equal)
            found.changes.push_back({ChangeKind::equal, samples[begin], samples[end - 1],
                                     begin > 0 ? samples[begin - 1].side() : Side::gap, next,
                                     samples[begin].x});
        else if (next == Side::above || next == Side::below)
            found.changes.push_back(sign_change(samples, end - 1, search));
        begin = end;
    }
}

std::optional<Sample> closest_of(const std::vector<Sample>& samples) {
    std::optional<Sample> closest;
    for (const Sample& sample : samples) {
        if (sample.side() == Side::gap) continue;
        if (!closest || std::abs(sample.difference()) < std::abs(closest->difference()))
            closest = sample;
    }
    return closest;
}

// Rounds to a tenth of the distance, as a power of ten, so that the result is short in decimal.
double rounded(double x, double distance) {
    const double exponent = std::floor(elementary::log10(distance / 10));
    const double power = elementary::pow(10.0, std::abs(exponent));
    return (exponent < 0 ? std::round(x * power) / power : std::round(x / power) * power) + 0.0;
}

}  // namespace

Side Sample::side() const {
    if (!at.left || !at.right) return Side::gap;
    if (!std::isfinite(*at.left) || !std::isfinite(*at.right)) return Side::gap;
    if (*at.left == *at.right) return Side::equal;
    return *at.left > *at.right ? Side::above : Side::below;
}

double Sample::difference() const {
    PACELINE_CHECK(side() != Side::gap, "a gap has no difference");
    return *at.left - *at.right;
}

std::vector<double> search_grid(double from, double to, std::size_t count, const Search& search) {
    PACELINE_CHECK(from < to && count >= 2, "a grid has a first and a last value");
    PACELINE_CHECK(search.scale == Scale::linear || from > 0, "logarithms are of what is above 0");
    std::vector<double> grid{from};
    if (search.step > 0 && (to - from) / search.step < static_cast<double>(count)) {
        for (double x = from + search.step; x <= to; x += search.step) grid.push_back(x);
        return grid;
    }
    const double low = coordinate(from, search.scale);
    const double high = coordinate(to, search.scale);
    const double each = (high - low) / static_cast<double>(count - 1);
    for (std::size_t i = 1; i + 1 < count; ++i) {
        const double exact = low + each * static_cast<double>(i);
        const double x = value_at(exact, search.scale);
        const double distance = x - value_at(exact - each, search.scale);
        const double value = to_step(rounded(x, distance), search);
        if (value > grid.back() && value < to) grid.push_back(value);
    }
    grid.push_back(to);
    return grid;
}

std::vector<double> with_powers_of_two(std::vector<double> grid) {
    const double from = grid.front();
    const double to = grid.back();
    for (double power = 1; power <= to; power *= 2)
        for (const double x : {power, power + 1})
            if (x >= from && x <= to) grid.push_back(x);
    std::ranges::sort(grid);
    grid.erase(std::ranges::unique(grid).begin(), grid.end());
    return grid;
}

Changes find_changes(const std::vector<double>& grid, const Sampler& sample, const Search& search) {
    PACELINE_CHECK(grid.size() >= 2 && std::ranges::is_sorted(grid), "a grid rises");
    PACELINE_CHECK(search.tolerance > 0 || search.step > 0, "bisection has an end");
    Changes found;
    add_samples(grid, sample, found.samples);
    const Halving halving(grid, search);
    while (true) {
        std::vector<double> values;
        for (std::size_t i = 0; i + 1 < found.samples.size(); ++i)
            if (const auto x = halving.value_between(found.samples[i], found.samples[i + 1]))
                values.push_back(*x);
        if (values.empty()) break;
        add_samples(values, sample, found.samples);
    }
    read_runs(search, found);
    found.closest = closest_of(found.samples);
    return found;
}

}  // namespace paceline
