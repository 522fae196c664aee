#include "app/run/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/measures/csv.hpp"
#include "app/json/names.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Sweep axes that have a column already.
constexpr auto axes_with_a_column = std::to_array<std::string_view>({"algorithm", "cluster.nodes"});

struct Column {
    std::string_view name;
    std::optional<double> (*value)(const Metrics& m);
};

// The numeric columns, which follow the names and the outcome of a point.
constexpr auto result_columns = std::to_array<Column>({
    {"iterations", [](const Metrics& m) { return std::optional(m.iterations); }},
    {"epochs", [](const Metrics& m) { return m.epochs; }},
    {"sim_time_s", [](const Metrics& m) { return std::optional(m.sim_time_s); }},
    {"step_time_s", [](const Metrics& m) { return m.step_time_s; }},
    {"compute_s", [](const Metrics& m) { return m.compute_s; }},
    {"exposed_comm_s", [](const Metrics& m) { return m.exposed_comm_s; }},
    {"model_step_time_s", [](const Metrics& m) { return m.model_step_time_s; }},
    {"bytes_sent_per_node_per_step",
     [](const Metrics& m) { return m.bytes_sent_per_node_per_step; }},
    {"bytes_received_per_node_per_step",
     [](const Metrics& m) { return m.bytes_received_per_node_per_step; }},
    {"compression_ratio", [](const Metrics& m) { return m.compression_ratio; }},
    {"samples_per_s", [](const Metrics& m) { return m.samples_per_s; }},
    {"speedup", [](const Metrics& m) { return m.speedup; }},
    {"efficiency", [](const Metrics& m) { return m.efficiency; }},
    {"train_loss", [](const Metrics& m) { return m.train_loss; }},
    {"test_loss", [](const Metrics& m) { return m.test_loss; }},
    {"test_accuracy", [](const Metrics& m) { return m.test_accuracy; }},
    {"test_accuracy_local_mean", [](const Metrics& m) { return m.test_accuracy_local_mean; }},
    {"test_accuracy_local_min", [](const Metrics& m) { return m.test_accuracy_local_min; }},
    {"consensus_distance", [](const Metrics& m) { return m.consensus_distance; }},
    {"time_to_target_s", [](const Metrics& m) { return m.time_to_target_s; }},
    {"speedup_to_target", [](const Metrics& m) { return m.speedup_to_target; }},
    {"relative_error", [](const Metrics& m) { return m.relative_error; }},
    {"density", [](const Metrics& m) { return m.density; }},
    {"union_density", [](const Metrics& m) { return m.union_density; }},
    {"decode_failures", [](const Metrics& m) { return m.decode_failures; }},
    {"waiting_stragglers_share", [](const Metrics& m) { return m.waiting_stragglers_share; }},
    {"waiting_network_share", [](const Metrics& m) { return m.waiting_network_share; }},
    {"waiting_dead_share", [](const Metrics& m) { return m.waiting_dead_share; }},
    {"staleness", [](const Metrics& m) { return m.staleness; }},
    {"participation", [](const Metrics& m) { return m.participation; }},
    {"deaths", [](const Metrics& m) { return m.deaths; }},
    {"away_share", [](const Metrics& m) { return m.away_share; }},
    {"checkpoint_share", [](const Metrics& m) { return m.checkpoint_share; }},
    {"undone_share", [](const Metrics& m) { return m.undone_share; }},
    {"total_sent_gb", [](const Metrics& m) { return m.total_sent_gb; }},
    {"total_received_gb", [](const Metrics& m) { return m.total_received_gb; }},
    {"cost", [](const Metrics& m) { return m.cost; }},
    {"sent_gb_to_target", [](const Metrics& m) { return m.sent_gb_to_target; }},
});

// Jobs of a point are numbered: 0 is the main one, the other jobs follow.
std::size_t most_jobs(const Study& study) {
    std::size_t most = 1;
    for (const Point& point : study.points)
        most = std::max(most, 1 + point.scenario.other_jobs.size());
    return most;
}

bool has_job(const Point& point, std::size_t job) {
    return job <= point.scenario.other_jobs.size();
}

const Scenario& scenario_of(const Point& point, std::size_t job) {
    return job == 0 ? point.scenario : point.scenario.other_jobs[job - 1];
}

const Metrics& metrics_of(const PointResult& result, std::size_t job) {
    return job == 0 ? result.metrics : result.metrics.other_jobs[job - 1];
}

bool has_a_column(const Axis& axis) {
    return std::ranges::find(axes_with_a_column, axis.path) != axes_with_a_column.end();
}

// Returns the names of a point on the axes that have no column of their own, except one axis.
std::vector<std::string> axis_fields(const Study& study, const Point& point, std::size_t without) {
    std::vector<std::string> names;
    for (std::size_t a = 0; a < study.axes.size(); ++a)
        if (a != without && !has_a_column(study.axes[a]))
            names.push_back(csv_field(study.axes[a].names[point.choice[a]]));
    return names;
}

std::vector<std::string> axis_headers(const Study& study, std::size_t without) {
    std::vector<std::string> paths;
    for (std::size_t a = 0; a < study.axes.size(); ++a)
        if (a != without && !has_a_column(study.axes[a]))
            paths.push_back(csv_field(study.axes[a].path));
    return paths;
}

std::string cell(const std::optional<double>& number, std::string_view format) {
    return number ? fmt::format(fmt::runtime(format), *number) : "-";
}

// Returns what distinguishes a point on all axes except one (or none).
std::string description(const Study& study, const Point& point, std::size_t without) {
    std::string text;
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (i != without) text += (text.empty() ? "" : "  ") + study.axes[i].names[point.choice[i]];
    return text.empty() ? point.scenario.algorithm.label : text;
}

std::string rows_to_text(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line = fmt::format("{:<{}}", row[0], widths[0]);
        for (std::size_t i = 1; i < row.size(); ++i)
            line += fmt::format("  {:>{}}", row[i], widths[i]);
        text += line + "\n";
    }
    return text;
}

void add_learning_cells(const Metrics& m, std::vector<std::string>& row) {
    const std::optional<double> percent =
        m.test_accuracy ? std::optional(100 * *m.test_accuracy) : std::nullopt;
    std::optional<double> megabytes = m.bytes_sent_per_node_per_step;
    if (megabytes) *megabytes /= 1e6;
    for (std::string& text : std::vector{cell(megabytes, "{:.4g}"), cell(m.train_loss, "{:.5g}"),
                                         cell(m.test_loss, "{:.5g}"), cell(percent, "{:.2f}"),
                                         cell(m.time_to_target_s, "{:.6g}")})
        row.push_back(std::move(text));
}

std::string table_of_points(const Study& study, const std::vector<PointResult>& results) {
    const bool trains = study.points.front().scenario.training.has_value();
    std::vector<std::vector<std::string>> rows{
        {"", "nodes", "outcome", "simulated s", "step s", "closed form s", "speedup"}};
    if (trains)
        for (const char* name :
             {"MB sent/step", "train loss", "test loss", "accuracy %", "to target s"})
            rows.front().emplace_back(name);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        if (m.outcome.empty()) continue;  // not run
        const std::string what = description(study, study.points[i], study.axes.size());
        rows.push_back({study.points[i].scenario.other_jobs.empty() ? what : what + "  (main)",
                        fmt::format("{}", m.nodes), m.outcome, fmt::format("{:.6g}", m.sim_time_s),
                        cell(m.step_time_s, "{:.6g}"), cell(m.model_step_time_s, "{:.6g}"),
                        cell(m.speedup, "{:.2f}")});
        if (trains) add_learning_cells(m, rows.back());
        for (const Metrics& other : m.other_jobs)
            rows.push_back({fmt::format("{}  ({})", what, other.job),
                            fmt::format("{}", other.nodes), other.outcome,
                            fmt::format("{:.6g}", other.sim_time_s),
                            cell(other.step_time_s, "{:.6g}"), "-", cell(other.speedup, "{:.2f}")});
    }
    return rows_to_text(rows);
}

std::string table_by_nodes(const Study& study, const std::vector<PointResult>& results,
                           std::size_t nodes_axis) {
    const Axis& nodes = study.axes[nodes_axis];
    std::vector<std::vector<std::string>> rows{
        {nodes.path == "cluster.devices" ? "speedup at devices" : "speedup at nodes"}};
    rows[0].insert(rows[0].end(), nodes.names.begin(), nodes.names.end());
    std::vector<std::string> order;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].metrics.outcome.empty()) continue;  // not run
        const Point& point = study.points[i];
        const std::string line = description(study, point, nodes_axis);
        auto row = std::ranges::find(rows, line, [](const auto& r) { return r[0]; });
        if (row == rows.end()) {
            rows.emplace_back(1 + nodes.names.size(), "-");
            row = rows.end() - 1;
            row->front() = line;
        }
        const Metrics& m = results[i].metrics;
        (*row)[1 + point.choice[nodes_axis]] = m.failed() ? m.outcome : cell(m.speedup, "{:.2f}");
    }
    return rows_to_text(rows);
}

}  // namespace

std::vector<std::string_view> column_names() {
    return names_of(result_columns);
}

std::optional<double> column_value(std::string_view name, const Metrics& metrics) {
    const auto* const column = std::ranges::find(result_columns, name, &Column::name);
    PACELINE_CHECK(column != result_columns.end(), "only columns that are there have a value");
    return column->value(metrics);
}

std::string results_csv(const Study& study, const std::vector<PointResult>& results) {
    const std::size_t every_axis = study.axes.size();
    const std::size_t jobs = most_jobs(study);
    std::vector<std::string> header{"point"};
    if (jobs > 1) header.emplace_back("job");
    std::ranges::move(axis_headers(study, every_axis), std::back_inserter(header));
    for (const char* name : {"algorithm", "nodes", "outcome"}) header.emplace_back(name);
    for (const Column& column : result_columns) header.emplace_back(column.name);
    std::string text = csv_row(header);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Point& point = study.points[i];
        for (std::size_t job = 0; job < jobs && has_job(point, job); ++job) {
            const Metrics& m = metrics_of(results[i], job);
            std::vector<std::string> row{fmt::format("{}", point.number)};
            if (jobs > 1) row.push_back(csv_field(scenario_of(point, job).job));
            std::ranges::move(axis_fields(study, point, every_axis), std::back_inserter(row));
            row.push_back(csv_field(scenario_of(point, job).algorithm.label));
            row.push_back(fmt::format("{}", m.nodes));
            row.push_back(csv_field(m.outcome));
            for (const Column& column : result_columns) row.push_back(csv_field(column.value(m)));
            text += csv_row(row);
        }
    }
    return text;
}

std::string timeline_csv(const Study& study, const std::vector<PointResult>& results) {
    using Row = std::vector<std::string>;
    std::string text = csv_row(Row{"point", "sim_time_s", "iteration", "epoch", "train_loss",
                                   "test_loss", "test_accuracy", "consensus_distance",
                                   "bytes_sent_per_node", "relative_error"});
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double per_epoch = study.points[i].scenario.steps_per_epoch();
        for (const Evaluation& e : results[i].metrics.timeline) {
            const std::optional<double> epoch =
                per_epoch > 0 ? std::optional(e.iteration / per_epoch) : std::nullopt;
            text += csv_row(Row{fmt::format("{}", study.points[i].number), csv_field(e.sim_time_s),
                                csv_field(e.iteration), csv_field(epoch), csv_field(e.train_loss),
                                csv_field(e.test_loss), csv_field(e.test_accuracy),
                                csv_field(e.consensus_distance), csv_field(e.bytes_sent_per_node),
                                csv_field(e.relative_error)});
        }
    }
    return text;
}

namespace {

// Returns mean, standard deviation (of a sample: n - 1) and number of the available values.
std::vector<std::string> over_seeds(const std::vector<double>& values) {
    if (values.empty()) return {"", "", "0"};
    const auto n = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value / n;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {csv_field(mean), values.size() < 2 ? "" : csv_field(std::sqrt(squares / (n - 1))),
            fmt::format("{}", values.size())};
}

// Groups points that differ only in the seed, in the order of the first of each group.
std::vector<std::vector<std::size_t>> by_all_but(const Study& study, std::size_t axis) {
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (std::size_t i = 0; i < study.points.size(); ++i) {
        std::vector<std::size_t> others = study.points[i].choice;
        others[axis] = 0;
        const auto [found, is_new] = known.emplace(std::move(others), groups.size());
        if (is_new) groups.emplace_back();
        groups[found->second].push_back(i);
    }
    return groups;
}

}  // namespace

std::optional<std::string> summary_csv(const Study& study,
                                       const std::vector<PointResult>& results) {
    const auto seed = std::ranges::find(study.axes, "seed", &Axis::path);
    if (seed == study.axes.end()) return std::nullopt;
    const auto axis = static_cast<std::size_t>(seed - study.axes.begin());
    const std::size_t jobs = most_jobs(study);
    std::vector<std::string> header = axis_headers(study, axis);
    if (jobs > 1) header.insert(header.begin(), "job");
    for (const char* name : {"algorithm", "nodes", "points"}) header.emplace_back(name);
    for (const Column& column : result_columns)
        for (const char* what : {"mean", "sd", "count"})
            header.push_back(fmt::format("{}_{}", column.name, what));
    std::string text = csv_row(header);
    for (const std::vector<std::size_t>& group : by_all_but(study, axis)) {
        const Point& first = study.points[group.front()];
        for (std::size_t job = 0; job < jobs && has_job(first, job); ++job) {
            std::vector<std::string> row = axis_fields(study, first, axis);
            if (jobs > 1) row.insert(row.begin(), csv_field(scenario_of(first, job).job));
            row.push_back(csv_field(scenario_of(first, job).algorithm.label));
            row.push_back(fmt::format("{}", metrics_of(results[group.front()], job).nodes));
            row.push_back(fmt::format("{}", group.size()));
            for (const Column& column : result_columns) {
                std::vector<double> values;
                for (const std::size_t i : group)
                    if (const auto value = column.value(metrics_of(results[i], job)))
                        values.push_back(*value);
                std::ranges::move(over_seeds(values), std::back_inserter(row));
            }
            text += csv_row(row);
        }
    }
    return text;
}

std::string speedup_table(const Study& study, const std::vector<PointResult>& results) {
    const auto nodes = std::ranges::find_if(study.axes, [](const Axis& axis) {
        return axis.path == "cluster.nodes" || axis.path == "cluster.devices";
    });
    const bool any_speedup = std::ranges::any_of(
        results, [](const PointResult& result) { return result.metrics.speedup.has_value(); });
    std::string text = study.title.empty() ? "" : study.title + "\n\n";
    if (results.empty()) return text;
    const bool trains = study.points.front().scenario.training.has_value();
    if (nodes == study.axes.end() || !any_speedup || trains || most_jobs(study) > 1)
        return text + table_of_points(study, results);
    return text +
           table_by_nodes(study, results, static_cast<std::size_t>(nodes - study.axes.begin()));
}

}  // namespace paceline
