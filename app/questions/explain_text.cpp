#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/object_reader.hpp"
#include "app/json/printable.hpp"
#include "app/questions/explain.hpp"

namespace paceline {

namespace {

// Parts that always appear on the page. The others appear only if they exist.
constexpr auto always = std::to_array<Obstacle>(
    {Obstacle::compute, Obstacle::latency, Obstacle::serialization, Obstacle::unlike_nodes});

double seconds_of(const Explanation& e, Obstacle what) {
    for (const Part& part : e.parts)
        if (part.what == what) return part.seconds;
    return 0;
}

// Returns the parts in the order of the page: the work first, the obstacles below.
std::vector<Part> parts_in_order(const Explanation& e) {
    constexpr auto order = std::to_array<Obstacle>(
        {Obstacle::compute, Obstacle::coding, Obstacle::idle, Obstacle::not_attributed,
         Obstacle::serialization, Obstacle::buses, Obstacle::servers, Obstacle::core,
         Obstacle::latency, Obstacle::library, Obstacle::protocol, Obstacle::unsteady_links,
         Obstacle::unlike_nodes, Obstacle::failures, Obstacle::other_traffic});
    std::vector<Part> parts;
    for (const Obstacle what : order) {
        const bool there = std::ranges::find(e.parts, what, &Part::what) != e.parts.end();
        if (there || std::ranges::find(always, what) != always.end())
            parts.push_back({what, seconds_of(e, what)});
    }
    return parts;
}

// --- numbers for people ---

struct Unit {
    std::string_view name;
    double seconds;
};

Unit unit_for(double seconds) {
    if (seconds >= 10) return {"s", 1};
    if (seconds >= 10e-3) return {"ms", 1e-3};
    if (seconds >= 10e-6) return {"us", 1e-6};
    return {"ns", 1e-9};
}

// Formats without a minus sign before zero.
std::string fixed(double value, int digits) {
    std::string text = fmt::format("{:.{}f}", value, digits);
    if (text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-'))
        text.erase(0, 1);
    return text;
}

std::string in_unit(double seconds, const Unit& unit) {
    return fixed(seconds / unit.seconds, 3);
}

std::string with_unit(double seconds) {
    const Unit unit = unit_for(std::abs(seconds));
    return fmt::format("{:.4g} {}", seconds / unit.seconds, unit.name);
}

std::string percent(double share) {
    return fixed(100 * share, 1);
}

std::string change(double now, double before) {
    if (before == 0) return "-";
    const double share = now / before - 1;
    const std::string text = percent(share);
    return (text.starts_with('-') ? "" : "+") + text + " %";
}

std::string or_dash(const std::optional<double>& value, std::string_view format, double scale = 1) {
    return value ? fmt::format(fmt::runtime(format), *value * scale) : "-";
}

using TextRow = std::vector<std::string>;

// Aligns the columns named in `left` to the left and the others to the right.
std::string laid_out(const std::vector<TextRow>& rows, const std::vector<std::size_t>& left = {0}) {
    std::vector<std::size_t> widths;
    for (const TextRow& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const TextRow& row : rows) {
        std::string line = " ";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool to_left = std::ranges::find(left, i) != left.end();
            line += to_left ? fmt::format(" {:<{}}", row[i], widths[i] + 1)
                            : fmt::format(" {:>{}} ", row[i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string bar(double share) {
    constexpr double width = 40;
    return std::string(static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * width)),
                       '#');
}

double times_as_fast(const Explanation& e, const WhatNext& next) {
    const double now_s = next.run->step_time_s.value_or(0);
    return now_s > 0 ? e.ladder.front().step_s / now_s : 0;
}

// --- the sections of the page ---

std::string head(const Explanation& e) {
    std::string text = e.file;
    if (e.points > 1) text += fmt::format(", point {} (of 0 to {})", e.point, e.points - 1);
    text += "\n";
    if (!e.title.empty()) text += printable(e.title) + "\n";
    for (const auto& [axis, name] : e.choice)
        text += fmt::format("  {} = {}\n", axis, printable(name));
    text += fmt::format("\n{} on {}, {} {} {} {}", printable(e.algorithm), printable(e.workload),
                        e.nodes, e.nodes == 1 ? "node" : "nodes",
                        e.fabric == "regions" ? "in" : "on a", e.fabric);
    if (e.workers != e.nodes) text += fmt::format(", {} devices", e.workers);
    if (e.time_limit_s)
        text += fmt::format("; a run ends at {}", with_unit(*e.time_limit_s));
    else if (e.steps)
        text += fmt::format("; mean of {} {}", *e.steps, *e.steps == 1 ? "step" : "steps");
    return text + "\n";
}

std::string notes_text(const Explanation& e) {
    std::string text;
    for (const std::string& note : e.notes) text += fmt::format("note: {}\n", note);
    return text;
}

std::string parts_text(const Explanation& e) {
    const double step_s = e.ladder.front().step_s;
    const Unit unit = unit_for(step_s);
    std::vector<TextRow> rows{{"where a step's time goes", std::string(unit.name), "%"}};
    for (const Part& part : parts_in_order(e)) {
        const double share = step_s > 0 ? part.seconds / step_s : 0;
        rows.push_back({fmt::format("  {}", naming_of(part.what).name), in_unit(part.seconds, unit),
                        percent(share), bar(share)});
    }
    rows.push_back({"  a step", in_unit(step_s, unit), percent(step_s > 0 ? 1 : 0)});
    if (!e.overlap) {
        rows.push_back({"saved by overlap", "-", "-"});
        return laid_out(rows, {0, 3});
    }
    rows.push_back({"saved by overlap", in_unit(e.overlap->won_s, unit),
                    percent(step_s > 0 ? e.overlap->won_s / step_s : 0)});
    return laid_out(rows, {0, 3}) +
           fmt::format("    communication alone takes {}, compute alone {}\n",
                       with_unit(e.overlap->communication_s), with_unit(e.overlap->compute_s));
}

// Whose bytes fill the most used link of each kind, if several jobs send.
std::string by_job_text(const Explanation& e) {
    std::string text;
    for (const LinkKind& kind : e.kinds) {
        std::vector<std::string> shares;
        for (const auto& [job, share] : kind.busiest.by_job)
            shares.push_back(fmt::format("{} {} %", printable(job), percent(share)));
        if (!shares.empty())
            text +=
                fmt::format("    bytes of {}: {}\n", kind.busiest.name, fmt::join(shares, ", "));
    }
    return text;
}

std::string links_text(const Explanation& e) {
    if (e.kinds.empty()) return "links: nothing is sent\n";
    std::vector<TextRow> rows{
        {"links", "number", "busy %", "used %", "the most used", "busy %", "used %", "MB/step"}};
    for (const LinkKind& kind : e.kinds)
        rows.push_back({"  " + kind.kind, fmt::format("{}", kind.links), percent(kind.mean_busy),
                        percent(kind.mean_used), kind.busiest.name, percent(kind.busiest.busy),
                        percent(kind.busiest.used),
                        fmt::format("{:.4g}", kind.busiest.bytes_per_step * 1e-6)});
    const LinkLoad& most = e.most_loaded.front();
    constexpr double much = 0.25;
    return laid_out(rows, {0, 4}) + by_job_text(e) +
           (most.used >= much ? fmt::format("    bottleneck: {}, used {} % of the time\n",
                                            most.name, percent(most.used))
                              : fmt::format("    no link is used more than {} % of the time\n",
                                            percent(most.used)));
}

std::string check_text(const Explanation& e) {
    const ClosedFormCheck& check = e.check;
    if (!check.model_s) return "closed form: none is known for this point\n";
    const double step_s = e.ladder.front().step_s;
    const Unit unit = unit_for(step_s);
    const double difference = step_s - *check.model_s;
    std::vector<TextRow> rows{
        {"compared with the closed form", std::string(unit.name), "relative"}};
    rows.push_back({"  simulated", in_unit(step_s, unit)});
    rows.push_back({check.of_a_star ? "  closed form, idle star" : "  closed form, idle network",
                    in_unit(*check.model_s, unit)});
    rows.push_back({"  difference", in_unit(difference, unit), change(step_s, *check.model_s)});
    if (std::abs(difference) <= equal_to_closed_form * step_s)
        return laid_out(rows) + fmt::format("    equal: the relative difference is {:.1g}\n",
                                            std::abs(difference) / step_s);
    for (const Part& cause : check.causes)
        rows.push_back({fmt::format("    {}", naming_of(cause.what).name),
                        in_unit(cause.seconds, unit),
                        change(*check.model_s + cause.seconds, *check.model_s)});
    rows.push_back({"    the rest", in_unit(check.rest_s, unit),
                    change(*check.model_s + check.rest_s, *check.model_s)});
    std::string text = laid_out(rows);
    for (const std::string& reason : check.about_rest)
        text += fmt::format("    the rest: {}\n", reason);
    return text;
}

// Returns the speedup over one node as it is now. Otherwise a faster device would make the cluster
// look slower.
std::optional<double> speedup_over_now(const Explanation& e, const WhatNext& next) {
    if (next.key != "compute_halved") return next.run->speedup;
    if (!e.as_is.speedup) return std::nullopt;
    return *e.as_is.speedup * times_as_fast(e, next);
}

TextRow next_row(const Explanation& e, const WhatNext& next, const Unit& unit) {
    const double before_s = e.ladder.front().step_s;
    const double now_s = next.run->step_time_s.value_or(0);
    const auto samples = next.run->samples_per_s;
    const bool own_device = next.key != "compute_halved";
    return {"  " + next.name,
            in_unit(now_s, unit),
            change(now_s, before_s),
            or_dash(samples, "{:.5g}"),
            samples ? change(*samples, e.as_is.samples_per_s.value_or(0)) : "-",
            or_dash(speedup_over_now(e, next), "{:.2f}"),
            own_device ? or_dash(next.run->efficiency, "{:.1f}", 100) : "-"};
}

std::string next_text(const Explanation& e) {
    const Unit unit = unit_for(e.ladder.front().step_s);
    std::vector<TextRow> rows{{"what next", fmt::format("{}/step", unit.name), "change",
                               "samples/s", "change", "speedup", "efficiency %"}};
    rows.push_back(next_row(e, {"as_is", "as it is", e.as_is, {}}, unit));
    rows.back()[2] = rows.back()[4] = "";
    std::string refusals;
    for (const WhatNext& next : e.next) {
        if (!next.run)
            refusals += fmt::format("    {}: {}\n", next.name, next.why_not);
        else if (next.run->failed())
            refusals += fmt::format("    {}: ends as \"{}\"\n", next.name, next.run->outcome);
        else
            rows.push_back(next_row(e, next, unit));
    }
    if (!e.as_is.samples_per_s)
        for (TextRow& row : rows) row.erase(row.begin() + 3, row.begin() + 5);
    return laid_out(rows) + refusals;
}

std::string figures_text(const Explanation& e) {
    const Metrics& m = e.as_is;
    std::vector<TextRow> rows{{"figures", ""}};
    if (m.interval && m.step_time_s)
        rows.push_back({"  step, 90 % prediction interval (docs/trust.md)",
                        fmt::format("{} to {}", with_unit(*m.step_time_s * m.interval->low),
                                    with_unit(*m.step_time_s * m.interval->high))});
    const auto add = [&rows](std::string_view name, const std::optional<double>& value,
                             std::string_view format, double scale) {
        if (value) rows.push_back({fmt::format("  {}", name), or_dash(value, format, scale)});
    };
    add("sent per node and step, MB", m.bytes_sent_per_node_per_step, "{:.4g}", 1e-6);
    add("compression ratio", m.compression_ratio, "{:.4g}", 1);
    std::optional<double> share;
    if (m.compute_s && m.step_time_s && *m.step_time_s > 0) share = *m.compute_s / *m.step_time_s;
    add("computing, % of a worker's time", share, "{:.1f}", 100);
    add("waiting for stragglers, %", m.waiting_stragglers_share, "{:.1f}", 100);
    add("waiting for the network, %", m.waiting_network_share, "{:.1f}", 100);
    add("tokens per second", m.tokens_per_s, "{:.5g}", 1);
    add("model FLOPs utilization, %", m.mfu, "{:.1f}", 100);
    const double hours = m.sim_time_s / 3600;
    if (hours > 0) {
        add("power, kW", m.energy_kwh, "{:.4g}", 1 / hours);
        add("cost per hour", m.cost, "{:.4g}", 1 / hours);
    }
    return laid_out(rows);
}

std::int64_t all_of(const MemoryOfDevice& memory) {
    std::int64_t all = 0;
    for (const auto& [name, bytes] : memory.parts) all += bytes.count;
    return all;
}

bool has_activations(const MemoryOfDevice& memory) {
    return std::ranges::any_of(memory.parts,
                               [](const auto& part) { return part.first == "activations"; });
}

// What takes the memory of a device, where it can be compared with what the device has, or where
// activations are known.
std::string memory_text(const Explanation& e) {
    const MemoryOfDevice& memory = e.memory;
    const bool is_asked = memory.device || has_activations(memory);
    if (memory.parts.empty() || !is_asked) return "";
    const auto gigabytes_of = [](std::int64_t bytes) {
        return fmt::format("{:.3f}", static_cast<double>(bytes) * 1e-9);
    };
    const auto all = static_cast<double>(all_of(memory));
    std::vector<TextRow> rows{{"memory per device", "GB", "%"}};
    for (const auto& [name, bytes] : memory.parts)
        rows.push_back({fmt::format("  {}", name), gigabytes_of(bytes.count),
                        percent(static_cast<double>(bytes.count) / all)});
    rows.push_back({"  all", gigabytes_of(all_of(memory)), percent(1)});
    std::string text = "\n" + laid_out(rows);
    if (memory.device)
        text += fmt::format("    {:.1f} % of its {:.4g} GB\n",
                            100 * all / static_cast<double>(memory.device->count),
                            static_cast<double>(memory.device->count) * 1e-9);
    if (!has_activations(memory))
        text += "    without activations; set \"workload.recompute\" to count them\n";
    return text;
}

// --- JSON ---

Json memory_json(const MemoryOfDevice& memory) {
    if (memory.parts.empty()) return {};
    Json json{{"parts_bytes", Json::object()}, {"bytes", all_of(memory)}};
    for (const auto& [name, bytes] : memory.parts)
        json["parts_bytes"][std::string(name)] = bytes.count;
    if (memory.device) json["device_bytes"] = memory.device->count;
    return json;
}

Json number_or_null(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json load_json(const LinkLoad& load) {
    Json json{{"name", load.name},
              {"link", load.number},
              {"busy_share", load.busy},
              {"used_share", load.used},
              {"bytes_per_step", load.bytes_per_step}};
    for (const auto& [job, share] : load.by_job) json["jobs"][job] = share;
    return json;
}

Json links_json(const Explanation& e) {
    Json links{{"kinds", Json::array()}, {"most_used", Json::array()}};
    for (const LinkKind& kind : e.kinds)
        links["kinds"].push_back({{"kind", kind.kind},
                                  {"links", kind.links},
                                  {"mean_busy_share", kind.mean_busy},
                                  {"mean_used_share", kind.mean_used},
                                  {"most_used", load_json(kind.busiest)}});
    for (const LinkLoad& load : e.most_loaded) links["most_used"].push_back(load_json(load));
    return links;
}

Json figures_json(const Metrics& m) {
    Json json{{"step_time_s", number_or_null(m.step_time_s)},
              {"compute_s", number_or_null(m.compute_s)},
              {"samples_per_s", number_or_null(m.samples_per_s)},
              {"speedup", number_or_null(m.speedup)},
              {"efficiency", number_or_null(m.efficiency)},
              {"bytes_sent_per_node_per_step", number_or_null(m.bytes_sent_per_node_per_step)},
              {"compression_ratio", number_or_null(m.compression_ratio)},
              {"tokens_per_s", number_or_null(m.tokens_per_s)},
              {"mfu", number_or_null(m.mfu)},
              {"device_hours", number_or_null(m.device_hours)},
              {"energy_kwh", number_or_null(m.energy_kwh)},
              {"cost", number_or_null(m.cost)},
              {"waiting_stragglers_share", number_or_null(m.waiting_stragglers_share)},
              {"waiting_network_share", number_or_null(m.waiting_network_share)},
              {"outcome", m.outcome}};
    if (m.interval && m.step_time_s) {
        json["step_time_s_low"] = *m.step_time_s * m.interval->low;
        json["step_time_s_high"] = *m.step_time_s * m.interval->high;
    }
    return json;
}

Json check_json(const ClosedFormCheck& check) {
    Json json{{"model_step_time_s", number_or_null(check.model_s)}, {"of_a_star", check.of_a_star}};
    if (!check.model_s) return json;
    json["causes_s"] = Json::object();
    for (const Part& cause : check.causes)
        json["causes_s"][std::string(naming_of(cause.what).key)] = cause.seconds;
    json["rest_s"] = check.rest_s;
    json["about_rest"] = check.about_rest;
    return json;
}

Json next_json(const Explanation& e) {
    Json all = Json::object();
    for (const WhatNext& next : e.next) {
        if (next.run) {
            all[next.key] = figures_json(*next.run);
            all[next.key]["times_as_fast"] = times_as_fast(e, next);
        } else {
            all[next.key] = {{"why_not", next.why_not}};
        }
    }
    return all;
}

}  // namespace

std::string verdict_of(const Explanation& e) {
    const double step_s = e.ladder.front().step_s;
    if (step_s == 0) return "a step takes no time";
    std::vector<Part> parts = e.parts;
    std::ranges::sort(parts, std::ranges::greater{}, &Part::seconds);
    const auto percentage = [&](const Part& part) {
        return fmt::format("{:.0f} %", 100 * part.seconds / step_s);
    };
    const auto meaning = [](const Part& part) { return naming_of(part.what).meaning; };
    constexpr double most_of_it = 0.5;
    std::string text;
    if (parts[0].seconds >= most_of_it * step_s || parts.size() < 2)
        text = fmt::format("{}: {} of a step is {}", naming_of(parts[0].what).verdict,
                           percentage(parts[0]), meaning(parts[0]));
    else
        text = fmt::format("no single bound: {} of a step is {}, {} {}", percentage(parts[0]),
                           meaning(parts[0]), percentage(parts[1]), meaning(parts[1]));
    std::string gains;
    for (const WhatNext& next : e.next) {
        if (!next.run || next.run->failed() || next.key == "nodes_doubled") continue;
        constexpr double worth_telling = 1.005;
        if (const double times = times_as_fast(e, next); times >= worth_telling)
            gains +=
                fmt::format("{}{} gives {:.2f}x", gains.empty() ? "; " : ", ", next.name, times);
    }
    return text + gains;
}

std::size_t point_to_explain(const Study& study, std::optional<std::size_t> number) {
    if (number) {
        if (*number < study.points.size()) return *number;
        throw ConfigError("command line", "--point",
                          fmt::format("{} is not a point of this study; it has {}, numbered from 0",
                                      *number, study.points.size()));
    }
    if (study.points.size() == 1) return 0;
    std::string axes;
    for (const Axis& axis : study.axes)
        axes += fmt::format("{}{} ({})", axes.empty() ? "" : ", ", axis.path, axis.names.size());
    throw ConfigError(
        study.file, "sweep",
        fmt::format("makes {} points, and only one can be explained; choose it with --point 0 to "
                    "{}, in the order of results.csv, or --set a value of each axis: {}",
                    study.points.size(), study.points.size() - 1, axes));
}

std::string explanation_text(const Explanation& e) {
    std::string text = head(e) + notes_text(e);
    if (e.ladder.empty())
        return text + fmt::format("\nthe run ends as \"{}\"{}{}; there is no step to explain\n",
                                  e.as_is.outcome, e.as_is.outcome_details.empty() ? "" : ": ",
                                  e.as_is.outcome_details);
    std::string verdict = e.verdict;
    if (const auto gains = verdict.find("; "); gains != std::string::npos)
        verdict[gains + 1] = '\n';
    text += fmt::format("\n{}\n", verdict);
    for (const std::string& section :
         {parts_text(e), links_text(e), check_text(e), next_text(e), figures_text(e)})
        text += "\n" + section;
    return text + memory_text(e);
}

std::string explanation_json(const Explanation& e) {
    Json json{{"scenario", e.file},
              {"point", e.point},
              {"points", e.points},
              {"choice", Json::object()},
              {"algorithm", e.algorithm},
              {"workload", e.workload},
              {"fabric", e.fabric},
              {"nodes", e.nodes},
              {"workers", e.workers},
              {"steps", e.steps ? Json(*e.steps) : Json()},
              {"time_limit_s", number_or_null(e.time_limit_s)},
              {"on_the_clock_alone", e.on_the_clock},
              {"notes", e.notes},
              {"outcome", e.as_is.outcome}};
    for (const auto& [axis, name] : e.choice) json["choice"][axis] = name;
    if (e.ladder.empty()) return json.dump(2) + "\n";
    json["verdict"] = e.verdict;
    json["step_time_s"] = e.ladder.front().step_s;
    json["parts_s"] = Json::object();
    for (const Part& part : parts_in_order(e)) json["parts_s"][key_of(part.what)] = part.seconds;
    json["overlap"] = Json();
    if (e.overlap)
        json["overlap"] = {{"won_s", e.overlap->won_s},
                           {"compute_alone_s", e.overlap->compute_s},
                           {"communication_alone_s", e.overlap->communication_s}};
    json["ladder"] = Json::array();
    for (const Rung& rung : e.ladder)
        json["ladder"].push_back({{"without", rung.without ? Json(key_of(*rung.without)) : Json()},
                                  {"step_time_s", rung.step_s},
                                  {"model_step_time_s", number_or_null(rung.model_s)}});
    json["links"] = links_json(e);
    json["closed_form"] = check_json(e.check);
    json["next"] = next_json(e);
    json["figures"] = figures_json(e.as_is);
    json["memory"] = memory_json(e.memory);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace paceline
