#include "app/run/results.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
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
    bool where_known = false;  // tables in which no row has a value leave it out
};

// Returns the column of one quantile over the workers.
template <Quantiles WorkerSpread::* Of, double Quantiles::* At>
constexpr Column spread_column(std::string_view name) {
    return {name,
            [](const Metrics& m) -> std::optional<double> {
                if (!m.spread) return std::nullopt;
                return *m.spread.*Of.*At;
            },
            true};
}

// The numeric columns, which follow the names and the outcome of a point.
constexpr auto result_columns = std::to_array<Column>({
    {"devices", [](const Metrics& m) { return std::optional(double(m.devices)); }},
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
    {"epoch_time_s", [](const Metrics& m) { return m.epoch_time_s; }},
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
    {"rounds", [](const Metrics& m) { return m.rounds; }},
    {"bytes_sent_per_client_per_round",
     [](const Metrics& m) { return m.bytes_sent_per_client_per_round; }},
    {"bytes_received_per_client_per_round",
     [](const Metrics& m) { return m.bytes_received_per_client_per_round; }},
    {"deaths", [](const Metrics& m) { return m.deaths; }},
    {"away_share", [](const Metrics& m) { return m.away_share; }},
    {"checkpoint_share", [](const Metrics& m) { return m.checkpoint_share; }},
    {"undone_share", [](const Metrics& m) { return m.undone_share; }},
    {"total_sent_gb", [](const Metrics& m) { return m.total_sent_gb; }},
    {"total_received_gb", [](const Metrics& m) { return m.total_received_gb; }},
    {"cost", [](const Metrics& m) { return m.cost; }},
    {"sent_gb_to_target", [](const Metrics& m) { return m.sent_gb_to_target; }},
    {"memory_gb", [](const Metrics& m) { return m.memory_gb; }},
    {"algbw_gb_per_s", [](const Metrics& m) { return m.algbw_gb_per_s; }, true},
    {"busbw_gb_per_s", [](const Metrics& m) { return m.busbw_gb_per_s; }, true},
    {"slowdown", [](const Metrics& m) { return m.slowdown; }, true},
    spread_column<&WorkerSpread::sent_gb, &Quantiles::p10>("worker_sent_gb_p10"),
    spread_column<&WorkerSpread::sent_gb, &Quantiles::p50>("worker_sent_gb_p50"),
    spread_column<&WorkerSpread::sent_gb, &Quantiles::p90>("worker_sent_gb_p90"),
    spread_column<&WorkerSpread::sent_gb, &Quantiles::max>("worker_sent_gb_max"),
    spread_column<&WorkerSpread::received_gb, &Quantiles::p10>("worker_received_gb_p10"),
    spread_column<&WorkerSpread::received_gb, &Quantiles::p50>("worker_received_gb_p50"),
    spread_column<&WorkerSpread::received_gb, &Quantiles::p90>("worker_received_gb_p90"),
    spread_column<&WorkerSpread::received_gb, &Quantiles::max>("worker_received_gb_max"),
    spread_column<&WorkerSpread::computing_s, &Quantiles::p10>("worker_computing_s_p10"),
    spread_column<&WorkerSpread::computing_s, &Quantiles::p50>("worker_computing_s_p50"),
    spread_column<&WorkerSpread::computing_s, &Quantiles::p90>("worker_computing_s_p90"),
    spread_column<&WorkerSpread::computing_s, &Quantiles::max>("worker_computing_s_max"),
    spread_column<&WorkerSpread::transfer_s, &Quantiles::p10>("worker_transfer_s_p10"),
    spread_column<&WorkerSpread::transfer_s, &Quantiles::p50>("worker_transfer_s_p50"),
    spread_column<&WorkerSpread::transfer_s, &Quantiles::p90>("worker_transfer_s_p90"),
    spread_column<&WorkerSpread::transfer_s, &Quantiles::max>("worker_transfer_s_max"),
    {"activations_gb", [](const Metrics& m) { return m.activations_gb; }, true},
    {"memory_share", [](const Metrics& m) { return m.memory_share; }, true},
    {"tokens_per_s", [](const Metrics& m) { return m.tokens_per_s; }, true},
    {"mfu", [](const Metrics& m) { return m.mfu; }, true},
    {"parameters", [](const Metrics& m) { return m.parameters; }, true},
    {"flops_per_sample", [](const Metrics& m) { return m.flops_per_sample; }, true},
    {"device_hours", [](const Metrics& m) { return m.device_hours; }, true},
    {"energy_kwh", [](const Metrics& m) { return m.energy_kwh; }, true},
    {"cost_to_target", [](const Metrics& m) { return m.cost_to_target; }, true},
    {"energy_to_target_kwh", [](const Metrics& m) { return m.energy_to_target_kwh; }, true},
    {"goodput", [](const Metrics& m) { return m.goodput; }, true},
});

std::optional<double> value_in(std::span<const Column> columns, std::string_view name,
                               const Metrics& metrics) {
    const auto column = std::ranges::find(columns, name, &Column::name);
    PACELINE_CHECK(column != columns.end(), "only columns that are there have a value");
    return column->value(metrics);
}

// Columns that have an interval, with the names of its ends. Rates fall as times grow.
struct Bounded {
    std::string_view name;
    std::string_view low;
    std::string_view high;
    bool is_rate = false;
};
constexpr auto bounded_columns = std::to_array<Bounded>({
    {"sim_time_s", "sim_time_s_low", "sim_time_s_high"},
    {"step_time_s", "step_time_s_low", "step_time_s_high"},
    {"epoch_time_s", "epoch_time_s_low", "epoch_time_s_high"},
    {"time_to_target_s", "time_to_target_s_low", "time_to_target_s_high"},
    {"samples_per_s", "samples_per_s_low", "samples_per_s_high", true},
    {"speedup", "speedup_low", "speedup_high", true},
    {"efficiency", "efficiency_low", "efficiency_high", true},
    {"speedup_to_target", "speedup_to_target_low", "speedup_to_target_high", true},
    {"algbw_gb_per_s", "algbw_gb_per_s_low", "algbw_gb_per_s_high", true},
    {"busbw_gb_per_s", "busbw_gb_per_s_low", "busbw_gb_per_s_high", true},
    {"tokens_per_s", "tokens_per_s_low", "tokens_per_s_high", true},
    {"mfu", "mfu_low", "mfu_high", true},
});

Follows follows(const Bounded& column) {
    return column.is_rate ? Follows::rate : Follows::time;
}

// Returns an end of the interval of a column.
std::optional<double> end_of(const Bounded& column, bool is_high, const Metrics& m) {
    const std::optional<double> value =
        m.interval ? value_in(result_columns, column.name, m) : std::nullopt;
    if (!value) return std::nullopt;
    return at_end(*value, follows(column), {m.interval->low, m.interval->high}, is_high);
}

template <std::size_t I, bool IsHigh>
constexpr Column end_column() {
    return {IsHigh ? bounded_columns[I].high : bounded_columns[I].low,
            [](const Metrics& m) { return end_of(bounded_columns[I], IsHigh, m); }, true};
}

template <double TimeInterval::* Of>
constexpr Column interval_column(std::string_view name) {
    return {name,
            [](const Metrics& m) {
                return m.interval ? std::optional((*m.interval).*Of) : std::nullopt;
            },
            true};
}

// All numeric columns: the plain ones, and the ends of intervals with what they rest on.
constexpr auto all_columns = [] {
    constexpr std::size_t plain = result_columns.size();
    constexpr std::size_t bounded = bounded_columns.size();
    std::array<Column, plain + 2 * bounded + 3> all{};
    std::ranges::copy(result_columns, all.begin());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((all[plain + 2 * I] = end_column<I, false>(),
          all[plain + 2 * I + 1] = end_column<I, true>()),
         ...);
    }(std::make_index_sequence<bounded>());
    all[plain + 2 * bounded] = interval_column<&TimeInterval::hidden>("hidden_share");
    all[plain + 2 * bounded + 1] = interval_column<&TimeInterval::unstated>("unstated_costs");
    all[plain + 2 * bounded + 2] = interval_column<&TimeInterval::constants>("open_constants");
    return all;
}();

bool has_a_value(const RanPoints& ran, const Column& column) {
    for (const RanPoint& point : ran.points)
        for (std::size_t job = 0; job < point.jobs.size(); ++job)
            if (column.value(point.metrics(job))) return true;
    return false;
}

// Returns the columns of the tables of these points.
std::vector<Column> columns_of(const RanPoints& ran) {
    std::vector<Column> columns;
    for (const Column& column : all_columns)
        if (!column.where_known || has_a_value(ran, column)) columns.push_back(column);
    return columns;
}

bool has_a_column(const Axis& axis) {
    return std::ranges::find(axes_with_a_column, axis.path) != axes_with_a_column.end();
}

// Returns the names of a point on the axes that have no column of their own, except one axis.
std::vector<std::string> axis_fields(const std::vector<Axis>& axes,
                                     const std::vector<std::size_t>& choice, std::size_t without) {
    std::vector<std::string> names;
    for (std::size_t a = 0; a < axes.size(); ++a)
        if (a != without && !has_a_column(axes[a]))
            names.push_back(csv_field(axes[a].names[choice[a]]));
    return names;
}

std::vector<std::string> axis_headers(const std::vector<Axis>& axes, std::size_t without) {
    std::vector<std::string> paths;
    for (std::size_t a = 0; a < axes.size(); ++a)
        if (a != without && !has_a_column(axes[a])) paths.push_back(csv_field(axes[a].path));
    return paths;
}

}  // namespace

std::vector<std::string_view> column_names() {
    return names_of(all_columns);
}

std::optional<double> column_value(std::string_view name, const Metrics& metrics) {
    return value_in(all_columns, name, metrics);
}

Follows follows_of(std::string_view column) {
    for (const Bounded& bounded : bounded_columns)
        if (bounded.name == column) return follows(bounded);
    return Follows::nothing;
}

double at_end(double value, Follows follows, const RatioInterval& times, bool is_high) {
    if (follows == Follows::time) return value * (is_high ? times.high : times.low);
    return value / (is_high ? times.low : times.high);
}

std::vector<std::string> point_headers(const std::vector<Axis>& axes) {
    std::vector<std::string> header{"point"};
    std::ranges::move(axis_headers(axes, no_axis), std::back_inserter(header));
    for (const char* name : {"algorithm", "nodes"}) header.emplace_back(name);
    return header;
}

std::vector<std::string> point_fields(const std::vector<Axis>& axes, const PointName& point) {
    std::vector<std::string> fields{fmt::format("{}", point.number)};
    std::ranges::move(axis_fields(axes, point.choice, no_axis), std::back_inserter(fields));
    fields.push_back(csv_field(point.algorithm));
    fields.push_back(fmt::format("{}", point.nodes));
    return fields;
}

std::string results_csv(const RanPoints& ran) {
    std::vector<std::string> header{"point"};
    if (ran.several_jobs()) header.emplace_back("job");
    std::ranges::move(axis_headers(ran.axes, no_axis), std::back_inserter(header));
    for (const char* name : {"algorithm", "nodes", "outcome"}) header.emplace_back(name);
    const std::vector<Column> columns = columns_of(ran);
    for (const Column& column : columns) header.emplace_back(column.name);
    std::string text = csv_row(header);
    for (const RanPoint& point : ran.points)
        for (std::size_t job = 0; job < point.jobs.size(); ++job) {
            const Metrics& m = point.metrics(job);
            std::vector<std::string> row{fmt::format("{}", point.number)};
            if (ran.several_jobs()) row.push_back(csv_field(point.jobs[job].name));
            std::ranges::move(axis_fields(ran.axes, point.choice, no_axis),
                              std::back_inserter(row));
            row.push_back(csv_field(point.jobs[job].algorithm));
            row.push_back(fmt::format("{}", m.nodes));
            row.push_back(csv_field(m.outcome));
            for (const Column& column : columns) row.push_back(csv_field(column.value(m)));
            text += csv_row(row);
        }
    return text;
}

std::string timeline_csv(const RanPoints& ran) {
    std::vector<std::string> header = point_headers(ran.axes);
    for (const char* name :
         {"sim_time_s", "iteration", "epoch", "train_loss", "test_loss", "test_accuracy",
          "consensus_distance", "bytes_sent_per_node", "relative_error"})
        header.emplace_back(name);
    std::string text = csv_row(header);
    for (const RanPoint& point : ran.points) {
        const std::vector<std::string> names = point_fields(
            ran.axes,
            {point.number, point.choice, point.jobs.front().algorithm, point.metrics().nodes});
        const double per_epoch = point.steps_per_epoch;
        for (const Evaluation& e : point.metrics().timeline) {
            const std::optional<double> epoch =
                per_epoch > 0 ? std::optional(e.iteration / per_epoch) : std::nullopt;
            std::vector<std::string> row = names;
            for (const auto& value : std::initializer_list<std::optional<double>>{
                     e.sim_time_s, e.iteration, epoch, e.train_loss, e.test_loss, e.test_accuracy,
                     e.consensus_distance, e.bytes_sent_per_node, e.relative_error})
                row.push_back(csv_field(value));
            text += csv_row(row);
        }
    }
    return text;
}

namespace {

std::vector<std::string> summary_header(const RanPoints& ran, const std::vector<Column>& columns,
                                        std::size_t seed) {
    std::vector<std::string> header = axis_headers(ran.axes, seed);
    if (ran.several_jobs()) header.insert(header.begin(), "job");
    for (const char* name : {"algorithm", "nodes", "points"}) header.emplace_back(name);
    for (const Column& column : columns)
        for (const char* what : {"mean", "sd", "count"})
            header.push_back(fmt::format("{}_{}", column.name, what));
    return header;
}

std::string summary_row(const RanPoints& ran, const std::vector<Column>& columns,
                        const Seeds& seeds, std::size_t job, std::size_t seed) {
    const RanPoint& first = *seeds.front();
    std::vector<std::string> row = axis_fields(ran.axes, first.choice, seed);
    if (ran.several_jobs()) row.insert(row.begin(), csv_field(first.jobs[job].name));
    row.push_back(csv_field(first.jobs[job].algorithm));
    row.push_back(fmt::format("{}", first.metrics(job).nodes));
    row.push_back(fmt::format("{}", seeds.size()));
    for (const Column& column : columns) {
        std::vector<double> values;
        for (const RanPoint* point : seeds)
            if (job < point->jobs.size())
                if (const auto value = column.value(point->metrics(job))) values.push_back(*value);
        const OverSeeds over = over_seeds(values);
        row.push_back(over.count > 0 ? csv_field(over.mean) : "");
        row.push_back(csv_field(over.deviation));
        row.push_back(fmt::format("{}", over.count));
    }
    return csv_row(row);
}

}  // namespace

std::optional<std::string> summary_csv(const RanPoints& ran) {
    const std::size_t seed = ran.axis("seed");
    if (seed == no_axis) return std::nullopt;
    const std::vector<Column> columns = columns_of(ran);
    std::string text = csv_row(summary_header(ran, columns, seed));
    for (const Seeds& seeds : by_all_but_the_seed(ran))
        for (std::size_t job = 0; job < seeds.front()->jobs.size(); ++job)
            text += summary_row(ran, columns, seeds, job, seed);
    return text;
}

}  // namespace paceline
