#include "algorithms/coders/compressed_coder.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/coders/majority_vote.hpp"
#include "algorithms/coders/mean_of_senders.hpp"
#include "algorithms/compression/compressor.hpp"
#include "algorithms/compression/error_feedback.hpp"
#include "algorithms/runtime/worker.hpp"
#include "models/tensors/layout_parts.hpp"
#include "sim/collectives/all_gather.hpp"
#include "sim/collectives/chunks.hpp"
#include "sim/collectives/servers.hpp"
#include "sim/collectives/two_phase.hpp"

namespace paceline {

namespace {

constexpr Bytes scaler_bytes{4};

std::int64_t chunk_begin(std::int64_t entries, int n, int index) {
    return chunks(Bytes{entries}, n, 0, index).count;
}

// Returns the entries that the owner of a chunk holds, of those that are encoded.
LayoutPtr chunk_of(const Layout& encoded, int n, int index) {
    return part_of(encoded, chunk_begin(encoded.entries(), n, index),
                   chunk_begin(encoded.entries(), n, index + 1));
}

// Calls use(where a tensor that is not left out begins, where it begins among those alone, its
// entries).
template <class Use>
void for_each_encoded(const Layout& layout, Use use) {
    std::int64_t begin = 0;
    for (std::size_t j = 0; j < layout.tensors().size(); ++j) {
        if (layout.tensors()[j].left_out) continue;
        const std::int64_t entries = layout.tensors()[j].entries();
        use(layout.offset(j), begin, entries);
        begin += entries;
    }
}

// How owners of chunks encode.
struct Again {
    const Compressor& compressor;
    double error_decay;
    int owners;
};

// Encodes entries again, chunk by chunk, as their owners do; changes the owners' errors.
void encode_chunks(const Again& again, const Layout& layout, Eigen::VectorXd& values,
                   Eigen::VectorXd* errors, RandomStream& random) {
    for (int j = 0; j < again.owners; ++j) {
        const LayoutPtr own = chunk_of(layout, again.owners, j);
        if (own->entries() == 0) continue;
        const std::int64_t begin = chunk_begin(layout.entries(), again.owners, j);
        Vector part(own, values.segment(begin, own->entries()));
        if (errors != nullptr) {
            Vector error(own, errors->segment(begin, own->entries()));
            part = compress_with_feedback(again.compressor, std::move(part), error, random,
                                          again.error_decay);
            errors->segment(begin, own->entries()) = error.values();
        } else {
            compress(again.compressor, part, random);
        }
        values.segment(begin, own->entries()) = part.values();
    }
}

// Returns the mean as the owners' messages bring it. What is left out of compression stays as it
// is.
Vector encoded_again(const Again& again, Vector mean, const LayoutPtr& encoded, Vector* errors,
                     RandomStream random) {
    Eigen::VectorXd* const all_errors = errors == nullptr ? nullptr : &errors->writable();
    Eigen::VectorXd& all = mean.writable();
    if (encoded->entries() == mean.entries()) {
        encode_chunks(again, *encoded, all, all_errors, random);
        return mean;
    }
    Eigen::VectorXd values(encoded->entries());
    const Layout& layout = *mean.layout();
    for_each_encoded(layout, [&](std::int64_t at, std::int64_t begin, std::int64_t entries) {
        values.segment(begin, entries) = all.segment(at, entries);
    });
    encode_chunks(again, *encoded, values, all_errors, random);
    for_each_encoded(layout, [&](std::int64_t at, std::int64_t begin, std::int64_t entries) {
        all.segment(at, entries) = values.segment(begin, entries);
    });
    return mean;
}

Vector largest_of(const Round<Vector>& round) {
    Vector most = round.of(0);
    Eigen::VectorXd& values = most.writable();
    for (std::size_t i = 1; i < round.members(); ++i)
        values = values.cwiseMax(round.of(i).values());
    return most;
}

class CompressedCoder final : public Coder {
  public:
    CompressedCoder(Worker& self, const Codec& codec, AggregationPlan aggregation, CoderPlace place)
        : self_(self),
          compressor_(std::get<Compressor>(codec.coder)),
          coding_(codec.coding),
          feedback_(codec.error_feedback),
          decay_(codec.error_decay),
          aggregation_(std::move(aggregation)),
          place_(std::move(place)),
          encoded_(self.layouts().without_left_out(place_.layout)),
          charged_(self.layouts().without_left_out(place_.charged)),
          members_(static_cast<int>(place_.group->members.size())),
          random_(self.stream("compression" + place_.tag)),
          decoded_(place_.layout),
          error_(place_.layout) {
        if (!self.timing_only())
            error_ = {place_.layout, Eigen::VectorXd::Zero(place_.layout->entries())};
    }

    Task<> encode(CoderInput input) override;
    Task<Vector> travel() override;
    Task<> decode() override {
        const Duration time = decoding_time(decoded_messages());
        return time > Duration::zero() ? code(time) : nothing();
    }
    [[nodiscard]] bool has_one_round() const override { return !shares_scalers(); }
    [[nodiscard]] Vector take_message() override {
        return std::exchange(decoded_, Vector(place_.layout));
    }
    [[nodiscard]] Bytes message_bytes() const override { return weigh(*place_.charged); }
    [[nodiscard]] Bytes received_bytes() const override;
    [[nodiscard]] Duration decoding_time(std::int64_t messages) const override {
        return paceline::decoding_time(compressor_, coding_, *place_.charged, messages);
    }

  private:
    [[nodiscard]] bool encodes_up() const {
        return aggregation_.kind != Aggregation::servers ||
               aggregation_.coded != ServerCoding::none;
    }
    [[nodiscard]] bool shares_scalers() const { return compressor_.scaler && encodes_up(); }
    [[nodiscard]] bool encodes_answers() const {
        return aggregation_.kind == Aggregation::two_phase ||
               (aggregation_.kind == Aggregation::servers &&
                aggregation_.coded == ServerCoding::both);
    }
    // Messages that a worker decodes at the end.
    [[nodiscard]] std::int64_t decoded_messages() const {
        if (aggregation_.kind == Aggregation::all_reduce) return 1;
        if (aggregation_.kind == Aggregation::all_gather) return members_;
        return encodes_answers() ? 1 : 0;
    }
    [[nodiscard]] std::int64_t own_passes() const { return feedback_ ? error_feedback_passes : 0; }
    [[nodiscard]] Bytes dense_bytes(const Layout& layout) const {
        return self_.wire().weigh(layout.entries());
    }
    // What is not compressed travels in the wire format of the job.
    [[nodiscard]] Bytes weigh(const Layout& layout) const {
        return compressor_.lossless ? dense_bytes(layout)
                                    : paceline::message_bytes(compressor_, layout);
    }
    [[nodiscard]] Bytes weigh_sum(int n) const {
        return compressor_.lossless ? dense_bytes(*place_.charged)
                                    : sum_bytes(compressor_, *place_.charged, n);
    }
    // A chunk holds its share of what is encoded, and of what is not.
    [[nodiscard]] Bytes chunk_bytes(int n, int index) const {
        return weigh(*chunk_of(*charged_, n, index)) + rest_bytes(n, index);
    }
    [[nodiscard]] Bytes rest_bytes(int n, int index) const {
        return chunk(fp32.weigh(place_.charged->entries() - charged_->entries()), n, index);
    }
    // Owns what it needs, since it may be asked after this worker is gone.
    [[nodiscard]] BlockWeight weight_of_chunks(int n) {
        if (!chunks_ || std::cmp_not_equal(chunks_->size(), n)) {
            std::vector<Bytes> chunks;
            for (int place = 0; place < n; ++place) chunks.push_back(chunk_bytes(n, place));
            chunks_ = std::make_shared<const std::vector<Bytes>>(std::move(chunks));
        }
        return [chunks = chunks_](int place) { return (*chunks)[static_cast<std::size_t>(place)]; };
    }
    [[nodiscard]] Bytes dense_chunk_bytes(int n, int index) const {
        return dense_bytes(*chunk_of(*place_.charged, n, index));
    }
    [[nodiscard]] Vector aggregate(const Round<Vector>& round) const {
        if (compressor_.of_senders) return mean_of_senders(round);
        return compressor_.majority ? majority_vote(round) : mean_of(round);
    }

    // Where there is nothing to do, the frame is small.
    static Task<> nothing() { co_return; }
    Task<> code(Duration time) { co_await self_.compute(time); }
    Task<> encode(CoderInput input, Duration time);
    Task<> share_scalers();
    Task<Vector> travel_behind_scalers();
    Task<Vector> carry();
    Task<> own_work(int owners, int owner, int messages);
    [[nodiscard]] Form form_again(int owners);
    Task<Vector> through_servers();

    Worker& self_;
    Compressor compressor_;
    CodingCost coding_;
    bool feedback_;
    double decay_;  // of errors
    AggregationPlan aggregation_;
    CoderPlace place_;
    LayoutPtr encoded_;  // of the values, without tensors that are left out
    LayoutPtr charged_;  // of the weights, likewise
    int members_;
    RandomStream random_;
    Vector decoded_;  // what this worker sends, as it is decoded
    Vector error_;
    std::shared_ptr<const std::vector<Bytes>> chunks_;  // their weights, of the last group
    std::int64_t number_ = 0;
};

Task<> CompressedCoder::encode(CoderInput input) {
    number_ = input.number;
    const Duration time =
        encodes_up()
            ? encoding_time(compressor_, coding_, *place_.charged, own_passes() + input.passes)
            : coding_time(coding_, input.passes, place_.charged->entries());
    const bool stays_as_it_is = !encodes_up() || (compressor_.lossless && !feedback_);
    if (stays_as_it_is && time == Duration::zero()) {
        decoded_ = input.make();
        return nothing();
    }
    return encode(std::move(input), time);
}

Task<> CompressedCoder::encode(CoderInput input, Duration time) {
    if (!encodes_up()) {
        co_await self_.compute(time);
        decoded_ = input.make();
        co_return;
    }
    RandomStream common = self_.common_stream("common compression" + place_.tag, number_);
    RandomStream& random = compressor_.draws_alike ? common : random_;
    co_await self_.compute(time, [&] {
        decoded_ = input.make();
        if (compressor_.scaler) {
            if (feedback_) decoded_ += decay_ * error_;  // rounded once the scalers are known
            return;
        }
        if (feedback_)
            decoded_ =
                compress_with_feedback(compressor_, std::move(decoded_), error_, random, decay_);
        else
            compress(compressor_, decoded_, random);
    });
}

// Everybody uses the largest of the members' scalers of each tensor.
Task<> CompressedCoder::share_scalers() {
    const auto tensors = [](const Layout& layout) {
        return static_cast<std::int64_t>(layout.tensors().size());
    };
    const auto per_tensor =
        std::make_shared<const Layout>(std::vector<Tensor>{{"scalers", {tensors(*place_.layout)}}});
    Vector scalers(per_tensor);
    if (decoded_.has_values()) {
        Eigen::VectorXd own(tensors(*place_.layout));
        for (Eigen::Index j = 0; j < own.size(); ++j) {
            const auto tensor = static_cast<std::size_t>(j);
            own(j) = compressor_.scaler(
                {decoded_.values().data() + place_.layout->offset(tensor),
                 static_cast<std::size_t>(place_.layout->tensors()[tensor].entries())});
        }
        scalers = {per_tensor, std::move(own)};
    }
    const Bytes size = tensors(*place_.charged) * scaler_bytes;
    scalers = co_await self_.combine(
        std::move(scalers),
        [size](const Rank& rank) { return all_reduce(AllReduce::recursive_doubling, rank, size); },
        &largest_of, place_.group, "largest scalers");
    if (!decoded_.has_values()) co_return;
    const Vector before = decoded_;
    Eigen::VectorXd& values = decoded_.writable();
    for (std::size_t j = 0; j < place_.layout->tensors().size(); ++j) {
        const Tensor& tensor = place_.layout->tensors()[j];
        if (tensor.left_out) continue;
        compressor_.apply_scaled(
            {values.data() + place_.layout->offset(j), static_cast<std::size_t>(tensor.entries())},
            scalers.values()(static_cast<Eigen::Index>(j)), random_);
    }
    if (feedback_) error_ = before - decoded_;
}

// An owner, or a server that encodes its answer, decodes all messages of its chunk and encodes
// their sum.
Task<> CompressedCoder::own_work(int owners, int owner, int messages) {
    const LayoutPtr own = chunk_of(*charged_, owners, owner);
    Duration time = paceline::decoding_time(compressor_, coding_, *own, messages);
    if (encodes_answers())
        time = sum(time, encoding_time(compressor_, coding_, *own, own_passes()));
    if (time > Duration::zero()) co_await self_.compute(time);
}

Form CompressedCoder::form_again(int owners) {
    Vector* errors = nullptr;
    if (feedback_ && !self_.timing_only())
        errors = &self_.replicated("errors of owners" + place_.tag,
                                   Vector(encoded_, Eigen::VectorXd::Zero(encoded_->entries())));
    return [this, owners, errors](const Round<Vector>& round) {
        const int present = std::min(owners, static_cast<int>(round.members()));
        return encoded_again({compressor_, decay_, present}, mean_of(round), encoded_, errors,
                             self_.common_stream("encoding again" + place_.tag, number_));
    };
}

Task<Vector> CompressedCoder::through_servers() {
    const CollectiveOfOwn messages = [this](const Rank& rank) {
        const int members = rank.size();
        const int servers = std::min(aggregation_.servers, members);
        const auto weigh_shard = [this, servers](bool encoded, int shard) {
            return encoded ? chunk_bytes(servers, shard) : dense_chunk_bytes(servers, shard);
        };
        return server_exchange(
            rank, {servers, aggregation_.first_server_node},
            [=, up = encodes_up()](int shard) { return weigh_shard(up, shard); },
            [=, down = encodes_answers()](int shard) { return weigh_shard(down, shard); },
            [=, this](int shard) { return own_work(servers, shard, encodes_up() ? members : 0); });
    };
    Form form = [this](const Round<Vector>& round) { return aggregate(round); };
    if (encodes_answers()) form = form_again(aggregation_.servers);
    co_return co_await self_.combine(std::move(decoded_), messages, std::move(form), place_.group,
                                     "exchange with servers");
}

Task<Vector> CompressedCoder::travel() {
    return shares_scalers() ? travel_behind_scalers() : carry();
}

Task<Vector> CompressedCoder::travel_behind_scalers() {
    co_await share_scalers();
    co_return co_await carry();
}

Task<Vector> CompressedCoder::carry() {
    const Form form = [this](const Round<Vector>& round) { return aggregate(round); };
    switch (aggregation_.kind) {
        case Aggregation::all_reduce: {
            const Bytes size = weigh_sum(members_);
            const AllReducePlan& how = aggregation_.all_reduce;
            return self_.combine(
                std::move(decoded_),
                [&how, size](const Rank& rank) { return all_reduce(how, rank, size); }, form,
                place_.group, name_of(how, size));
        }
        case Aggregation::two_phase: {
            const CollectiveOfOwn messages = [this](const Rank& rank) {
                const int n = rank.size();
                return two_phase(aggregation_.all_to_all, rank, weight_of_chunks(n),
                                 [this, n, at = rank.place()] { return own_work(n, at, n); });
            };
            return self_.combine(std::move(decoded_), messages, form_again(members_), place_.group,
                                 "two-phase all-reduce");
        }
        case Aggregation::servers:
            return through_servers();
        case Aggregation::all_gather:
        case Aggregation::sparse_all_reduce:
            break;
    }
    const Bytes size = message_bytes();
    const AllGather how = aggregation_.all_gather;
    return self_.combine(
        std::move(decoded_), [how, size](const Rank& rank) { return all_gather(how, rank, size); },
        form, place_.group, "exchange");
}

Bytes CompressedCoder::received_bytes() const {
    if (aggregation_.kind == Aggregation::all_gather) return members_ * message_bytes();
    if (aggregation_.kind == Aggregation::all_reduce) return weigh_sum(members_);
    return encodes_answers() ? message_bytes() : dense_bytes(*place_.charged);
}

}  // namespace

CoderPtr make_compressed_coder(Worker& self, const Codec& codec, const AggregationPlan& aggregation,
                               CoderPlace place) {
    return std::make_unique<CompressedCoder>(self, codec, aggregation, std::move(place));
}

}  // namespace paceline
