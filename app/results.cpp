#include "app/results.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "analysis/csv.hpp"
#include "app/version.hpp"

namespace paceline {

namespace {

// Columns that a sweep axis would only repeat.
constexpr std::array<std::string_view, 2> axes_with_a_column{"algorithm", "cluster.nodes"};

constexpr std::array<std::string_view, 24> columns{"algorithm",
                                                   "nodes",
                                                   "outcome",
                                                   "iterations",
                                                   "epochs",
                                                   "sim_time_s",
                                                   "step_time_s",
                                                   "compute_s",
                                                   "exposed_comm_s",
                                                   "model_step_time_s",
                                                   "bytes_sent_per_node_per_step",
                                                   "bytes_received_per_node_per_step",
                                                   "compression_ratio",
                                                   "samples_per_s",
                                                   "speedup",
                                                   "efficiency",
                                                   "train_loss",
                                                   "test_loss",
                                                   "test_accuracy",
                                                   "test_accuracy_local_mean",
                                                   "test_accuracy_local_min",
                                                   "consensus_distance",
                                                   "time_to_target_s",
                                                   "speedup_to_target"};

bool has_a_column(const Axis& axis) {
    return std::ranges::find(axes_with_a_column, axis.path) != axes_with_a_column.end();
}

std::vector<std::string> fields(const std::string& algorithm, const Metrics& m) {
    return {csv_field(algorithm),
            fmt::format("{}", m.nodes),
            csv_field(m.outcome),
            csv_field(m.iterations),
            csv_field(m.epochs),
            csv_field(m.sim_time_s),
            csv_field(m.step_time_s),
            csv_field(m.compute_s),
            csv_field(m.exposed_comm_s),
            csv_field(m.model_step_time_s),
            csv_field(m.bytes_sent_per_node_per_step),
            csv_field(m.bytes_received_per_node_per_step),
            csv_field(m.compression_ratio),
            csv_field(m.samples_per_s),
            csv_field(m.speedup),
            csv_field(m.efficiency)};
}

std::string cell(const std::optional<double>& number, std::string_view format) {
    return number ? fmt::format(fmt::runtime(format), *number) : "-";
}

// What distinguishes a point on all axes but one (or none).
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

std::string table_of_points(const Study& study, const std::vector<PointResult>& results) {
    std::vector<std::vector<std::string>> rows{
        {"", "nodes", "outcome", "simulated s", "step s", "closed form s", "speedup"}};
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        rows.push_back({description(study, study.points[i], study.axes.size()),
                        fmt::format("{}", m.nodes), m.outcome, fmt::format("{:.6g}", m.sim_time_s),
                        cell(m.step_time_s, "{:.6g}"), cell(m.model_step_time_s, "{:.6g}"),
                        cell(m.speedup, "{:.2f}")});
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

std::string results_csv(const Study& study, const std::vector<PointResult>& results) {
    std::vector<std::string> header{"point"};
    for (const Axis& axis : study.axes)
        if (!has_a_column(axis)) header.push_back(csv_field(axis.path));
    for (const std::string_view column : columns) header.emplace_back(column);
    std::string text = csv_row(header);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Point& point = study.points[i];
        std::vector<std::string> row{fmt::format("{}", i)};
        for (std::size_t a = 0; a < study.axes.size(); ++a)
            if (!has_a_column(study.axes[a]))
                row.push_back(csv_field(study.axes[a].names[point.choice[a]]));
        for (std::string& field : fields(point.scenario.algorithm.label, results[i].metrics))
            row.push_back(std::move(field));
        row.resize(header.size());  // what only learning fills stays empty
        text += csv_row(row);
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
    if (nodes == study.axes.end() || !any_speedup) return text + table_of_points(study, results);
    return text +
           table_by_nodes(study, results, static_cast<std::size_t>(nodes - study.axes.begin()));
}

std::string manifest_json(const Study& study, const std::vector<PointResult>& results,
                          const RunInfo& info) {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    Json json;
    json["program"] = "paceline";
    json["version"] = version;
    json["scenario"] = study.file;
    json["title"] = study.title;
    json["jobs"] = info.jobs;
    json["wall_clock_s"] = info.wall_clock_s;
    json["peak_memory_bytes"] = std::int64_t{usage.ru_maxrss} * 1024;
    json["points"] = Json::array();
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Metrics& m = results[i].metrics;
        Json point;
        point["point"] = i;
        point["outcome"] = m.outcome;
        if (!m.outcome_details.empty()) point["details"] = m.outcome_details;
        point["seed"] = study.points[i].scenario.seed;
        point["wall_clock_s"] = results[i].wall_clock_s;
        point["events"] = m.events;
        point["scenario"] = Json::parse(study.points[i].resolved);
        json["points"].push_back(std::move(point));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline
