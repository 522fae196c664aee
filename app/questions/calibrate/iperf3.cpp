// The file of iperf3 --json: one connection of TCP from one machine to another.
//
// end.sum_received has what arrived and how long the receiver took; the seconds of -O are in
// neither. The time contains the slow start unless -O left it out. With -R the other machine sends,
// which is a send all the same.
//
// Refused, because a send is one flow, which takes what it can get, in one direction: several
// connections (-P), both directions at once (--bidir), UDP and SCTP, and a limited rate (-b).
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_file.hpp"
#include "app/json/json_paths.hpp"
#include "app/questions/calibrate/tool_readers.hpp"

namespace paceline {

namespace {

constexpr std::string_view how_to_measure =
    "measure with: iperf3 --client HOST --parallel 1 --json > iperf3.json";

double number_or_zero(const Json& json, const std::string& key) {
    const Json* value = value_at(json, key);
    return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

void refuse_other_tests(const std::string& file, const Json& test) {
    const auto refuse = [&](std::string_view key, const std::string& what) {
        throw ConfigError(file, fmt::format("start.test_start.{}", key),
                          fmt::format("{}; {}", what, how_to_measure));
    };
    const Json* protocol = value_at(test, "protocol");
    if (protocol == nullptr || !protocol->is_string())
        refuse("protocol", "is missing or not a string, so this may not be TCP");
    if (protocol->get<std::string>() != "TCP")
        refuse("protocol", fmt::format("is \"{}\"; a send is simulated as one flow of TCP",
                                       one_line(protocol->get<std::string>(), 20)));
    if (const double streams = number_or_zero(test, "num_streams"); streams != 1)
        refuse("num_streams",
               fmt::format("is {}; a send is one flow. To measure several connections at once, use "
                           "a collective that uses them (nccl-tests)",
                           streams));
    if (number_or_zero(test, "bidir") != 0)
        refuse("bidir", "is set, so both directions were measured at the same time");
    for (const std::string_view key : {"target_bitrate", "fqrate"})
        if (number_or_zero(test, std::string(key)) > 0)
            refuse(key, "limits the rate, so the network was not measured");
}

// Refuses a test of a machine with itself.
void refuse_loopback(const std::string& file, const Json& start) {
    const Json* connected = value_at(start, "connected");
    if (connected == nullptr || !connected->is_array() || connected->empty()) return;
    const Json* here = value_at(connected->front(), "local_host");
    const Json* there = value_at(connected->front(), "remote_host");
    if (here != nullptr && there != nullptr && here->is_string() && *here == *there)
        throw ConfigError(file, "start.connected[0]",
                          fmt::format("joins {} with itself, so no network was measured; {}",
                                      one_line(here->get<std::string>(), 40), how_to_measure));
}

Json without_error(const std::string& file, std::string_view text) {
    Json json = parse_json(text, file);
    const Json* error = value_at(json, "error");
    if (error == nullptr) return json;
    throw ConfigError(file, "error",
                      fmt::format("iperf3 failed: {}; {}",
                                  error->is_string() ? one_line(error->get<std::string>(), 200)
                                                     : error->dump().substr(0, 200),
                                  how_to_measure));
}

}  // namespace

bool is_of_iperf3(std::string_view text) {
    if (text.find("[ ID] Interval") != std::string_view::npos) return true;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '{') return false;
    const std::string_view event = text.substr(first, 64);
    if (event.find("\"event\"") != std::string_view::npos &&
        text.find("\"test_start\"") != std::string_view::npos)
        return true;
    const auto has = [&](std::string_view word) {
        return text.find(word) != std::string_view::npos;
    };
    return has("\"version\"") && has("\"iperf 3") && has("\"intervals\"");
}

MeasuredCollectives read_iperf3(const std::string& file, std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (text[first] != '{')
        throw ConfigError(file, "",
                          fmt::format("is iperf3's human-readable output, with rounded numbers; {}",
                                      how_to_measure));
    if (text.substr(first, 64).find("\"event\"") != std::string_view::npos)
        throw ConfigError(file, "",
                          fmt::format("is output of iperf3 --json-stream, one object per line; {}",
                                      how_to_measure));
    const Json json = without_error(file, text);
    const Json* test = value_at(json, "start.test_start");
    if (test == nullptr || !test->is_object())
        throw ConfigError(file, "start.test_start",
                          fmt::format("is missing: the test did not start; {}", how_to_measure));
    refuse_other_tests(file, *test);
    refuse_loopback(file, json["start"]);
    const Json* sum = value_at(json, "end.sum_received");
    if (sum == nullptr || !sum->is_object())
        throw ConfigError(file, "end.sum_received",
                          fmt::format("is missing: the test did not end; {}", how_to_measure));
    const double bytes = number_or_zero(*sum, "bytes");
    const double seconds = number_or_zero(*sum, "seconds");
    if (!(bytes >= 1 && bytes <= 0x1p62) || !(seconds > 0 && std::isfinite(seconds)))
        throw ConfigError(
            file, "end.sum_received",
            fmt::format("has {} bytes in {} s; both are greater than 0 where the client "
                        "(iperf3 --client) wrote the file",
                        bytes, seconds));
    MeasuredCollectives measured{.tool = "iperf3"};
    measured.rows.push_back({.where = fmt::format("{}, end.sum_received", file),
                             .operation = "send",
                             .bytes = static_cast<std::int64_t>(std::llround(bytes)),
                             .ranks = 2,
                             .machines = 2,
                             .seconds = seconds});
    return measured;
}

}  // namespace paceline
