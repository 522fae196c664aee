#include "app/questions/calibrate/measured_rows.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/measures/csv.hpp"
#include "app/json/json_paths.hpp"
#include "app/json/names.hpp"
#include "app/json/schema.hpp"
#include "app/questions/calibrate/log_lines.hpp"
#include "app/run/results.hpp"
#include "app/scenario/study_faults.hpp"
#include "app/scenario/study_plan.hpp"

namespace paceline {

namespace {

// Columns of numbers that say which point it is, and not how it went.
constexpr auto no_measurements =
    std::to_array<std::string_view>({"devices", "iterations", "epochs", "sim_time_s"});

struct Heading {
    enum class Kind : std::uint8_t { measured, setting, axis, name } kind;
    std::string path;                   // of the setting or axis, or the column
    std::vector<std::string> labels{};  // of the axis
};

std::string place_of(std::size_t line, const std::string& heading) {
    return heading.empty() ? fmt::format("line {}", line)
                           : fmt::format("line {}, {}", line, heading);
}

[[noreturn]] void refuse(const MeasuredFile& file, std::size_t line, const std::string& heading,
                         Fault fault) {
    throw ConfigError(file.name, place_of(line, heading), std::move(fault));
}

bool is_end_of(std::string_view path, std::string_view end) {
    return path == end || (path.ends_with(end) && path.size() > end.size() &&
                           path[path.size() - end.size() - 1] == '.');
}

Heading read_heading(const MeasuredFile& file, std::size_t line, const std::string& text,
                     const std::vector<Axis>& axes) {
    using Kind = Heading::Kind;
    if (text == "name") return {Kind::name, text};
    for (const Axis& axis : axes)
        if (is_end_of(axis.path, text)) return {Kind::axis, axis.path, axis.names};
    std::vector<std::string_view> known = column_names();
    std::erase_if(known, [](std::string_view name) {
        return std::ranges::find(no_measurements, name) != no_measurements.end();
    });
    if (std::ranges::find(known, text) != known.end()) return {Kind::measured, text};
    const std::string path = text == "nodes" ? "cluster.nodes" : text;
    const Fault fault = path_fault(path);
    if (fault.problem.empty()) return {Kind::setting, path};
    if (text.find('.') != std::string::npos) refuse(file, line, text, fault);
    refuse(file, line, text,
           unknown(text, "a column of results.csv that is measured, nor a path of the scenario",
                   known));
}

// Returns the seconds of a duration with its unit, or 0 if the text is none.
double seconds_in(const std::string& text) {
    try {
        return to_seconds(parse_duration(text));
    } catch (const UnitError&) {
        return 0;
    }
}

// Returns a value that is above 0: a number, or a duration where the column is of seconds.
double measured_value(const MeasuredFile& file, std::size_t line, const std::string& column,
                      const std::string& text) {
    if (const auto number = positive_in(text)) return *number;
    if (column.ends_with("_s"))
        if (const double seconds = seconds_in(text); seconds > 0) return seconds;
    refuse(file, line, column,
           Fault{fmt::format(
               "\"{}\" is not a number above 0{}; leave it empty where nothing was measured",
               one_line(text, 60), column.ends_with("_s") ? " or a duration, such as 4s" : "")});
}

bool is_blank(const std::vector<std::string>& row) {
    return std::ranges::all_of(row, [](const std::string& field) { return field.empty(); });
}

void take_field(const MeasuredFile& file, std::size_t line, const Heading& heading,
                const std::string& field, MeasuredRow& row) {
    switch (heading.kind) {
        case Heading::Kind::name:
            row.name = field;
            return;
        case Heading::Kind::measured:
            row.values.push_back({heading.path, measured_value(file, line, heading.path, field)});
            return;
        case Heading::Kind::axis:
            if (std::ranges::find(heading.labels, field) != heading.labels.end()) {
                row.picks.push_back(fmt::format("{}={}", heading.path, field));
                return;
            }
            [[fallthrough]];
        case Heading::Kind::setting:
            row.settings.push_back(fmt::format("{}={}", heading.path, field));
    }
}

std::vector<MeasuredRow> read_table(const MeasuredFile& file, const MeasuredScenario& about,
                                    const std::vector<Axis>& axes) {
    std::vector<Heading> headings;
    std::vector<MeasuredRow> rows;
    std::size_t line = 0;
    std::string_view text = file.text;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    for (std::vector<std::string>& fields : csv_rows(text)) {
        ++line;
        for (std::string& field : fields) field = without_blanks(field);
        if (is_blank(fields) || fields.front().starts_with('#')) continue;
        if (headings.empty()) {
            for (const std::string& field : fields)
                headings.push_back(read_heading(file, line, field, axes));
            continue;
        }
        if (fields.size() != headings.size())
            refuse(file, line, "",
                   Fault{fmt::format("has {} fields, and the header has {}", fields.size(),
                                     headings.size())});
        MeasuredRow row{fmt::format("{}, line {}", file.name, line), about.scenario, about.settings,
                        about.picks};
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (!fields[i].empty()) take_field(file, line, headings[i], fields[i], row);
        if (row.values.empty())
            refuse(file, line, "", Fault{"measures nothing; every column of results.csv is empty"});
        rows.push_back(std::move(row));
    }
    if (std::ranges::none_of(headings,
                             [](const Heading& h) { return h.kind == Heading::Kind::measured; }))
        throw ConfigError(file.name, "",
                          "measures nothing; name a column of results.csv in its header, such as "
                          "step_time_s, or give the output of nccl-tests, OSU, iperf3 --json or a "
                          "trace of torch.profiler");
    if (rows.empty()) throw ConfigError(file.name, "", "has a header and no rows");
    return rows;
}

std::vector<MeasuredRow> rows_of(const MeasuredCollectives& measured,
                                 const MeasuredScenario& about) {
    const Json base = base_of(about);
    std::vector<MeasuredRow> rows;
    for (const MeasuredCollective& one : measured.rows)
        rows.push_back(
            {fmt::format("{}: {} of {}", one.where, one.operation, to_string(Bytes{one.bytes})),
             {about.scenario.file, collective_scenario(base, one).dump(), about.scenario.sources},
             {},
             {},
             {{"step_time_s", one.seconds}},
             true});
    return rows;
}

}  // namespace

std::vector<MeasuredRow> read_measured_rows(const MeasuredFile& file, const MeasuredScenario& about,
                                            std::vector<std::string>& notes) {
    if (const auto collectives = read_measured_collectives(file.name, file.text)) {
        for (const std::string& line : collectives->left_out)
            notes.push_back(fmt::format("{}, {}", file.name, line));
        return rows_of(*collectives, about);
    }
    PlanFaults wrong;
    const StudyPlan plan = make_study_plan(about.scenario, about.settings, about.picks, wrong);
    refuse_if_wrong(plan, wrong);
    return read_table(file, about, plan.sweep.shown_axes());
}

}  // namespace paceline
