#include "app/scenario/cluster/libraries.hpp"

#include <array>
#include <string_view>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"

namespace paceline {

namespace {

constexpr auto all_library_keys =
    std::to_array<std::string_view>({"start_up", "staging", "protocol"});

constexpr auto protocols = std::to_array<Spelling<Protocol>>({
    {"eager", Protocol::eager},
    {"rendezvous", Protocol::rendezvous},
    {"rendezvous-in-band", Protocol::rendezvous_in_band},
});

}  // namespace

Keys library_keys() {
    return all_library_keys;
}

Library read_library(const Place& place) {
    const ObjectReader read(place, all_library_keys);
    Library library;
    if (const auto p = read.optional("start_up")) library.start_up = as_duration(*p);
    if (const auto p = read.optional("staging")) library.staging = as_bandwidth(*p);
    if (const auto p = read.optional("protocol"))
        library.protocol = as_choice(*p, "a protocol", protocols);
    return library;
}

void check_staging(const Place& algorithm, const Library& library, const AlgorithmChoice& choice) {
    if (!library.staging) return;
    const auto refuse = [&](std::string_view why) {
        algorithm.refuse(fmt::format("cannot go with \"cluster.library.staging\": {}", why));
    };
    if (!choice.exchange || choice.mixing.make)
        refuse(
            "it is modeled for all-reduce and all-gather, and this algorithm has other messages");
    const ExchangeOptions& exchange = *choice.exchange;
    const Carrier carrier = exchange.transport.carrier;
    if (carrier != Carrier::all_reduce && carrier != Carrier::all_gather)
        refuse(
            "it is modeled for the transports \"all-reduce\" and \"all-gather\"; take one of them");
    if (exchange.transport.machines != ByMachine::flat)
        refuse("it is modeled for flat transports; write \"machines\": \"flat\"");
    if (std::holds_alternative<OneBitCodec>(exchange.codec.coder))
        refuse("it is not modeled for the codec \"one-bit\", whose buffers go by all-to-all");
}

}  // namespace paceline
