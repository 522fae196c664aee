#include "app/run/table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/json/printable.hpp"
#include "app/run/comparisons.hpp"
#include "app/run/results.hpp"
#include "app/run/text_table.hpp"

namespace paceline {

namespace {

using Row = TableRow;
using Value = std::optional<double> (*)(const Metrics& m);

struct NumberColumn {
    std::string_view name;
    Value value;
    std::string_view format;
    Follows follows = Follows::nothing;
};

// --- cells ---

// Returns the job's metrics of each seed.
std::vector<const Metrics*> metrics_of(const Seeds& seeds, std::size_t job) {
    std::vector<const Metrics*> all;
    for (const RanPoint* point : seeds)
        if (job < point->jobs.size()) all.push_back(&point->metrics(job));
    return all;
}

bool all_equal(std::span<const double> values) {
    return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

// Returns the ends of the column's interval, as means over the seeds; empty where one has none.
std::string range_of(std::span<const Metrics* const> seeds, const NumberColumn& column) {
    if (column.follows == Follows::nothing) return "";
    double low = 0;
    double high = 0;
    for (const Metrics* m : seeds) {
        const auto value = column.value(*m);
        if (!value || !m->interval) return "";
        const RatioInterval times{m->interval->low, m->interval->high};
        low += at_end(*value, column.follows, times, false);
        high += at_end(*value, column.follows, times, true);
    }
    if (low == high) return "";  // nothing is sent, so there is nothing to miss
    const auto count = static_cast<double>(seeds.size());
    const auto format = fmt::runtime(column.format);
    return fmt::format(" ({} to {})", fmt::format(format, low / count),
                       fmt::format(format, high / count));
}

// Returns mean, standard deviation, interval and, if it is less than that of seeds, count.
std::string cell(std::span<const Metrics* const> seeds, const NumberColumn& column) {
    std::vector<double> values;
    for (const Metrics* m : seeds)
        if (const auto value = column.value(*m)) values.push_back(*value);
    if (values.empty()) return "-";
    const bool same = all_equal(values);
    const OverSeeds over = over_seeds(values);
    std::string text = fmt::format(fmt::runtime(column.format), same ? values.front() : over.mean);
    if (!same) text += fmt::format(" ± {:.2g}", *over.deviation);
    text += range_of(seeds, column);
    if (values.size() < seeds.size()) text += fmt::format(" ({})", values.size());
    return text;
}

// Returns the outcome that all seeds have, or how many have each.
std::string outcomes(std::span<const Metrics* const> seeds) {
    std::map<std::string, int> counts;
    for (const Metrics* m : seeds) ++counts[m->outcome];
    if (counts.size() == 1) return counts.begin()->first;
    std::string text;
    for (const auto& [outcome, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome);
    return text;
}

std::optional<double> speedup(const Metrics& m) {
    return m.speedup;
}

std::optional<double> efficiency_percent(const Metrics& m) {
    if (!m.efficiency) return std::nullopt;
    return 100 * *m.efficiency;
}

bool has_devices(const RanPoints& ran) {
    return std::ranges::any_of(ran.points, [](const RanPoint& point) {
        return point.metrics().devices > point.metrics().nodes;
    });
}

// Says what a cell with seeds means; empty without several seeds.
std::string note_on_seeds(const RanPoints& ran) {
    const std::size_t seed = ran.axis("seed");
    if (seed == no_axis || ran.axes[seed].names.size() < 2) return "";
    return fmt::format(
        "\nmeans of {} seeds ± standard deviation, omitted if all are equal; (n): only n seeds "
        "have the value\n",
        ran.axes[seed].names.size());
}

// Says what a cell with an interval means; empty without one.
std::string note_on_intervals(const RanPoints& ran) {
    const bool any = std::ranges::any_of(
        ran.points, [](const RanPoint& point) { return point.metrics().interval.has_value(); });
    return any ? "\n(a to b): 90 % prediction interval (docs/trust.md)\n" : "";
}

// --- a line per point ---

constexpr auto time_columns = std::to_array<NumberColumn>({
    {"simulated s", [](const Metrics& m) { return std::optional(m.sim_time_s); }, "{:.6g}",
     Follows::time},
    {"step s", [](const Metrics& m) { return m.step_time_s; }, "{:.6g}", Follows::time},
    {"closed form s", [](const Metrics& m) { return m.model_step_time_s; }, "{:.6g}"},
    {"speedup", &speedup, "{:.2f}", Follows::rate},
    {"efficiency %", &efficiency_percent, "{:.1f}", Follows::rate},
});

constexpr auto learning_columns = std::to_array<NumberColumn>({
    {"MB sent/step",
     [](const Metrics& m) {
         return m.bytes_sent_per_node_per_step
                    ? std::optional(*m.bytes_sent_per_node_per_step / 1e6)
                    : std::nullopt;
     },
     "{:.4g}"},
    {"train loss", [](const Metrics& m) { return m.train_loss; }, "{:.5g}"},
    {"test loss", [](const Metrics& m) { return m.test_loss; }, "{:.5g}"},
    {"accuracy %",
     [](const Metrics& m) {
         return m.test_accuracy ? std::optional(100 * *m.test_accuracy) : std::nullopt;
     },
     "{:.2f}"},
    {"to target s", [](const Metrics& m) { return m.time_to_target_s; }, "{:.6g}", Follows::time},
});

// Returns the names of a line. Where there are several jobs, the algorithm has a column of its own,
// since an axis "algorithm" is that of the main job alone.
Row names_of(const RanPoints& ran, const RanPoint& point, std::size_t job) {
    const std::size_t algorithm = ran.axis("algorithm");
    const std::size_t seed = ran.axis("seed");
    const std::string& own = point.jobs[job].algorithm;
    if (!ran.several_jobs()) {
        const std::string what = description(ran, point, std::array{seed});
        return {what.empty() ? own : what};
    }
    std::string what = description(ran, point, std::array{seed, algorithm});
    if (job > 0 && algorithm != no_axis)
        what += fmt::format("{}alongside {}", what.empty() ? "" : "  ", point.jobs[0].algorithm);
    return {std::move(what), point.jobs[job].name, own};
}

Row header_of_points(const RanPoints& ran, bool with_devices) {
    Row header{""};
    if (ran.several_jobs()) header.insert(header.end(), {"job", "algorithm"});
    header.emplace_back("nodes");
    if (with_devices) header.emplace_back("devices");
    header.emplace_back("outcome");
    for (const NumberColumn& column : time_columns) header.emplace_back(column.name);
    if (ran.trains)
        for (const NumberColumn& column : learning_columns) header.emplace_back(column.name);
    return header;
}

std::string table_of_points(const RanPoints& ran) {
    const bool with_devices = has_devices(ran);
    std::vector<Row> rows{header_of_points(ran, with_devices)};
    for (const Seeds& seeds : by_all_but_the_seed(ran)) {
        const RanPoint& first = *seeds.front();
        for (std::size_t job = 0; job < first.jobs.size(); ++job) {
            const std::vector<const Metrics*> all = metrics_of(seeds, job);
            Row row = names_of(ran, first, job);
            row.push_back(fmt::format("{}", all.front()->nodes));
            if (with_devices) row.push_back(fmt::format("{}", all.front()->devices));
            row.push_back(outcomes(all));
            for (const NumberColumn& column : time_columns) row.push_back(cell(all, column));
            if (ran.trains)
                for (const NumberColumn& column : learning_columns)
                    row.push_back(cell(all, column));
            rows.push_back(std::move(row));
        }
    }
    return rows_to_text(rows, ran.several_jobs() ? 3 : 1);
}

// --- a column per number of nodes ---

// The groups of seeds by line and number of nodes. A missing one is empty.
struct ByNodes {
    std::vector<std::string> names;
    std::vector<std::vector<Seeds>> lines;
};

ByNodes by_nodes(const RanPoints& ran, std::size_t axis) {
    ByNodes by;
    std::map<std::string, std::size_t> known;
    std::vector<std::size_t> without{ran.axis("seed")};
    for (std::size_t a = 0; a < ran.axes.size(); ++a)  // those of a zip follow from the nodes
        if (a == axis || (ran.axes[a].zip && ran.axes[a].zip == ran.axes[axis].zip))
            without.push_back(a);
    for (Seeds& seeds : by_all_but_the_seed(ran)) {
        const RanPoint& first = *seeds.front();
        std::string name = description(ran, first, without);
        if (name.empty()) name = first.jobs.front().algorithm;
        const auto [found, is_new] = known.emplace(name, by.lines.size());
        if (is_new) {
            by.names.push_back(std::move(name));
            by.lines.emplace_back(ran.axes[axis].names.size());
        }
        by.lines[found->second][first.choice[axis]] = std::move(seeds);
    }
    return by;
}

std::string cell_by_nodes(const Seeds& seeds, const NumberColumn& column) {
    if (seeds.empty()) return "-";
    const std::vector<const Metrics*> all = metrics_of(seeds, 0);
    const bool has_no_step = std::ranges::any_of(
        all, [](const Metrics* m) { return m->failed() || m->ended_before_a_step(); });
    return has_no_step ? outcomes(all) : cell(all, column);
}

// Returns the nodes and devices of each column, "?" where lines differ.
Row counts_by_nodes(const ByNodes& by, std::size_t columns, int Metrics::* number) {
    Row row;
    for (std::size_t i = 0; i < columns; ++i) {
        std::string text;
        for (const std::vector<Seeds>& line : by.lines) {
            if (line[i].empty()) continue;
            const std::string here = fmt::format("{}", line[i].front()->metrics().*number);
            if (text.empty()) text = here;
            if (text != here) text = "?";
        }
        row.push_back(text.empty() ? "-" : text);
    }
    return row;
}

// Returns the line below the head that has what the axis does not show: devices, or nodes.
std::optional<Row> other_counts(const RanPoints& ran, const ByNodes& by, const Axis& axis) {
    if (!has_devices(ran)) return std::nullopt;
    const bool of_devices = axis.path == "cluster.devices";
    Row row =
        counts_by_nodes(by, axis.names.size(), of_devices ? &Metrics::nodes : &Metrics::devices);
    if (std::ranges::find(row, "?") != row.end()) return std::nullopt;
    row.insert(row.begin(), of_devices ? "  nodes" : "  devices");
    return row;
}

std::string table_by_nodes(const RanPoints& ran, std::size_t axis_number) {
    const Axis& axis = ran.axes[axis_number];
    const ByNodes by = by_nodes(ran, axis_number);
    const std::optional<Row> counts = other_counts(ran, by, axis);
    const std::string_view what = axis.path == "cluster.devices" ? "devices" : "nodes";
    std::string text;
    for (const NumberColumn& column :
         {NumberColumn{"speedup", &speedup, "{:.2f}", Follows::rate},
          NumberColumn{"efficiency %", &efficiency_percent, "{:.1f}", Follows::rate}}) {
        std::vector<Row> rows{{fmt::format("{} at {}", column.name, what)}};
        std::ranges::copy(axis.names, std::back_inserter(rows.front()));
        if (counts) rows.push_back(*counts);
        for (std::size_t i = 0; i < by.lines.size(); ++i) {
            Row& row = rows.emplace_back(Row{by.names[i]});
            for (const Seeds& seeds : by.lines[i]) row.push_back(cell_by_nodes(seeds, column));
        }
        text += (text.empty() ? "" : "\n") + rows_to_text(rows, 1);
    }
    return text;
}

}  // namespace

std::string speedup_table(const RanPoints& ran) {
    std::string text = ran.title.empty() ? "" : printable(ran.title) + "\n\n";
    if (ran.points.empty()) return text;
    const bool any_speedup = std::ranges::any_of(
        ran.points, [](const RanPoint& point) { return point.metrics().speedup.has_value(); });
    const std::size_t nodes = std::min(ran.axis("cluster.nodes"), ran.axis("cluster.devices"));
    const bool by_points = nodes == no_axis || !any_speedup || ran.trains || ran.several_jobs();
    text += by_points ? table_of_points(ran) : table_by_nodes(ran, nodes);
    return text + fastest_methods(ran) + note_on_seeds(ran) + note_on_intervals(ran);
}

std::string first_lines(std::string_view table, std::size_t most, std::string_view file) {
    std::size_t end = 0;
    for (std::size_t line = 0; line < most && end < table.size(); ++line)
        end = std::min(table.find('\n', end), table.size() - 1) + 1;
    const auto more = std::ranges::count(table.substr(end), '\n');
    std::string text(table.substr(0, end));
    if (more > 0) text += fmt::format("... and {} more lines in {}\n", more, file);
    return text;
}

}  // namespace paceline
