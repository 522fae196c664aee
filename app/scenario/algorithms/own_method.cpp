#include "app/scenario/algorithms/own_method.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "app/json/names.hpp"
#include "app/json/own_parts.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/mixings/mixings.hpp"

namespace paceline {

namespace {

constexpr auto keys_of_every_method = std::to_array<std::string_view>(
    {"kind", "label", "optimizer", "mixing", "wire", "codec", "aggregation", "schedule"});
constexpr auto keys_of_exchanges =
    std::to_array<std::string_view>({"codec", "aggregation", "schedule"});

ExchangeOptions read_exchange_of_method(const ObjectReader& read, const AlgorithmInput& in,
                                        AlgorithmChoice& choice) {
    const bool given =
        std::ranges::any_of(keys_of_exchanges, [&](auto key) { return read.has(key); });
    if (!given) return dense_exchange({});
    ExchangeOptions exchange = read_exchange(read, in, dense_exchange({}), choice);
    if (exchange.schedule.begin == Begin::into_forward)
        read.optional("schedule")
            ->refuse(
                "\"into-forward\" is for methods of the table, which update piece by piece; write "
                "\"beside-backward\"");
    return exchange;
}

void read_mixing_of_method(const ObjectReader& read, const AlgorithmInput& in,
                           AlgorithmChoice& choice) {
    const auto mixing = read.optional("mixing");
    if (!mixing) return;
    choice.mixing = read_mixing(*mixing, in.workers, MixingUse::averages, in.devices_of_machines());
    choice.sends_at_once = std::max(choice.sends_at_once, choice.mixing.degree);
    choice.meets_everybody = choice.meets_everybody || choice.mixing.meets_everybody;
}

void read_servers_of_method(const OwnMethod& method, const Place& algorithm,
                            const AlgorithmInput& in, const ExchangeOptions& exchange,
                            AlgorithmChoice& choice) {
    if (in.devices_per_node > 1)
        algorithm.child("kind", algorithm.json->at("kind"))
            .refuse("has servers on their own nodes, which need nodes with one device");
    if (choice.server_nodes > 0)
        algorithm.refuse("has its own servers, and an aggregation with other servers");
    choice.serve = method.make_server(algorithm, exchange);
    choice.server_nodes = method.servers;
}

// What it costs, and how many messages it sends, is known when it has run.
void leave_costs_open(AlgorithmChoice& choice) {
    choice.contribution = [](const Layout&, std::int64_t, double) { return Bytes{}; };
    choice.model_step = [](const StepModelInput&, std::int64_t, double) {
        return std::optional<Duration>();
    };
}

}  // namespace

OwnMethodPtr own_method_of(const Place& algorithm) {
    return own_part_of(algorithm, &OwnParts::method, "a method");
}

AlgorithmChoice read_own_method(const OwnMethod& method, const Place& algorithm,
                                AlgorithmInput in) {
    std::vector<std::string_view> keys(keys_of_every_method.begin(), keys_of_every_method.end());
    keys.insert(keys.end(), method.options.begin(), method.options.end());
    const ObjectReader read(algorithm, keys);
    in.exchanges = Feature::momentum_sgd;
    AlgorithmChoice choice;
    if (const auto p = read.optional("wire")) choice.wire = as_wire(*p);
    const ExchangeOptions exchange = read_exchange_of_method(read, in, choice);
    read_mixing_of_method(read, in, choice);
    leave_costs_open(choice);
    constexpr double most_of_a_family = 5.1;  // vectors, as decentralized methods hold
    choice.vectors = most_of_a_family;
    static_cast<AlgorithmTraits&>(choice) = method.traits;
    choice.run = method.make(algorithm, exchange);
    if (method.make_server) read_servers_of_method(method, algorithm, in, exchange, choice);
    const auto label = read.optional("label");
    choice.label = as_string(label ? *label : *read.optional("kind"));
    return choice;
}

}  // namespace paceline
