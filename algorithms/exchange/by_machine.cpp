#include "algorithms/exchange/by_machine.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "algorithms/coders/make_coder.hpp"
#include "algorithms/exchange/vector_chunk.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/inside_machine.hpp"
#include "sim/collectives/reduce_scatter.hpp"

namespace paceline {

namespace {

struct Place {
    int machine;
    int device;
    int machines;
    GroupPtr inside;   // the devices of the machine
    GroupPtr between;  // the same device of all machines
};

Place place_of(Worker& self, int devices, int channel) {
    Place place{self.rank() / devices, self.rank() % devices, self.workers() / devices, {}, {}};
    std::vector<int> inside;
    for (int d = 0; d < devices; ++d) inside.push_back(place.machine * devices + d);
    std::vector<int> between;
    for (int m = 0; m < place.machines; ++m) between.push_back(m * devices + place.device);
    place.inside = self.group(std::move(inside), channel);
    place.between = self.group(std::move(between), channel);
    return place;
}

// What both arrangements have in common: everything takes place while travelling.
class MachineCoder : public Coder {
  public:
    MachineCoder(Worker& self, const CodingCost& coding, const AggregationPlan& aggregation,
                 const CoderPlace& place, int channel)
        : self_(self),
          coding_(coding),
          layout_(place.layout),
          charged_(place.charged),
          at_(place_of(self, aggregation.devices, channel)),
          own_(place.layout) {}

    Task<> decode() override { co_return; }

  protected:
    [[nodiscard]] Bytes dense_bytes() const { return fp32.weigh(charged_->entries()); }
    Task<> make(CoderInput input) {
        number_ = input.number;
        const Duration time = coding_time(coding_, input.passes, charged_->entries());
        if (time > Duration::zero())
            co_await self_.compute(time, [&] { own_ = input.make(); });
        else
            own_ = input.make();
    }
    Task<Vector> between(Coder& coder, const Vector& v) {
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
    std::int64_t number_ = 0;
};

class LeadersCoder final : public MachineCoder {
  public:
    LeadersCoder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                 const CoderPlace& place, int channel)
        : MachineCoder(self, codec.coding, aggregation, place, channel) {
        // A device that is no leader encodes for its leader only.
        if (aggregation.encoded_inside)
            own_coder_ = make_coder(self, codec, aggregation,
                                    {layout_, charged_, at_.inside, place.tag + " of devices"});
        if (at_.device == 0)
            coder_ = make_coder(self, codec, aggregation,
                                {layout_, charged_, at_.between, place.tag + " of machines"});
        if (aggregation.kind == Aggregation::all_gather) messages_ = at_.machines;
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
            mean_of<Vector>, at_.inside, "reduce inside machines");
        if (coder_) mean = co_await between(*coder_, mean);
        co_return co_await self_.combine(
            std::move(mean), [size](const Rank& rank) { return broadcast_from_first(rank, size); },
            of_first<Vector>, at_.inside, "broadcast inside machines");
    }
    Task<Vector> encoded_inside();

    CoderPtr coder_;      // of the leader, for its machine
    CoderPtr own_coder_;  // of the device, if vectors are encoded inside
    int messages_ = 1;    // that everybody decodes at the end
    Bytes handed_;        // what a leader passes on
};

class ShardsCoder final : public MachineCoder {
  public:
    ShardsCoder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                const CoderPlace& place, int channel)
        : MachineCoder(self, codec.coding, aggregation, place, channel),
          own_chunk_{aggregation.devices, at_.device} {
        coder_ = make_coder(self, codec, aggregation,
                            {own_chunk_.of(*layout_), own_chunk_.of(*charged_), at_.between,
                             place.tag + " of device " + std::to_string(at_.device)});
    }

    Task<> encode(CoderInput input) override { co_await make(std::move(input)); }

    Task<Vector> travel() override {
        const Bytes size = dense_bytes();
        const Vector machine = co_await self_.combine(
            std::move(own_), [size](const Rank& rank) { return ring_reduce_scatter(rank, size); },
            mean_of<Vector>, at_.inside, "reduce-scatter inside machines");
        const Vector chunk = co_await between(*coder_, own_chunk_.cut(machine));
        // Everybody enters its chunk in a vector of the whole size, so that contributions are
        // alike.
        co_return co_await self_.combine(
            own_chunk_.placed(chunk, layout_),
            [size](const Rank& rank) { return ring_all_gather_chunks(rank, size); },
            &joined_chunks, at_.inside, "all-gather inside machines");
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

}  // namespace

CoderPtr make_coder_by_machine(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                               const CoderPlace& place, int channel) {
    if (aggregation.machines == ByMachine::leaders)
        return std::make_unique<LeadersCoder>(self, codec, aggregation, place, channel);
    return std::make_unique<ShardsCoder>(self, codec, aggregation, place, channel);
}

}  // namespace paceline
