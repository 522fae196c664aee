#include "app/questions/diagnose/causes.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"
#include "app/scenario/cluster/links.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double giga = 1e9;         // bit/s
constexpr double microsecond = 1e6;  // ps

// What the makers of causes see.
struct Seen {
    const DiagnosedPoint& point;
    const Json& json;
    const Scenario& scenario;
    Causes& causes;

    void cannot(const Cause& cause, std::string why) const {
        causes.impossible.push_back({cause.key, cause.name, std::move(why)});
    }
    [[nodiscard]] bool one_machine() const { return point.machines < 2; }
};

VariedQuantity bandwidths(std::string path, double from, double to) {
    return {std::move(path), QuantityKind::bandwidth, from, to};
}

VariedQuantity durations(std::string path, double from, double to) {
    return {std::move(path), QuantityKind::duration, from, to};
}

VariedQuantity numbers(std::string path, double from, double to) {
    return {std::move(path), QuantityKind::number, from, to};
}

ValueLaw usually(double median, double deviation, const VariedQuantity& quantity) {
    return {elementary::log(median), deviation, elementary::log(quantity.from),
            elementary::log(quantity.to)};
}

// Returns the object at a key, made of what the key's text stands for.
Json& object_at(Json& parent, const char* key, const char* text_stands_for) {
    Json& value = parent[key];
    if (value.is_string()) value = {{text_stands_for, value}};
    if (!value.is_object()) value = Json::object();
    return value;
}

Json& schedule_of(Json& scenario) {
    return object_at(scenario["algorithm"], "schedule", "pieces");
}

std::string pieces_in(const Json& scenario) {
    const Json* const schedule = value_at(scenario, "algorithm.schedule");
    if (schedule == nullptr) return "whole";
    if (schedule->is_string()) return schedule->get<std::string>();
    return schedule->is_object() ? schedule->value("pieces", "whole") : "whole";
}

std::string begin_in(const Json& scenario) {
    const Json* const begin = value_at(scenario, "algorithm.schedule.begin");
    if (begin != nullptr && begin->is_string()) return begin->get<std::string>();
    return pieces_in(scenario) == "whole" ? "after-backward" : "beside-backward";
}

bool crosses(const DiagnosedPoint& point) {
    return point.machines > 1;
}

std::string percent_of(const VariedQuantity& quantity, double value, double stated) {
    const double percent = 100 * value / stated;
    return fmt::format(
        "{}, {} % of {}", quantity.shown(value, 3),
        percent < 9.95 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent),
        quantity.shown(stated, 3));
}

std::optional<Cable> cable_in(const Json& json) {
    const Json* const link = value_at(json, "cluster.fabric.link");
    if (link == nullptr) return std::nullopt;
    const std::string nowhere;
    return read_cable({link, &nowhere, "cluster.fabric.link"});
}

double rate_of(const Link& link) {
    return static_cast<double>(link.bandwidth.bits_per_second);
}

void add_bandwidth(const Seen& seen) {
    Cause cause{"bandwidth", "bandwidth of the links",
                "the links carry less than the scenario has: another card, a lower efficiency, or "
                "CPUs that do not keep up",
                std::nullopt};
    const auto cable = cable_in(seen.json);
    if (seen.one_machine()) return seen.cannot(cause, "the scenario has one machine");
    if (!cable || cable->down.bandwidth == unlimited)
        return seen.cannot(cause, "the fabric has no \"link\" with a bandwidth");
    const double stated = rate_of(cable->down);
    const double up = rate_of(cable->up) / stated;
    cause.quantity = bandwidths("cluster.fabric.link.bandwidth", stated / 1000, stated);
    cause.usual = usually(0.3 * stated, 1, *cause.quantity);
    cause.usual_source =
        "30 % of the line, between 11 and 83 % in two thirds of the cases (assumed, around the "
        "presets nccl-sockets, one-thread and aws of paceline list transports)";
    cause.limit = fmt::format("the link has {}", cause.quantity->spelled(stated));
    cause.beyond = 100;
    cause.put = [quantity = *cause.quantity, up](Json& scenario, double value,
                                                 const DiagnosedPoint& point) {
        if (!crosses(point)) return;
        Json& link = scenario["cluster"]["fabric"]["link"];
        link["bandwidth"] = quantity.written(value);
        if (up != 1) link["bandwidth_up"] = quantity.written(value * up);
    };
    cause.shown = [quantity = *cause.quantity, stated](double value) {
        return percent_of(quantity, value, stated);
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_latency(const Seen& seen) {
    Cause cause{"latency", "latency of the links",
                "messages take longer to arrive than in the scenario", std::nullopt};
    const auto cable = cable_in(seen.json);
    if (seen.one_machine()) return seen.cannot(cause, "the scenario has one machine");
    if (!cable) return seen.cannot(cause, "the fabric has no \"link\"");
    const auto stated = static_cast<double>(cable->down.latency.count());
    const double from = std::max(stated * 1.1, microsecond);
    cause.quantity = durations("cluster.fabric.link.latency", from, std::max(from * 10, 3e11));
    cause.usual = usually(std::max(200 * microsecond, 3 * from), 1.5, *cause.quantity);
    cause.usual_source = "200us of a link, between 45us and 900us in two thirds (assumed)";
    cause.put = [quantity = *cause.quantity](Json& scenario, double value,
                                             const DiagnosedPoint& point) {
        if (crosses(point))
            scenario["cluster"]["fabric"]["link"]["latency"] = quantity.written(value);
    };
    cause.shown = [quantity = *cause.quantity, stated](double value) {
        return fmt::format("{} a link, not {}", quantity.shown(value, 3),
                           quantity.shown(stated, 3));
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_flow_rate(const Seen& seen) {
    Cause cause{"connection", "rate of one connection",
                "one connection does not fill the link: a limit of the provider, or a single "
                "sending thread",
                std::nullopt};
    const auto cable = cable_in(seen.json);
    if (seen.one_machine()) return seen.cannot(cause, "the scenario has one machine");
    if (!cable || cable->down.bandwidth == unlimited)
        return seen.cannot(cause, "the fabric has no \"link\" with a bandwidth");
    double stated = rate_of(cable->down);
    const auto& tcp = seen.scenario.cluster.tcp;
    if (tcp) stated = std::min(stated, static_cast<double>(tcp->flow.rate.bits_per_second));
    cause.quantity = bandwidths("cluster.transport.flow_rate", stated / 1000, stated);
    cause.usual = usually(std::min(10 * giga, stated / 2), 0.8, *cause.quantity);
    cause.usual_source =
        "10 Gbps, between 4.5 and 22 Gbps in two thirds (around the four presets of paceline list "
        "transports: 5, 10, 16.5 and 25 Gbps)";
    cause.put = [quantity = *cause.quantity](Json& scenario, double value,
                                             const DiagnosedPoint& point) {
        if (!crosses(point)) return;
        Json& transport = scenario["cluster"]["transport"];
        if (!transport.is_object() || transport.value("kind", "") != "tcp")
            transport = {
                {"kind", "tcp"}, {"goodput", 1}, {"duplex_share", 1}, {"first_window", "0B"}};
        transport["flow_rate"] = quantity.written(value);
    };
    cause.shown = [quantity = *cause.quantity, stated](double value) {
        return percent_of(quantity, value, stated);
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_start_up(const Seen& seen) {
    Cause cause{"start-up", "start-up of a collective",
                "each call of a collective costs more before its first message", std::nullopt};
    if (seen.point.workers < 2) return seen.cannot(cause, "the scenario has one device");
    const auto stated = static_cast<double>(seen.scenario.cluster.library.start_up.count());
    const double from = std::max(stated * 1.1, microsecond);
    cause.quantity = durations("cluster.library.start_up", from, std::max(from * 10, 1e12));
    cause.usual = usually(std::max(300 * microsecond, 3 * from), 1.5, *cause.quantity);
    cause.usual_source =
        "300us, between 70us and 1.3ms in two thirds (paceline list libraries has 6.6us and 236us; "
        "the rest is assumed)";
    cause.put = [quantity = *cause.quantity](Json& scenario, double value, const DiagnosedPoint&) {
        object_at(scenario["cluster"], "library", "preset")["start_up"] = quantity.written(value);
    };
    cause.shown = [quantity = *cause.quantity](double value) {
        return fmt::format("{} a call", quantity.shown(value, 3));
    };
    seen.causes.possible.push_back(std::move(cause));
}

// An all-reduce by itself is a step that computes nothing, of which copies are modeled. Returns
// false for other collectives: they are measured in the host's memory.
bool make_a_step(Json& algorithm) {
    if (algorithm.value("operation", "") != "all-reduce") return false;
    const Json plan = algorithm.value("all_reduce", Json("ring"));
    algorithm = {{"kind", "sgd"},
                 {"schedule", "whole"},
                 {"aggregation", {{"kind", "all-reduce"}, {"plan", plan}}}};
    return true;
}

void add_staging(const Seen& seen) {
    Cause cause{
        "staging", "staging through the host",
        "vectors are copied through host memory, because the library does not reach device memory",
        std::nullopt};
    if (seen.point.workers < 2) return seen.cannot(cause, "the scenario has one device");
    double most = 500 * giga;
    if (const auto& stated = seen.scenario.cluster.library.staging)
        most = static_cast<double>(stated->bits_per_second);
    cause.quantity = bandwidths("cluster.library.staging", most / 1000, most);
    cause.usual = usually(std::min(60 * giga, most / 2), 0.7, *cause.quantity);
    cause.usual_source =
        "60 Gbps, between 30 and 120 Gbps in two thirds (a copy over PCIe 3.0 x16 has 96 Gbps, the "
        "preset open-mpi-tcp; pageable memory has less: assumed)";
    cause.put = [quantity = *cause.quantity](Json& scenario, double value,
                                             const DiagnosedPoint& point) {
        if (point.is_a_collective && !make_a_step(scenario["algorithm"])) return;
        object_at(scenario["cluster"], "library", "preset")["staging"] = quantity.written(value);
    };
    cause.shown = [quantity = *cause.quantity](double value) {
        return fmt::format("copies at {}", quantity.shown(value, 3));
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_overlap(const Seen& seen) {
    Cause cause{"no-overlap", "no overlap with backward",
                "gradients are sent only after the backward pass", std::nullopt};
    const std::string begin = begin_in(seen.json);
    if (seen.point.workers < 2) return seen.cannot(cause, "the scenario has one device");
    if (begin != "beside-backward" && begin != "into-forward")
        return seen.cannot(cause, "nothing overlaps in the scenario");
    cause.put = [](Json& scenario, double, const DiagnosedPoint& point) {
        if (!point.is_a_collective) schedule_of(scenario)["begin"] = "after-backward";
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_tensors(const Seen& seen) {
    Cause cause{"tensor-by-tensor", "tensor by tensor",
                "each tensor is exchanged separately, without buckets", std::nullopt};
    if (seen.point.workers < 2) return seen.cannot(cause, "the scenario has one device");
    if (pieces_in(seen.json) == "tensors")
        return seen.cannot(cause, "the scenario exchanges tensor by tensor");
    cause.put = [](Json& scenario, double, const DiagnosedPoint& point) {
        if (point.is_a_collective) return;
        const std::string begin = begin_in(scenario);
        Json& schedule = schedule_of(scenario);
        schedule["pieces"] = "tensors";
        schedule["begin"] = begin;
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_fp32(const Seen& seen) {
    Cause cause{"fp32", "fp32 on the wire", "numbers are sent in 32 bits, not in 16", std::nullopt};
    const Json* const wire = value_at(seen.json, "algorithm.wire");
    const Json* codec = value_at(seen.json, "algorithm.codec");
    if (codec != nullptr && codec->is_object()) codec = value_at(*codec, "kind");
    const bool by_wire = wire != nullptr && *wire != "fp32";
    const bool by_codec = codec != nullptr && *codec == "fp16";
    if (!by_wire && !by_codec) return seen.cannot(cause, "the scenario does not send 16 bits");
    cause.put = [by_wire, by_codec](Json& scenario, double, const DiagnosedPoint& point) {
        if (point.is_a_collective) return;
        if (by_codec) scenario["algorithm"].erase("codec");
        if (by_wire) scenario["algorithm"]["wire"] = "fp32";
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_one_card(const Seen& seen) {
    Cause cause{"one-card", "one card of several",
                "one of a machine's network cards carries everything", std::nullopt};
    if (seen.scenario.cluster.cards() < 2)
        return seen.cannot(cause, "machines have one network card (\"nics\")");
    cause.put = [](Json& scenario, double, const DiagnosedPoint& point) {
        if (crosses(point)) scenario["cluster"].erase("nics");
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_bus(const Seen& seen) {
    Cause cause{"no-peer-to-peer", "a bus without peer-to-peer",
                "devices of a machine reach each other through host memory, one pair at a time",
                std::nullopt};
    const Json* const bus = value_at(seen.json, "cluster.bus.link");
    if (bus == nullptr) return seen.cannot(cause, "machines have one device");
    const std::string nowhere;
    const Link link = read_link({bus, &nowhere, "cluster.bus.link"});
    if (link.bandwidth == unlimited)
        return seen.cannot(cause, "the bus has no limit on its bandwidth");
    const double most = rate_of(link);
    cause.quantity = bandwidths("cluster.bus.link.bandwidth", most / 1000, most);
    cause.usual = usually(std::min(50 * giga, most / 2), 0.6, *cause.quantity);
    cause.usual_source = "50 Gbps, between 27 and 91 Gbps in two thirds (assumed)";
    cause.put = [quantity = *cause.quantity](Json& scenario, double value, const DiagnosedPoint&) {
        Json& cluster = scenario["cluster"];
        if (!cluster.contains("bus")) return;
        cluster["bus"]["kind"] = "bridged";
        cluster["bus"]["link"]["bandwidth"] = quantity.written(value);
        cluster["bus"]["link"].erase("bandwidth_up");
    };
    cause.shown = [quantity = *cause.quantity](double value) {
        return fmt::format("{} for all pairs", quantity.shown(value, 3));
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_slow_node(const Seen& seen) {
    Cause cause{"slow-node", "one slow node",
                "one machine computes more slowly than the others, which wait for it",
                std::nullopt};
    if (seen.one_machine()) return seen.cannot(cause, "the scenario has one machine");
    if (!seen.point.has_gradients()) return seen.cannot(cause, "nothing is computed");
    cause.quantity = numbers("cluster.stragglers.factor", 1.03, 30);
    cause.usual = usually(1.5, 0.4, *cause.quantity);
    cause.usual_source = "1.5 times as long, between 1 and 2.2 times in two thirds (assumed)";
    cause.put = [](Json& scenario, double value, const DiagnosedPoint& point) {
        if (point.is_a_collective || (!crosses(point) && !point.slowest_alone)) return;
        Json& stragglers = scenario["cluster"]["stragglers"];
        if (stragglers.is_object()) stragglers = Json::array({stragglers});
        if (!stragglers.is_array()) stragglers = Json::array();
        const int node = crosses(point) ? point.machines - 1 : 0;
        stragglers.push_back({{"factor", value}, {"nodes", Json::array({node})}});
    };
    cause.shown = [](double value) { return fmt::format("{:.3g} times as long", value); };
    seen.causes.possible.push_back(std::move(cause));
}

void add_smaller_batch(const Seen& seen) {
    Cause cause{"smaller-batch", "gradients of a smaller batch",
                "several machines share the batch that one machine had, so each sample pays for "
                "more messages",
                std::nullopt};
    if (seen.one_machine()) return seen.cannot(cause, "the scenario has one machine");
    if (!seen.point.has_gradients()) return seen.cannot(cause, "nothing is computed");
    const auto batch = seen.scenario.workload.batch;
    if (batch && *batch < 2) return seen.cannot(cause, "the batch is one sample");
    cause.quantity = numbers("workload.batch", 1.0 / 64, 0.95);
    cause.usual = usually(0.4, 0.7, *cause.quantity);
    cause.usual_source = "0.4 of the batch, between 0.2 and 0.8 in two thirds (assumed)";
    cause.limit = "that would be a larger batch";
    cause.beyond = 30;
    cause.put = [batch](Json& scenario, double value, const DiagnosedPoint& point) {
        if (point.is_a_collective || !crosses(point)) return;
        multiply_gradient_time(scenario, point, value);
        Json& workload = scenario["workload"];
        if (workload.contains("global_batch"))
            workload["global_batch"] = std::max<std::int64_t>(
                1, std::llround(workload["global_batch"].get<double>() * value));
        else if (batch)
            workload["batch"] =
                std::max<std::int64_t>(1, std::llround(static_cast<double>(*batch) * value));
    };
    cause.shown = [batch](double value) {
        return batch ? fmt::format("{:.2g} of the batch, {} of {} samples", value,
                                   std::max<std::int64_t>(
                                       1, std::llround(static_cast<double>(*batch) * value)),
                                   *batch)
                     : fmt::format("{:.2g} of the batch", value);
    };
    seen.causes.possible.push_back(std::move(cause));
}

void add_slow_compute(const Seen& seen, bool compute_is_measured) {
    Cause cause{"computing", "slower devices",
                "gradients take longer than in the scenario, on all nodes", std::nullopt};
    if (!seen.point.has_gradients()) return seen.cannot(cause, "nothing is computed");
    if (compute_is_measured)
        return seen.cannot(cause, "the measured step on one machine determines it");
    cause.quantity = numbers(seen.point.time_path, 1.03, 30);
    cause.usual = usually(1.3, 0.35, *cause.quantity);
    cause.usual_source = "1.3 times as long, between 0.9 and 1.8 times in two thirds (assumed)";
    cause.put = [](Json& scenario, double value, const DiagnosedPoint& point) {
        multiply_gradient_time(scenario, point, value);
    };
    const double gradient = seen.point.gradient_s;
    cause.shown = [gradient](double value) {
        const VariedQuantity duration{"", QuantityKind::duration, 0, 0};
        return fmt::format("{} a step, {:.3g} times as long",
                           duration.shown(gradient * value * 1e12, 3), value);
    };
    seen.causes.possible.push_back(std::move(cause));
}

}  // namespace

Causes causes_of(const DiagnosedPoint& point, const Scenario& scenario, bool compute_is_measured) {
    Causes causes;
    const Seen seen{point, *point.scenario, scenario, causes};
    add_bandwidth(seen);
    add_latency(seen);
    add_flow_rate(seen);
    add_start_up(seen);
    add_overlap(seen);
    add_slow_node(seen);
    add_staging(seen);
    add_fp32(seen);
    add_tensors(seen);
    add_one_card(seen);
    add_bus(seen);
    add_smaller_batch(seen);
    add_slow_compute(seen, compute_is_measured);
    return causes;
}

}  // namespace paceline
