#include "app/questions/calibrate/calibration_text.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline {

namespace {

using Cells = std::vector<std::string>;

// Returns the rows of a table, each cell as wide as the widest of its column; the first column is
// aligned to the left.
std::string table(const std::vector<Cells>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const Cells& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const Cells& row : rows) {
        std::string line = fmt::format("{:<{}}", row.front(), widths.front());
        for (std::size_t i = 1; i < row.size(); ++i)
            line += fmt::format("  {:>{}}", row[i], widths[i]);
        text += line + "\n";
    }
    return text;
}

std::string error_text(double predicted, double measured) {
    const double percent = 100 * (predicted / measured - 1);
    return std::abs(percent) < 0.05 ? "0.0 %" : fmt::format("{:+.1f} %", percent);
}

std::string rows_text(const Calibration& calibration) {
    std::vector<Cells> rows{{"row", "column", "measured", "before", "error", "fitted", "error"}};
    for (const FittedRow& row : calibration.rows)
        rows.push_back({row.name, row.column, fmt::format("{:.4g}", row.measured),
                        row.before ? fmt::format("{:.4g}", *row.before) : "-",
                        row.before ? error_text(*row.before, row.measured) : "-",
                        fmt::format("{:.4g}", row.fitted), error_text(row.fitted, row.measured)});
    return table(rows);
}

std::string interval_text(const FittedConstant& constant) {
    const VariedQuantity& range = constant.range;
    const std::string low = range.shown(constant.low, 3);
    const std::string high = range.shown(constant.high, 3);
    if (constant.low_is_open && constant.high_is_open) return "anything in the range";
    if (constant.low_is_open) return fmt::format("at most {}", high);
    if (constant.high_is_open) return fmt::format("at least {}", low);
    return fmt::format("{} to {}", low, high);
}

std::string constants_text(const Calibration& calibration) {
    std::vector<Cells> rows{
        {"constant", "value", fmt::format("{:.0f} % interval", 100 * calibration.level), "range"}};
    for (const FittedConstant& constant : calibration.constants) {
        const VariedQuantity& range = constant.range;
        rows.push_back({range.path, range.shown(constant.value, 4), interval_text(constant),
                        fmt::format("{}..{}", range.spelled(range.from), range.spelled(range.to))});
    }
    return table(rows);
}

std::string noise_text(const Calibration& calibration) {
    if (calibration.noise_is_default)
        return fmt::format(
            "noise of a row: {:.3g} %, assumed (--noise): {} measured values and {} free constants "
            "do not determine it\n",
            100 * calibration.noise, calibration.rows.size(), calibration.constants.size());
    return fmt::format("noise of a row: {:.3g} %, from the residuals\n", 100 * calibration.noise);
}

std::string seconds_text(double seconds) {
    const VariedQuantity duration{"", QuantityKind::duration, 0, 0};
    return duration.shown(seconds * 1e12, 3);
}

std::string open_text(const OpenCombination& open) {
    std::vector<std::string> moves;
    for (const OpenCombination::Share& share : open.shares)
        moves.push_back(fmt::format("{} {:.2g} % {}", share.path, 100 * std::abs(share.factor - 1),
                                    share.factor > 1 ? "up" : "down"));
    std::string text = fmt::format(
        "left open: {} change{} {}\n", fmt::join(moves, " and "), moves.size() > 1 ? "" : "s",
        open.most_change < 1e-6
            ? "no row"
            : fmt::format("no row by more than {:.2g} %", 100 * open.most_change));
    if (open.next)
        text += fmt::format(
            "  {} would settle it (it takes {}; the cheapest of {} measurements considered)\n",
            open.next->what, seconds_text(open.next->seconds), open.tried);
    else
        text += fmt::format(
            "  none of the {} measurements considered would settle it; set {}\n", open.tried,
            open.shares.size() > 1 ? "all but one of these constants to known values"
                                   : "it to a known value");
    return text;
}

std::string misfits_text(const Calibration& calibration) {
    std::string text;
    for (const FittedRow& row : calibration.rows)
        if (row.is_misfit)
            text += fmt::format(
                "nothing explains {}, {}: it is off by {}, too far given the other rows\n",
                row.name, row.column, error_text(row.fitted, row.measured));
    return text;
}

}  // namespace

std::string calibration_text(const Calibration& calibration) {
    std::string text = rows_text(calibration) + "\n" + constants_text(calibration) + "\n" +
                       noise_text(calibration);
    for (const OpenCombination& open : calibration.open) text += open_text(open);
    text += misfits_text(calibration);
    for (const std::string& note : calibration.notes) text += note + "\n";
    return text;
}

}  // namespace paceline
