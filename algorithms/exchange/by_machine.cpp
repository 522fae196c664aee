#include "algorithms/exchange/by_machine.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/coders/make_coder.hpp"
#include "algorithms/exchange/vector_chunk.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/inside_machine.hpp"
#include "sim/collectives/reduce_scatter.hpp"

namespace paceline {

namespace {

// A worker's place at a level.
struct Place {
    int group;
    int member;  // of the group
    int groups;
    GroupPtr inside;
    GroupPtr between;  // the same member of all groups; null if it takes no part
};

Place place_of(Worker& self, int devices, int channel) {
    Place place{self.rank() / devices, self.rank() % devices, self.workers() / devices, {}, {}};
    std::vector<int> inside;
    for (int d = 0; d < devices; ++d) inside.push_back(place.group * devices + d);
    std::vector<int> between;
    for (int m = 0; m < place.groups; ++m) between.push_back(m * devices + place.member);
    place.inside = self.group(std::move(inside), channel);
    place.between = self.group(std::move(between), channel);
    return place;
}

Place place_of(Worker& self, const ExchangeLevel& level, const std::vector<int>& members,
               int channel) {
    const auto group_of = [&](int rank) { return level.group_of[static_cast<std::size_t>(rank)]; };
    Place place{group_of(self.rank()), 0, level.groups(), {}, {}};
    std::vector<int> inside;
    for (const int rank : members)
        if (group_of(rank) == place.group) inside.push_back(rank);
    place.member = static_cast<int>(std::ranges::find(inside, self.rank()) - inside.begin());
    place.inside = self.group(std::move(inside), channel);
    if (level.by == ByMachine::leaders && place.member > 0) return place;
    std::vector<int> between;
    std::vector<int> seen(static_cast<std::size_t>(place.groups));
    for (const int rank : members)
        if (seen[static_cast<std::size_t>(group_of(rank))]++ == place.member)
            between.push_back(rank);
    place.between = self.group(std::move(between), channel);
    return place;
}

// What a worker needs to know of a level, and of those above it.
struct AtLevel {
    const Codec& codec;
    const AggregationPlan& aggregation;
    std::size_t level;  // of aggregation.levels; without those: the machines
    int channel;

    [[nodiscard]] const ExchangeLevel* own() const {
        return aggregation.levels ? &(*aggregation.levels)[level] : nullptr;
    }
    [[nodiscard]] ByMachine by() const { return own() ? own()->by : aggregation.machines; }
    [[nodiscard]] bool of_machines() const { return !own() || own()->of_machines; }
    [[nodiscard]] Place place(Worker& self, const std::vector<int>& members) const {
        return own() ? place_of(self, *own(), members, channel)
                     : place_of(self, aggregation.devices, channel);
    }
    [[nodiscard]] double scale_of(int group) const {
        return own() && !own()->scale.empty() ? own()->scale[static_cast<std::size_t>(group)] : 1;
    }
};

CoderPtr coder_at(Worker& self, const AtLevel& at, const CoderPlace& place);

// Returns the coder of what goes between the groups of a level: by the next level, if there is one.
CoderPtr coder_above(Worker& self, const AtLevel& at, CoderPlace place) {
    const bool is_last = !at.own() || at.level + 1 == at.aggregation.levels->size();
    if (is_last) return make_coder(self, at.codec, at.aggregation, std::move(place));
    return coder_at(self, {at.codec, at.aggregation, at.level + 1, at.channel}, place);
}

bool is_lossless(const Codec& codec) {
    const auto* const compressor = std::get_if<Compressor>(&codec.coder);
    return compressor != nullptr && compressor->lossless;
}

// What both arrangements have in common: everything takes place while travelling.
class MachineCoder : public Coder {
  public:
    MachineCoder(Worker& self, const AtLevel& at, const CoderPlace& place)
        : self_(self),
          coding_(at.codec.coding),
          layout_(place.layout),
          charged_(place.charged),
          at_(at.place(self, place.group->members)),
          own_(place.layout),
          scale_(at.scale_of(at_.group)),
          of_machines_(at.of_machines()),
          dense_(of_machines_ || !is_lossless(at.codec) ? fp32 : self.wire()) {}

    Task<> decode() override { co_return; }

  protected:
    [[nodiscard]] Bytes dense_bytes() const { return dense_.weigh(charged_->entries()); }
    Task<> make(CoderInput input) {
        number_ = input.number;
        const Duration time = coding_time(coding_, input.passes, charged_->entries());
        if (time > Duration::zero())
            co_await self_.compute(time, [&] { own_ = input.make(); });
        else
            own_ = input.make();
    }
    Task<Vector> between(Coder& coder, Vector v) {
        if (scale_ != 1) v *= scale_;
        co_await coder.encode({[&] { return v; }, 0, number_});
        Vector mean = co_await coder.travel();
        co_await coder.decode();
        co_return mean;
    }

    Worker& self_;
    CodingCost coding_;
    LayoutPtr layout_;
    LayoutPtr charged_;
    Place at_;
    Vector own_;
    double scale_;
    bool of_machines_;
    WireFormat dense_;  // inside a group
    std::int64_t number_ = 0;
};

class LeadersCoder final : public MachineCoder {
  public:
    LeadersCoder(Worker& self, const AtLevel& at, const CoderPlace& place)
        : MachineCoder(self, at, place) {
        const Codec& codec = at.codec;
        const AggregationPlan& aggregation = at.aggregation;
        // A device that is no leader encodes for its leader only.
        if (aggregation.encoded_inside)
            own_coder_ = make_coder(self, codec, aggregation,
                                    {layout_, charged_, at_.inside, place.tag + " of devices"});
        if (at_.member == 0)
            coder_ =
                coder_above(self, at, {layout_, charged_, at_.between, place.tag + " of machines"});
        if (aggregation.kind == Aggregation::all_gather) messages_ = at_.groups;
        if (aggregation.kind == Aggregation::servers && aggregation.coded != ServerCoding::both)
            messages_ = 0;  // answers are dense
        if (aggregation.encoded_inside) {
            const CoderPtr like = make_coder(
                self, codec, aggregation, {layout_, charged_, at_.between, place.tag + " (sizes)"});
            handed_ = like->received_bytes();
        }
    }

    Task<> encode(CoderInput input) override {
        if (own_coder_)
            co_await encode_own(std::move(input));
        else
            co_await make(std::move(input));
    }

    Task<Vector> travel() override {
        co_return co_await (own_coder_ ? encoded_inside() : dense_inside());
    }
    [[nodiscard]] Bytes message_bytes() const override { return dense_bytes(); }
    [[nodiscard]] Bytes received_bytes() const override { return dense_bytes(); }
    [[nodiscard]] Duration decoding_time(std::int64_t /*messages*/) const override { return {}; }

  private:
    Task<> encode_own(CoderInput input) {
        number_ = input.number;
        co_await own_coder_->encode(std::move(input));
    }
    Task<Vector> dense_inside() {
        const Bytes size = dense_bytes();
        Vector mean = co_await self_.reduce_to_first(
            std::move(own_), [size](const Rank& rank) { return reduce_to_first(rank, size); },
            mean_of<Vector>, at_.inside,
            of_machines_ ? "reduce inside machines" : "reduce inside groups");
        if (coder_) mean = co_await between(*coder_, std::move(mean));
        co_return co_await self_.combine(
            std::move(mean), [size](const Rank& rank) { return broadcast_from_first(rank, size); },
            of_first<Vector>, at_.inside,
            of_machines_ ? "broadcast inside machines" : "broadcast inside groups");
    }
    Task<Vector> encoded_inside();

    CoderPtr coder_;      // of the leader, for its machine
    CoderPtr own_coder_;  // of the device, if vectors are encoded inside
    int messages_ = 1;    // that everybody decodes at the end
    Bytes handed_;        // what a leader passes on
};

class ShardsCoder final : public MachineCoder {
  public:
    ShardsCoder(Worker& self, const AtLevel& at, const CoderPlace& place)
        : MachineCoder(self, at, place),
          own_chunk_{static_cast<int>(at_.inside->members.size()), at_.member} {
        coder_ = coder_above(self, at,
                             {own_chunk_.of(*layout_), own_chunk_.of(*charged_), at_.between,
                              place.tag + " of device " + std::to_string(at_.member)});
    }

    Task<> encode(CoderInput input) override { co_await make(std::move(input)); }

    Task<Vector> travel() override {
        const Bytes size = dense_bytes();
        const Vector machine = co_await self_.combine(
            std::move(own_), [size](const Rank& rank) { return ring_reduce_scatter(rank, size); },
            mean_of<Vector>, at_.inside,
            of_machines_ ? "reduce-scatter inside machines" : "reduce-scatter inside groups");
        const Vector chunk = co_await between(*coder_, own_chunk_.cut(machine));
        // Everybody enters its chunk in a vector of the whole size, so that contributions are
        // alike.
        co_return co_await self_.combine(
            own_chunk_.placed(chunk, layout_),
            [size](const Rank& rank) { return ring_all_gather_chunks(rank, size); }, &joined_chunks,
            at_.inside, of_machines_ ? "all-gather inside machines" : "all-gather inside groups");
    }
    [[nodiscard]] Bytes message_bytes() const override { return dense_bytes(); }
    [[nodiscard]] Bytes received_bytes() const override { return dense_bytes(); }
    [[nodiscard]] Duration decoding_time(std::int64_t /*messages*/) const override { return {}; }

  private:
    VectorChunk own_chunk_;
    CoderPtr coder_;
};

Task<Vector> LeadersCoder::encoded_inside() {
    const Bytes size = own_coder_->message_bytes();
    Vector mean = co_await self_.reduce_to_first(
        own_coder_->take_message(),
        [size](const Rank& rank) { return gather_to_first(rank, [size](int) { return size; }); },
        mean_of<Vector>, at_.inside, "gather inside machines");
    if (coder_) {
        const auto messages = static_cast<std::int64_t>(at_.inside->members.size());
        co_await self_.compute(own_coder_->decoding_time(messages));
        co_await coder_->encode({[&] { return mean; }, 0, number_});
        mean = co_await coder_->travel();
    }
    const Bytes handed = handed_;
    mean = co_await self_.combine(
        std::move(mean), [handed](const Rank& rank) { return broadcast_from_first(rank, handed); },
        of_first<Vector>, at_.inside, "broadcast inside machines");
    const Duration time = own_coder_->decoding_time(messages_);
    if (time > Duration::zero()) co_await self_.compute(time);
    co_return mean;
}

CoderPtr coder_at(Worker& self, const AtLevel& at, const CoderPlace& place) {
    if (at.by() == ByMachine::leaders) return std::make_unique<LeadersCoder>(self, at, place);
    return std::make_unique<ShardsCoder>(self, at, place);
}

}  // namespace

CoderPtr make_coder_by_machine(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                               const CoderPlace& place, int channel) {
    return coder_at(self, {codec, aggregation, 0, channel}, place);
}

}  // namespace paceline
