#include "app/scenario/cluster/libraries.hpp"

#include <array>

#include "app/json/names.hpp"

namespace paceline {

namespace {

constexpr auto all_library_keys = std::to_array<std::string_view>({"start_up", "protocol"});

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
    if (const auto p = read.optional("protocol"))
        library.protocol = as_choice(*p, "a protocol", protocols);
    return library;
}

}  // namespace paceline
