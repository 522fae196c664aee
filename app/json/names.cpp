#include "app/json/names.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {

namespace {

// Returns the optimal string alignment distance, holding three rows at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> known) {
    std::string_view best;
    std::size_t least = 0;
    for (const std::string_view candidate : known) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance > (std::max(name.size(), candidate.size()) + 2) / 3) continue;
        if (!best.empty() && distance >= least) continue;
        best = candidate;
        least = distance;
    }
    return best;
}

std::string unknown_name(std::string_view name, std::string_view what,
                         std::span<const std::string_view> known) {
    const std::string_view meant = nearest(name.substr(0, 100), known);
    return fmt::format("\"{}\" is not {}; {}known: {}", name.substr(0, 100), what,
                       meant.empty() ? "" : fmt::format("did you mean \"{}\"? ", meant),
                       fmt::join(known, ", "));
}

Fault unknown(std::string_view name, std::string_view what,
              std::span<const std::string_view> known) {
    return {unknown_name(name, what, known), std::string(nearest(name.substr(0, 100), known))};
}

}  // namespace paceline
