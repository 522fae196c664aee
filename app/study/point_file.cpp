#include "app/study/point_file.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/host/content_hash.hpp"
#include "app/json/json_file.hpp"

namespace paceline {

namespace {

constexpr std::string_view format = "paceline-point 3";

// Visits the fields of a struct with their names. The bindings name all of them, so that a new
// field that is forgotten here causes a compile error.
template <class Fields, class Visit>
// NOLINTNEXTLINE(readability-function-size): a line for each field
void visit_metrics(Fields& fields, Visit visit) {
    auto& [nodes, devices, outcome, outcome_details, iterations, rated_iterations, epochs,
           sim_time_s, step_time_s, compute_s, exposed_comm_s, model_step_time_s, bytes_sent,
           bytes_received, compression_ratio, samples_per_s, epoch_time_s, speedup, efficiency,
           train_loss, test_loss, test_accuracy, test_accuracy_local_mean, test_accuracy_local_min,
           consensus_distance, relative_error, density, union_density, time_to_target_s,
           speedup_to_target, decode_failures, waiting_stragglers, waiting_network, waiting_dead,
           staleness, participation, rounds, bytes_sent_per_client, bytes_received_per_client,
           deaths, away, checkpoint, undone, goodput, total_sent_gb, total_received_gb, cost,
           sent_gb_to_target, memory_gb, algbw, busbw, slowdown, spread, activations_gb,
           memory_share, tokens_per_s, mfu, parameters, flops_per_sample, device_hours, energy_kwh,
           cost_to_target, energy_to_target_kwh, interval, timeline, job, other_jobs, events] =
        fields;
    visit("nodes", nodes);
    visit("devices", devices);
    visit("outcome", outcome);
    visit("outcome_details", outcome_details);
    visit("iterations", iterations);
    visit("rated_iterations", rated_iterations);
    visit("epochs", epochs);
    visit("sim_time_s", sim_time_s);
    visit("step_time_s", step_time_s);
    visit("compute_s", compute_s);
    visit("exposed_comm_s", exposed_comm_s);
    visit("model_step_time_s", model_step_time_s);
    visit("bytes_sent_per_node_per_step", bytes_sent);
    visit("bytes_received_per_node_per_step", bytes_received);
    visit("compression_ratio", compression_ratio);
    visit("samples_per_s", samples_per_s);
    visit("epoch_time_s", epoch_time_s);
    visit("speedup", speedup);
    visit("efficiency", efficiency);
    visit("train_loss", train_loss);
    visit("test_loss", test_loss);
    visit("test_accuracy", test_accuracy);
    visit("test_accuracy_local_mean", test_accuracy_local_mean);
    visit("test_accuracy_local_min", test_accuracy_local_min);
    visit("consensus_distance", consensus_distance);
    visit("relative_error", relative_error);
    visit("density", density);
    visit("union_density", union_density);
    visit("time_to_target_s", time_to_target_s);
    visit("speedup_to_target", speedup_to_target);
    visit("decode_failures", decode_failures);
    visit("waiting_stragglers_share", waiting_stragglers);
    visit("waiting_network_share", waiting_network);
    visit("waiting_dead_share", waiting_dead);
    visit("staleness", staleness);
    visit("participation", participation);
    visit("rounds", rounds);
    visit("bytes_sent_per_client_per_round", bytes_sent_per_client);
    visit("bytes_received_per_client_per_round", bytes_received_per_client);
    visit("deaths", deaths);
    visit("away_share", away);
    visit("checkpoint_share", checkpoint);
    visit("undone_share", undone);
    visit("goodput", goodput);
    visit("total_sent_gb", total_sent_gb);
    visit("total_received_gb", total_received_gb);
    visit("cost", cost);
    visit("sent_gb_to_target", sent_gb_to_target);
    visit("memory_gb", memory_gb);
    visit("algbw_gb_per_s", algbw);
    visit("busbw_gb_per_s", busbw);
    visit("slowdown", slowdown);
    visit("spread", spread);
    visit("activations_gb", activations_gb);
    visit("memory_share", memory_share);
    visit("tokens_per_s", tokens_per_s);
    visit("mfu", mfu);
    visit("parameters", parameters);
    visit("flops_per_sample", flops_per_sample);
    visit("device_hours", device_hours);
    visit("energy_kwh", energy_kwh);
    visit("cost_to_target", cost_to_target);
    visit("energy_to_target_kwh", energy_to_target_kwh);
    visit("interval", interval);
    visit("timeline", timeline);
    visit("job", job);
    visit("other_jobs", other_jobs);
    visit("events", events);
}

template <class Struct>
concept Plain = std::same_as<Struct, Evaluation> || std::same_as<Struct, Quantiles> ||
                std::same_as<Struct, WorkerSpread> || std::same_as<Struct, TimeInterval>;

template <class Fields, class Visit>
    requires std::same_as<std::remove_const_t<Fields>, Evaluation>
void visit_fields(Fields& fields, Visit visit) {
    auto& [sim_time_s, iteration, train_loss, test_loss, test_accuracy, consensus_distance,
           relative_error, bytes_sent_per_node] = fields;
    visit("sim_time_s", sim_time_s);
    visit("iteration", iteration);
    visit("train_loss", train_loss);
    visit("test_loss", test_loss);
    visit("test_accuracy", test_accuracy);
    visit("consensus_distance", consensus_distance);
    visit("relative_error", relative_error);
    visit("bytes_sent_per_node", bytes_sent_per_node);
}

template <class Fields, class Visit>
    requires std::same_as<std::remove_const_t<Fields>, Quantiles>
void visit_fields(Fields& fields, Visit visit) {
    auto& [p10, p50, p90, max] = fields;
    visit("p10", p10);
    visit("p50", p50);
    visit("p90", p90);
    visit("max", max);
}

template <class Fields, class Visit>
    requires std::same_as<std::remove_const_t<Fields>, WorkerSpread>
void visit_fields(Fields& fields, Visit visit) {
    auto& [sent_gb, received_gb, computing_s, transfer_s] = fields;
    visit("sent_gb", sent_gb);
    visit("received_gb", received_gb);
    visit("computing_s", computing_s);
    visit("transfer_s", transfer_s);
}

template <class Fields, class Visit>
    requires std::same_as<std::remove_const_t<Fields>, TimeInterval>
void visit_fields(Fields& fields, Visit visit) {
    auto& [hidden, unstated, constants, low, high, drawn] = fields;
    visit("hidden", hidden);
    visit("unstated", unstated);
    visit("constants", constants);
    visit("low", low);
    visit("high", high);
    visit("drawn", drawn);
}

// JSON cannot represent numbers that are not finite.
Json to_json(double number) {
    if (std::isfinite(number)) return number;
    if (std::isnan(number)) return "nan";
    return number > 0 ? "inf" : "-inf";
}
Json to_json(int number) {
    return number;
}
Json to_json(std::uint64_t number) {
    return number;
}
Json to_json(const std::string& text) {
    return text;
}
Json to_json(const std::optional<double>& number) {
    return number ? to_json(*number) : Json();
}

template <class Element>
Json to_json(const std::vector<Element>& list);

template <Plain Struct>
Json to_json(const Struct& all) {
    Json json = Json::object();
    visit_fields(all, [&](const char* name, const auto& field) { json[name] = to_json(field); });
    return json;
}

template <Plain Struct>
Json to_json(const std::optional<Struct>& all) {
    return all ? to_json(*all) : Json();
}

Json to_json(const Metrics& metrics);

template <class Element>
Json to_json(const std::vector<Element>& list) {
    Json json = Json::array();
    for (const Element& element : list) json.push_back(to_json(element));
    return json;
}

Json to_json(const Metrics& metrics) {
    Json json = Json::object();
    visit_metrics(metrics, [&](const char* name, const auto& field) {
        if (Json value = to_json(field); !value.is_null()) json[name] = std::move(value);
    });
    return json;
}

void from_json_to(const Json& json, double& number) {
    if (!json.is_string()) {
        number = json.get<double>();
        return;
    }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto& text = json.get_ref<const std::string&>();
    if (text == "nan")
        number = std::numeric_limits<double>::quiet_NaN();
    else
        number = text == "inf" ? infinity : -infinity;
}
void from_json_to(const Json& json, int& number) {
    number = json.get<int>();
}
void from_json_to(const Json& json, std::uint64_t& number) {
    number = json.get<std::uint64_t>();
}
void from_json_to(const Json& json, std::string& text) {
    text = json.get<std::string>();
}
void from_json_to(const Json& json, std::optional<double>& number) {
    from_json_to(json, number.emplace());
}

template <class Element>
void from_json_to(const Json& json, std::vector<Element>& list);

template <Plain Struct>
void from_json_to(const Json& json, Struct& all) {
    visit_fields(all, [&](const char* name, auto& field) {
        if (const auto value = json.find(name); value != json.end() && !value->is_null())
            from_json_to(*value, field);
    });
}

template <Plain Struct>
void from_json_to(const Json& json, std::optional<Struct>& all) {
    from_json_to(json, all.emplace());
}

void from_json_to(const Json& json, Metrics& metrics);

template <class Element>
void from_json_to(const Json& json, std::vector<Element>& list) {
    for (const Json& element : json) from_json_to(element, list.emplace_back());
}

void from_json_to(const Json& json, Metrics& metrics) {
    visit_metrics(metrics, [&](const char* name, auto& field) {
        if (const auto value = json.find(name); value != json.end()) from_json_to(*value, field);
    });
}

}  // namespace

std::string point_text(std::string_view key, const PointResult& result) {
    const Json json{{"metrics", to_json(result.metrics)},
                    {"wall_clock_s", to_json(result.wall_clock_s)}};
    const std::string body = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    return fmt::format("{} {} {}\n{}", format, key, content_hash(body), body);
}

std::optional<PointResult> read_point(std::string_view text, std::string_view key) {
    const std::size_t line_end = text.find('\n');
    if (line_end == std::string_view::npos) return std::nullopt;
    const std::string_view body = text.substr(line_end + 1);
    if (text.substr(0, line_end) != fmt::format("{} {} {}", format, key, content_hash(body)))
        return std::nullopt;
    try {
        const Json json = Json::parse(body);
        PointResult result;
        from_json_to(json.at("metrics"), result.metrics);
        from_json_to(json.at("wall_clock_s"), result.wall_clock_s);
        return result;
    } catch (const Json::exception&) {  // written by a program with another format
        return std::nullopt;
    }
}

std::vector<PointText> points_in(std::string_view row) {
    constexpr std::size_t key_digits = 32;
    const std::string line_before = fmt::format("\n{} ", format);
    const std::string_view beginning = std::string_view(line_before).substr(1);
    const auto next = [&](std::size_t from) {
        return std::min(row.find(line_before, from), row.size() - 1) + 1;
    };
    // Without this, a text would be lost with the one behind it if that was cut in its first line.
    constexpr std::string_view last_line = "\n}\n";
    std::vector<PointText> all;
    for (std::size_t at = row.starts_with(beginning) ? 0 : next(0); at < row.size();) {
        const std::size_t behind = next(at);
        const std::string_view text = row.substr(at, behind - at);
        const std::size_t last = text.find(last_line);
        const std::size_t size =
            last == std::string_view::npos ? text.size() : last + last_line.size();
        all.push_back({text.substr(beginning.size(), key_digits), at, size});
        at = behind;
    }
    return all;
}

}  // namespace paceline
