#include "app/study/tracing.hpp"

#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/traces/chrome_trace.hpp"
#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "app/run/run_point.hpp"

namespace paceline {

namespace {

[[noreturn]] void refuse_trace(std::string_view option, const std::string& problem) {
    throw ConfigError("command line", option, problem);
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

struct EndsOfRange {
    std::string_view first;
    std::string_view last;
};

// Splits "A..B" into its ends.
std::optional<EndsOfRange> ends_of(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) return std::nullopt;
    return EndsOfRange{text.substr(0, dots), text.substr(dots + 2)};
}

Time time_of(std::string_view text, Time without) {
    if (text.empty()) return without;
    try {
        return Time{parse_duration(text)};
    } catch (const UnitError& error) {
        refuse_trace("--trace-time", error.what());
    }
}

void read_time(const std::string& text, TraceFilter& filter) {
    if (text.empty()) return;
    const auto ends = ends_of(text);
    if (!ends)
        refuse_trace(
            "--trace-time",
            fmt::format("\"{}\" is not a span of simulated time, such as 1.5s..2s, 10s.. or ..5ms",
                        one_line(text, 60)));
    filter.from = time_of(ends->first, Time{});
    filter.until = time_of(ends->last, never);
    if (filter.from > filter.until)
        refuse_trace("--trace-time",
                     fmt::format("\"{}\" ends before it begins", one_line(text, 60)));
}

struct Range {
    std::int64_t first;
    std::int64_t last;
};

// Reads "7" or "4..7", and where ends may be left open, "4.." and "..7".
std::optional<Range> range_of(std::string_view text, bool open) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto ends = ends_of(text);
    const std::string_view first_text = ends ? ends->first : text;
    const std::string_view last_text = ends ? ends->last : text;
    const auto first =
        first_text.empty() && open ? std::optional<std::int64_t>(0) : whole_number(first_text);
    const auto last = last_text.empty() && open ? std::optional(most) : whole_number(last_text);
    if (!first || !last || *first > *last) return std::nullopt;
    return Range{*first, *last};
}

void read_iterations(const std::string& text, TraceFilter& filter) {
    if (text.empty()) return;
    const auto range = range_of(text, true);
    if (!range)
        refuse_trace(
            "--trace-iterations",
            fmt::format("\"{}\" is not a range of iterations, counted from 0, such as 10..12",
                        one_line(text, 60)));
    filter.first_step = range->first;
    filter.last_step = range->last;
}

// Reads numbers below `count`, such as "0,1,4..7".
std::set<std::int64_t> read_numbers(std::string_view option, std::string_view text,
                                    std::string_view what, std::int64_t count) {
    std::set<std::int64_t> numbers;
    const std::string whole(text);
    while (true) {
        const std::size_t comma = text.find(',');
        const auto range = range_of(text.substr(0, comma), false);
        if (!range)
            refuse_trace(option, fmt::format("\"{}\" is not a list of {}, such as 0,1,4..7",
                                             one_line(whole, 60), what));
        if (range->last >= count)
            refuse_trace(
                option, fmt::format("there is no {} {}; {} are 0..{}",
                                    what.substr(0, what.size() - 1), range->last, what, count - 1));
        for (std::int64_t number = range->first; number <= range->last; ++number)
            numbers.insert(number);
        if (comma == std::string_view::npos) return numbers;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace

Tracing::Tracing(const Study& study, const TraceArguments& arguments) : study_(study) {
    filter_.limit = arguments.limit;
    read_time(arguments.time, filter_);
    read_iterations(arguments.iterations, filter_);
    choose_points(arguments.points);
    choose_nodes(arguments.nodes);
}

void Tracing::choose_points(const std::string& text) {
    const std::size_t points = study_.points.size();
    if (text.empty() && points > 1)
        refuse_trace("--trace",
                     fmt::format("the study has {} points; choose which to trace with "
                                 "--trace-points 0, --trace-points 0,3..5 or --trace-points all",
                                 points));
    if (text.empty() || text == "all") {
        for (std::size_t point = 0; point < points; ++point) points_.insert(point);
        return;
    }
    for (const std::int64_t point :
         read_numbers("--trace-points", text, "points", static_cast<std::int64_t>(points)))
        points_.insert(static_cast<std::size_t>(point));
}

void Tracing::choose_nodes(const std::string& text) {
    if (text.empty()) return;
    nodes_.emplace();
    for (const std::size_t point : points_) {
        const Scenario scenario = study_.points[point].scenario;
        const int nodes = scenario.cluster.nodes + scenario.algorithm.server_nodes;
        for (const std::int64_t node : read_numbers("--trace-nodes", text, "nodes", nodes))
            nodes_->insert(static_cast<int>(node));
    }
}

void Tracing::write_into(const std::filesystem::path& folder) {
    folder_ = folder / "traces";
    prepare_folder(folder_);
}

Metrics Tracing::run(std::size_t point, const Scenario& scenario, Progress* progress,
                     const Observer* also) {
    std::optional<TraceRecorder> recorder;
    Observer observer;
    // The recorder needs the machine, so create it before anything happens there.
    observer.begins = [&](const Machine& machine) {
        if (also != nullptr) notify(also->begins, machine);
        recorder.emplace(trace_machine(machine, nodes_), filter_);
        observer.network = recorder->network_observer();
        if (also != nullptr) observer.network = both(also->network, observer.network);
        observer.workers = recorder->worker_observer();
    };
    observer.ends = [&](const Cluster& cluster) {
        if (also != nullptr) notify(also->ends, cluster);
        recorder->finish();
    };
    Metrics metrics = run_point(scenario, progress, {}, &observer);
    if (metrics.outcome != "stopped") write(point, *recorder);
    return metrics;
}

void Tracing::write(std::size_t point, const TraceRecorder& record) {
    const Position what = study_.points.position(point);
    TraceFacts facts{{"simulated_by", "paceline"}, {"title", study_.title}};
    facts.emplace_back("point", fmt::format("{}", what.number));
    for (std::size_t axis = 0; axis < study_.axes.size(); ++axis)
        facts.emplace_back(study_.axes[axis].path, study_.axes[axis].names[what.choice[axis]]);
    if (record.cut_at())
        facts.emplace_back("cut", fmt::format("at {} us, by the limit of {} events",
                                              microseconds(*record.cut_at()), filter_.limit));
    const std::filesystem::path file = folder_ / fmt::format("point-{}.json", what.number);
    write_file_in_pieces(file,
                         [&](const TextSink& sink) { write_chrome_trace(record, facts, sink); });
    if (!record.cut_at()) return;
    const std::scoped_lock lock(mutex_);
    warnings_[point] = fmt::format(
        "{}: the trace ends at {} of simulated time: it has reached {} events; restrict it with "
        "--trace-time, --trace-nodes or --trace-iterations, or raise --trace-limit",
        file.string(), to_string(record.cut_at()->time_since_epoch()), filter_.limit);
}

std::vector<std::string> Tracing::warnings() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [point, text] : warnings_) all.push_back(text);
    return all;
}

}  // namespace paceline
