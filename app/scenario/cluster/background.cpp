#include "app/scenario/cluster/background.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/names.hpp"

namespace paceline {

namespace {

constexpr auto constant_keys =
    std::to_array<std::string_view>({"kind", "from", "to", "rate", "message"});
constexpr auto on_off_background_keys =
    std::to_array<std::string_view>({"kind", "from", "to", "rate", "message", "on", "off", "law"});
constexpr auto background_kinds = std::to_array<BackgroundEntry>({
    {"constant", constant_keys},
    {"on-off", on_off_background_keys},
});

constexpr auto background_laws =
    std::to_array<Spelling<bool>>({{"exponential", true}, {"fixed", false}});

Background read_one_background(const Place& place, int nodes) {
    const std::vector<std::string_view> names = names_of(background_kinds);
    const Place kind = kind_of(place, "background traffic", names);
    const BackgroundEntry& entry = background_kinds[as_name(kind, "background traffic", names)];
    const ObjectReader read(place, entry.keys);
    Background background;
    background.from =
        static_cast<int>(as_integer(read.required("from", "the node that sends"), 0, nodes - 1));
    const Place to = read.required("to", "the node that receives");
    background.to = static_cast<int>(as_integer(to, 0, nodes - 1));
    if (background.from == background.to)
        to.refuse(fmt::format("node {} sends to itself; traffic goes to another", background.to));
    BackgroundSource& source = background.source;
    source.rate = as_bandwidth(read.required("rate", "at most, such as \"500Mbps\""));
    source.message = Bytes{1'000'000};
    if (const auto p = read.optional("message")) {
        source.message = as_bytes(*p);
        if (source.message == Bytes{0}) p->refuse("must be at least one byte");
    }
    if (entry.name == "constant") return background;
    source.on = as_time(read.required("on", "how long it sends, such as \"2s\""));
    source.off = as_time(read.required("off", "how long it is silent, such as \"8s\""));
    const auto law = read.optional("law");
    source.drawn = law ? as_choice(*law, "a law of times on and off", background_laws) : true;
    return background;
}

}  // namespace

std::span<const BackgroundEntry> background_table() {
    return background_kinds;
}

std::vector<Background> read_background(const Place& place, int nodes) {
    if (!place.json->is_array())
        place.refuse(
            "is not a list of sources, such as [{\"kind\": \"constant\", \"from\": 0, \"to\": 1, "
            "\"rate\": \"500Mbps\"}]");
    std::vector<Background> all;
    for (std::size_t i = 0; i < place.json->size(); ++i)
        all.push_back(read_one_background(place.element(i), nodes));
    return all;
}

}  // namespace paceline
