#include "app/scenario/algorithms/islands.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/exchange/exchange_presets.hpp"
#include "algorithms/islands/led_islands.hpp"
#include "analysis/forms/memory_forms.hpp"
#include "analysis/forms/step_models.hpp"
#include "app/json/schema.hpp"
#include "app/scenario/algorithms/common.hpp"
#include "app/scenario/algorithms/exchange.hpp"
#include "app/scenario/algorithms/synchronous.hpp"
#include "sim/engine/levels.hpp"

namespace paceline {

namespace {

enum class By : std::uint8_t { leaders, shards };

constexpr std::string_view device_level = "device";

struct Said {
    std::string level{device_level};
    std::optional<By> by{};
};

std::string as_level(const Place& place, const WorkerShape& shape) {
    std::vector<std::string_view> names = shape.levels.names();
    names.insert(names.begin(), device_level);
    return std::string(names[as_name(place, "a level of islands", names)]);
}

Said read_words(const Place& place, const WorkerShape& shape) {
    if (!place.json->is_object()) return {as_level(place, shape), {}};
    constexpr auto ways =
        std::to_array<Spelling<By>>({{"leaders", By::leaders}, {"shards", By::shards}});
    const ObjectReader read(place, definition_keys("island-level"));
    Said words{as_level(read.required("level", "such as \"machine\""), shape), {}};
    if (const auto p = read.optional("by"))
        words.by = as_choice(*p, "who exchanges for an island", ways);
    return words;
}

// Methods of letters.
bool is_led(const AlgorithmEntry& entry) {
    return entry.exchanges == Feature::pairs || entry.exchanges == Feature::server_of_models ||
           entry.exchanges == Feature::server_rounds;
}

// Returns 1, or the devices of every island.
int lanes_of(const Place& place, const AlgorithmEntry& entry, const IslandMembers& members,
             std::optional<By> by) {
    if (!by && is_led(entry)) return 1;
    const auto size = static_cast<int>(members.front().size());
    const bool alike = std::ranges::all_of(
        members, [size](const auto& island) { return std::cmp_equal(island.size(), size); });
    if (by == By::shards && !alike)
        place.refuse(
            "shards need islands of equally many devices, and these differ: \"by\" is "
            "\"leaders\"");
    return alike && by != By::leaders ? size : 1;
}

// The islands, on machines of one device.
AlgorithmInput outer_input(const AlgorithmInput& in, const IslandMembers& members, int lanes) {
    AlgorithmInput outer = in;
    outer.workers = static_cast<int>(members.size());
    outer.devices_per_node = 1;
    outer.cards = 1;
    outer.uneven = false;
    outer.sizes = MachineSizes();
    outer.levels = Levels(outer.workers, {});
    outer.library.cards = 1;
    outer.library.library = among_machines(in.library.library);
    outer.around = Features(lanes == 1 ? Feature::islands_by_leaders : Feature::islands_by_shards);
    return outer;
}

// The devices of one island, on machines as they are.
AlgorithmInput inner_input(const AlgorithmInput& in, int devices) {
    AlgorithmInput inner = in;
    inner.workers = devices;
    inner.devices_per_node = std::min(in.devices_per_node, devices);
    inner.sizes = MachineSizes(inner.devices_per_node);
    inner.levels = Levels(std::max(1, devices / inner.devices_per_node), {});
    inner.exchanges = Feature::momentum_sgd;
    return inner;
}

AlgorithmChoice read_dense_inside(const ObjectReader& read, const AlgorithmInput& in,
                                  IslandOptions& options) {
    AlgorithmChoice choice;
    const ExchangeOptions exchange = read_exchange(read, in, dense_exchange({}), choice);
    if (std::holds_alternative<DgcOptions>(exchange.codec.coder))
        read.place().refuse(
            "its codec is the velocity of momentum SGD, which the outer method has: use another, "
            "such as top-k");
    const auto schedule = read.optional("schedule");
    if (choice.merges_pieces) schedule->refuse("is not merged inside an island; write \"tensors\"");
    if (exchange.schedule.begin == Begin::into_forward ||
        exchange.schedule.order == Order::priority)
        schedule->refuse(
            "the outer method takes each step as a whole: \"begin\" is \"after-backward\", "
            "\"in-phases\" or \"beside-backward\", and \"order\" is \"fifo\"");
    cost_by_exchange(choice, in, exchange);
    choice.kept = kept_by_codec(exchange.codec, in.workers);
    options.inside = exchange;
    return choice;
}

AlgorithmChoice read_sharded_inside(const ObjectReader& read, const AlgorithmInput& in,
                                    IslandOptions& options) {
    AlgorithmChoice choice;
    ZeroOptions sharded;
    read_sharding(read, in, sharded, choice);
    cost_sharding(choice, sharded);
    if (sharded.stage == 3 && options.lanes == 1 && options.members.size() > 1)
        read.place().refuse(
            "of stage 3 leaves each device a shard of the parameters, which no leader has as a "
            "whole: \"by\" of \"islands\" is \"shards\", or \"stage\" is 1 or 2");
    options.inside = sharded;
    return choice;
}

// Returns whether an inner method, by its name or its object, is "zero".
bool is_sharded(const Place& inside) {
    constexpr auto names = std::to_array<std::string_view>({"dense", "zero"});
    constexpr std::string_view what = "a method of islands";
    const Place kind = inside.json->is_string() ? inside : kind_of(inside, what, names);
    return names[as_name(kind, what, names)] == "zero";
}

AlgorithmChoice read_inside(const Place& inside, const AlgorithmInput& in, IslandOptions& options) {
    const bool sharded = is_sharded(inside);
    const Json named = {{"kind", sharded ? "zero" : "dense"}};
    Place object = inside;
    if (inside.json->is_string()) object.json = &named;
    const ObjectReader read(object, definition_keys(sharded ? "inside-zero" : "inside-dense"));
    return sharded ? read_sharded_inside(read, in, options) : read_dense_inside(read, in, options);
}

std::optional<Place> child_of(const Place& algorithm, const char* key) {
    const auto found = algorithm.json->find(key);
    if (found == algorithm.json->end()) return std::nullopt;
    return algorithm.child(key, *found);
}

// Every device by itself is no island, and has nothing inside.
void check_no_inside(const Place& algorithm) {
    const std::optional<Place> inside = child_of(algorithm, "inside");
    if (!inside) return;
    is_sharded(*inside);
    inside->refuse(
        "is what islands of several devices do: set \"islands\" to \"machine\", or to a level "
        "of the cluster");
}

// Refuses what no reader of an exchange between islands sees.
void check_outer(const Place& algorithm, const Place& islands, const AlgorithmEntry& entry) {
    if (const auto reason = reason_against(entry.exchanges, Feature::islands_by_leaders))
        islands.refuse(fmt::format("cannot be used with the kind \"{}\": {}", entry.name, *reason));
    const std::optional<Place> aggregation = child_of(algorithm, "aggregation");
    if (!aggregation || !aggregation->json->is_object()) return;
    if (const std::optional<Place> machines = child_of(*aggregation, "machines"))
        machines->refuse(
            std::string(*reason_against(Feature::leaders, Feature::islands_by_leaders)));
}

void check_led(const Place& inside, const AlgorithmEntry& entry, const IslandOptions& options) {
    const auto* const sharded = std::get_if<ZeroOptions>(&options.inside);
    if (sharded == nullptr) return;
    if (entry.exchanges != Feature::server_rounds)
        inside.refuse(
            "leaves each device a shard of the mean gradient, of which the first device takes the "
            "step as a whole: \"dense\"");
    if (sharded->stage == 3)
        inside.refuse(
            "of stage 3 leaves each device a shard of the parameters, which the first device hands "
            "in as a whole: \"stage\" is 1 or 2");
}

}  // namespace

std::optional<IslandsChoice> read_islands(const Place& algorithm, const AlgorithmEntry& entry,
                                          const AlgorithmInput& in) {
    const std::optional<Place> said = child_of(algorithm, "islands");
    const Said words = said ? read_words(*said, in) : Said{};
    if (words.level == device_level) {
        check_no_inside(algorithm);
        return std::nullopt;
    }
    const Place& place = *said;
    check_outer(algorithm, place, entry);
    IslandsChoice islands{.options = {.members = groups_of_devices(*in.levels.find(words.level),
                                                                   in.sizes, in.workers)},
                          .outer = {},
                          .inside = {}};
    IslandMembers& members = islands.options.members;
    for (const std::vector<int>& island : members)
        islands.devices = std::max(islands.devices, static_cast<int>(island.size()));
    if (islands.devices < 2)
        place.refuse(
            "one device is not an island: set \"cluster.devices_per_node\" above 1, name a level "
            "of several machines (\"cluster.sites\"), or write \"device\"");
    islands.options.lanes = lanes_of(place, entry, members, words.by);
    islands.led = is_led(entry);
    islands.outer = outer_input(in, members, islands.options.lanes);
    static const Json dense = "dense";
    Place inside = algorithm;
    inside.json = &dense;
    inside = child_of(algorithm, "inside").value_or(inside);
    islands.inside = read_inside(inside, inner_input(in, islands.devices), islands.options);
    if (islands.led) check_led(inside, entry, islands.options);
    return islands;
}

namespace {

StepModelInput among(const StepModelInput& in, int workers) {
    StepModelInput part = in;
    part.workers = workers;
    return part;
}

IslandLanes lanes_in_forms(const IslandsChoice& islands) {
    if (islands.options.lanes == 1) return IslandLanes::leaders;
    const auto* const sharded = std::get_if<ZeroOptions>(&islands.options.inside);
    return sharded != nullptr && sharded->stage == 3 ? IslandLanes::kept : IslandLanes::shards;
}

// The form of the outer method, whose gradient takes what the inner method's step takes. A single
// piece is exchanged at a time, so that nothing overlaps but what the outer method lets overlap.
// When a letter comes, and so what is handed on before a gradient, has no form.
std::function<std::optional<Duration>(const StepModelInput&, std::int64_t k, double epoch)>
step_form(const IslandsChoice& islands, const AlgorithmChoice& choice) {
    if (islands.led)
        return [](const StepModelInput&, std::int64_t, double) -> std::optional<Duration> {
            return std::nullopt;
        };
    const auto n = static_cast<int>(islands.options.members.size());
    return [outer = choice.model_step, inner = islands.inside.model_step, n,
            lanes = lanes_in_forms(islands), devices = islands.devices](
               const StepModelInput& at, std::int64_t k, double epoch) -> std::optional<Duration> {
        if (at.network.devices != devices || at.network.staging || at.network.sums)
            return std::nullopt;
        const auto step = inner(among(at, devices), k, epoch);
        if (!step) return std::nullopt;
        StepModelInput between = among(at, n);
        between.network.islands = lanes;
        between.timing = make_step_timing(*step, *at.layout);
        between.update = {};
        return outer(between, k, epoch);
    };
}

// Messages of all lanes between islands and, where there are any, of what is handed on inside; and
// orders of the first devices.
void count_messages(const IslandsChoice& islands, AlgorithmChoice& choice) {
    if (!choice.messages || !islands.inside.messages) {
        choice.messages = nullptr;
        return;
    }
    const auto n = static_cast<int>(islands.options.members.size());
    choice.messages = [outer = choice.messages, inner = islands.inside.messages, n,
                       lanes = islands.options.lanes, orders = std::int64_t{islands.led ? 2 : 0},
                       devices = islands.devices](const StepModelInput& at, std::int64_t k) {
        const std::int64_t between = outer(among(at, n), k);
        const std::int64_t handed_on = between > 0 ? 2 * (devices - 1) * devices : 0;
        const std::int64_t inside = inner(among(at, devices), k) + orders * (devices - 1);
        return n * (inside + handed_on) + lanes * between;
    };
}

// A device's share of what its island contributes; of the only island, what a device contributes
// to it.
void count_contribution(const IslandsChoice& islands, AlgorithmChoice& choice) {
    if (islands.options.members.size() == 1) {
        choice.contribution = islands.inside.contribution;
        return;
    }
    choice.contribution = [outer = choice.contribution, devices = islands.devices](
                              const Layout& layout, std::int64_t k, double epoch) {
        return Bytes{outer(layout, k, epoch).count / devices};
    };
}

// Sharded, the optimizer's vectors are those of the outer method in place of Adam's two.
void keep(const IslandsChoice& islands, AlgorithmChoice& choice) {
    if (!choice.kept) return;
    if (islands.inside.kept) {
        *choice.kept += *islands.inside.kept;
        return;
    }
    choice.memory = [sharded = islands.inside.memory, kept = *choice.kept,
                     devices = islands.devices](const StepModelInput& at) {
        KeptBytes bytes = sharded(among(at, devices));
        const double others = 4 * (kept - vectors_of_adam) / devices;
        bytes.optimizer =
            bytes.optimizer +
            Bytes{static_cast<std::int64_t>(others * static_cast<double>(at.layout->entries()))};
        return bytes;
    };
}

}  // namespace

void put_on_islands(const IslandsChoice& islands, AlgorithmChoice& choice) {
    const AlgorithmChoice& inside = islands.inside;
    const SharedValue<IslandOptions> options(islands.options);
    choice.run = [options, run = islands.led ? &on_led_islands : &on_islands,
                  outer = choice.run](Worker& device) { return run(device, options, outer); };
    if (choice.serve)
        choice.serve = [options, serve = choice.serve](Worker& server) {
            return serve_islands(server, options, serve);
        };
    // Push-sum's messages may belong to steps before, whose rounds have no number at a return yet;
    // SlowMo with a mixing is over push-sum, too.
    const bool pushes =
        choice.when_nodes_die == WhenNodesDie::loses_shares ||
        (choice.when_nodes_die == WhenNodesDie::reruns_models && choice.mixing.make);
    if (islands.led || pushes) choice.when_nodes_die = WhenNodesDie::cannot_go_on;
    choice.islands = islands.options.members;
    choice.islands_keep_shards = lanes_in_forms(islands) == IslandLanes::kept;
    count_messages(islands, choice);
    count_contribution(islands, choice);
    choice.model_step = step_form(islands, choice);
    choice.fused_step = nullptr;
    keep(islands, choice);
    if (!choice.bucket) choice.bucket = inside.bucket;
    choice.all_reduce.reset();
    choice.names_hierarchy = false;
    choice.could_have_leaders = false;
    choice.sends_at_once = std::max(choice.sends_at_once, inside.sends_at_once);
}

}  // namespace paceline
