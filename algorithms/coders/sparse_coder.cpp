#include "algorithms/coders/sparse_coder.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/compression/half.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/servers.hpp"

namespace paceline {

namespace {

// Calls use(tensor, where its entries begin among those of the incompressible ones, their number).
template <class Use>
void for_each_rest(const Layout& layout, Use use) {
    Eigen::Index begin = 0;
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        const Tensor& tensor = layout.tensors()[j];
        if (tensor.compressible()) continue;
        use(layout.offset(j), begin, tensor.entries());
        begin += tensor.entries();
    }
}

LayoutPtr rest_layout(std::int64_t entries) {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"uncompressed", {entries}}});
}

// Returns the entries of the tensors that are not compressible, in sequence, as they are sent.
Vector rest_of(const SparseFormat& format, const Vector& g) {
    const Layout& layout = *g.layout();
    Eigen::VectorXd rest(layout.incompressible_entries());
    for_each_rest(layout, [&](std::int64_t offset, Eigen::Index begin, std::int64_t entries) {
        rest.segment(begin, entries) = g.values().segment(offset, entries);
    });
    if (format.half) cast_to_half({rest.data(), static_cast<std::size_t>(rest.size())});
    return {rest_layout(rest.size()), std::move(rest)};
}

void put_rest(const Vector& rest, Vector& whole) {
    Eigen::VectorXd& all = whole.writable();
    for_each_rest(*whole.layout(),
                  [&](std::int64_t offset, Eigen::Index begin, std::int64_t entries) {
                      all.segment(offset, entries) = rest.values().segment(begin, entries);
                  });
}

Task<Vector> all_reduced(Worker& self, Vector v, AllReducePlan how, Bytes size,
                         const GroupPtr& group) {
    return self.combine(
        std::move(v), [how, size](const Rank& rank) { return all_reduce(how, rank, size); },
        mean_of<Vector>, group, name_of(how, size));
}

// Tensors that entries are selected from, and how many of them at a density.
std::int64_t selected_tensors(const Layout& layout) {
    return std::ranges::count_if(layout.tensors(), &Tensor::compressible);
}
std::int64_t selected_entries(const Layout& layout, double density) {
    std::int64_t entries = 0;
    for (const auto& [size, tensors] : layout.compressible_sizes())
        entries += tensors * kept_entries(size, density);
    return entries;
}

class SparseCoder final : public Coder {
  public:
    SparseCoder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                CoderPlace place, DgcMemoryPtr memory)
        : self_(self),
          options_(std::get<DgcOptions>(codec.coder)),
          aggregation_(aggregation),
          coding_(codec.coding.measured),
          place_(std::move(place)),
          members_(static_cast<int>(place_.group->members.size())),
          measures_(!self.timing_only() &&
                    place_.layout->entries() > place_.layout->incompressible_entries()),
          memory_(std::move(memory)),
          gradient_(place_.layout),
          rest_(rest_layout(0)) {
        if (aggregation_.kind == Aggregation::servers)
            options_.uncompressed = Uncompressed::in_messages;
        stage_.sizes = sizes_at(stage_.density);
    }

    Task<> encode(CoderInput input) override;
    Task<Vector> travel() override;
    Task<> decode() override {
        const Duration time =
            decoding_time(aggregation_.kind == Aggregation::servers ? 1 : members_);
        if (time > Duration::zero()) co_await self_.compute(time);
    }
    [[nodiscard]] Bytes message_bytes() const override { return stage_.sizes->of_union(1); }
    [[nodiscard]] Bytes received_bytes() const override {
        if (aggregation_.kind == Aggregation::all_gather) return members_ * message_bytes();
        if (aggregation_.kind == Aggregation::servers)
            return dense_bytes(options_, *place_.charged);
        return stage_.sizes->of_union(members_);
    }
    [[nodiscard]] Duration decoding_time(std::int64_t messages) const override {
        if (!coding_ || stage_.density == 1) return {};
        return multiple(messages,
                        coding_->decode.of(selected_tensors(*place_.charged),
                                           selected_entries(*place_.charged, stage_.density)));
    }

  private:
    [[nodiscard]] bool rest_travels_along() const {
        return stage_.dense || options_.uncompressed == Uncompressed::in_messages ||
               place_.charged->incompressible_entries() == 0;
    }
    void set_density(double density) {
        if (density == stage_.density) return;
        stage_ = stage_exchange(options_, aggregation_, sizes_at(density), density, members_);
    }
    [[nodiscard]] SparseSizesPtr sizes_at(double density) const {
        return self_.sparse_sizes().of(place_.charged, rule_at(options_, density));
    }
    Task<Vector> measured();
    Task<Vector> by_law();
    Task<> server_messages(Bytes message);

    Worker& self_;
    DgcOptions options_;
    AggregationPlan aggregation_;
    std::optional<MeasuredCoding> coding_;
    CoderPlace place_;
    int members_;
    bool measures_;  // there is something to select from
    DgcMemoryPtr memory_;
    StageExchange stage_;
    Vector gradient_;  // as it came in, if nothing is selected from it
    SparseVector sent_;
    Vector rest_;
};

Task<> SparseCoder::encode(CoderInput input) {
    set_density(density_at(options_, self_.step(), self_.epoch()));
    Duration search = stage_.sizes->selection_time();
    if (coding_)
        search = stage_.density == 1 ? Duration{}
                                     : coding_->encode.of(selected_tensors(*place_.charged),
                                                          selected_entries(*place_.charged, 1));
    co_await self_.compute(search, [&] {
        Vector g = input.make();
        if (!measures_) {
            gradient_ = std::move(g);
            return;
        }
        const bool whole = rest_travels_along();
        sent_ = compress(options_, g.layout(), stage_.density, whole, g.values(), *memory_);
        rest_ = whole ? Vector(rest_layout(0)) : rest_of(options_.format, g);
    });
}

Task<Vector> SparseCoder::measured() {
    SparsePacking packing{options_.format, self_.stands_in() ? place_.charged : nullptr,
                          rest_travels_along(), stage_.density};
    if (aggregation_.kind == Aggregation::all_gather) packing.gather = aggregation_.all_gather;
    if (stage_.dense) packing.dense = aggregation_.all_reduce;
    Vector mean =
        co_await self_.sparse_all_reduce(std::move(sent_), std::move(packing), place_.group);
    if (rest_travels_along()) co_return mean;
    const Bytes size = uncompressed_bytes(*place_.charged, options_.format);
    put_rest(
        co_await all_reduced(self_, std::move(rest_), aggregation_.all_reduce, size, place_.group),
        mean);
    co_return mean;
}

// Owns what it needs, since it may be asked after this worker is gone.
UnionWeight weight_of_unions(SparseSizesPtr sizes) {
    return
        [sizes = std::move(sizes)](const Union& merged) { return sizes->of_union(merged.count); };
}

// A vector without values, or values that are too few to select from and are averaged whole.
Task<Vector> SparseCoder::by_law() {
    if (!gradient_.has_values()) {
        co_await exchange_sparse(self_, options_, aggregation_, place_.charged, stage_,
                                 place_.group);
        co_return gradient_;
    }
    const auto weight = [this](int count) {
        return stage_.dense ? dense_bytes(options_, *place_.charged)
                            : stage_.sizes->of_union(count);
    };
    if (stage_.dense)
        co_return co_await all_reduced(self_, std::move(gradient_), aggregation_.all_reduce,
                                       weight(1), place_.group);
    const CollectiveOfOwn messages = [this, weight](const Rank& rank) -> Task<> {
        if (aggregation_.kind == Aggregation::all_gather)
            return all_gather(aggregation_.all_gather, rank, weight(1));
        return sparse_all_reduce(rank, weight_of_unions(stage_.sizes));
    };
    Vector mean = co_await self_.combine(std::move(gradient_), messages, mean_of<Vector>,
                                         place_.group, "sparse all-reduce");
    const Bytes rest = uncompressed_bytes(*place_.charged, options_.format);
    if (!rest_travels_along())
        co_await all_reduced(self_, Vector(rest_layout(1)), aggregation_.all_reduce, rest,
                             place_.group);
    co_return mean;
}

Task<Vector> SparseCoder::travel() {
    if (aggregation_.kind != Aggregation::servers)
        co_return co_await (measures_ ? measured() : by_law());
    Bytes message = message_bytes();
    Vector dense = std::move(gradient_);
    if (measures_) {
        SparsePacking packing{options_.format, self_.stands_in() ? place_.charged : nullptr, true,
                              stage_.density};
        SparseRound own(1, place_.layout, std::move(packing));
        Eigen::VectorXd values = Eigen::VectorXd::Zero(place_.layout->entries());
        add(sent_, values);
        dense = {place_.layout, std::move(values)};
        if (!rest_travels_along()) put_rest(rest_, dense);
        own.enter(0, std::move(sent_));
        message = own.contribution_bytes(0);
    }
    const CollectiveOfOwn messages = [this, message](const Rank& rank) {
        const int servers = std::min(aggregation_.servers, rank.size());
        const Bytes answer = dense_bytes(options_, *place_.charged);
        return server_exchange(
            rank, {servers, aggregation_.first_server_node},
            [=](int shard) { return chunk(message, servers, shard); },
            [=](int shard) { return chunk(answer, servers, shard); }, {});
    };
    co_return co_await self_.combine(std::move(dense), messages, mean_of<Vector>, place_.group,
                                     "exchange with servers");
}

}  // namespace

Task<> exchange_sparse(Worker& self, DgcOptions options, AggregationPlan aggregation,
                       LayoutPtr layout, StageExchange stage, GroupPtr group) {
    if (stage.dense) {
        co_await all_reduced(self, Vector(layout), aggregation.all_reduce,
                             dense_bytes(options, *layout), group);
        co_return;
    }
    if (aggregation.kind == Aggregation::all_gather)
        co_await self.all_gather(stage.sizes->of_union(1), aggregation.all_gather, group);
    else
        co_await self.sparse_all_reduce(weight_of_unions(stage.sizes), group);
    if (options.uncompressed == Uncompressed::in_messages) co_return;
    if (layout->incompressible_entries() == 0) co_return;
    co_await all_reduced(self, Vector(layout), aggregation.all_reduce,
                         uncompressed_bytes(*layout, options.format), group);
}

DgcMemoryPtr dgc_memory_at(const Worker& self, const CoderPlace& place) {
    return std::make_shared<DgcMemory>(make_dgc_memory(
        self.timing_only() ? 0 : place.layout->entries(), self.stream("selection" + place.tag)));
}

CoderPtr make_sparse_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                           CoderPlace place, DgcMemoryPtr memory) {
    return std::make_unique<SparseCoder>(self, codec, aggregation, std::move(place),
                                         std::move(memory));
}

}  // namespace paceline
