// Which algorithms, codecs, aggregations and schedules go together, and why others do not.
//
// An exchange is described by features: of its algorithm, codec, aggregation and schedule, and of
// what happens when nodes die. A rule names features of one choice, features of another (or of the
// same), and why they exclude each other. A combination is refused if and only if two of its
// features are: there is no rule of three. The rules are data; the readers, docs/combinations.md
// and the tests use the same table.
//
// A feature of an algorithm is what its step needs of an exchange: whether it is a mean of
// gradients, of momenta or of models, an average with neighbors, and so on. Several algorithms
// share one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace paceline {

enum class Choice : std::uint8_t { algorithm, codec, aggregation, schedule, failures };

enum class Feature : std::uint8_t {
    // Algorithms: what is exchanged, and the step that follows.
    momentum_sgd,      // the mean gradient; the step of momentum SGD
    adam,              // the mean gradient; a step that goes by entry
    layerwise,         // the mean gradient; a step that needs norms of whole tensors
    dgc_step,          // of DGC, where workers hold the velocities
    dropping_step,     // one threshold over the whole gradient
    vote_step,         // along the signs that most workers vote for
    scaled_sign_step,  // of error feedback in units of steps
    low_rank_step,     // momentum behind a matrix of low rank
    column_step,       // of 1-bit SGD
    momenta,           // the mean momentum of workers; a step that goes by entry
    tensor_momenta,    // the same; a step that needs norms of whole tensors
    local_momenta,     // the same, and local steps between exchanges
    models,            // the mean model, now and then
    outer_gradients,   // the mean of what blocks of steps have moved
    fragments,         // the same, of a part of the model at a time
    shares,            // the mean of some entries of the models
    components,        // of momenta, in the frequency domain
    sharded,           // shards of gradients and parameters
    global_top_k,      // the largest entries of the sum, merged along a tree
    neighbor_models,   // averages of models with neighbors, in every step
    neighbor_blocks,   // averages with neighbors of models, and of what blocks of steps have moved
    differences,       // changes of models since the last message, to neighbors
    pushes,            // shares of models by push-sum
    pairs,             // models of two workers at a time
    server_of_models,  // gradients up, models down, nobody waits
    server_rounds,     // changes of models up, models down, in rounds
    nothing,           // no training
    clipping,          // by the norm of the whole mean gradient
    // Codecs.
    none,
    fp16,
    top_k,
    random_k,
    random_block,
    qsgd,
    terngrad,
    shared_terngrad,  // all workers round to multiples of one scaler
    sign,
    majority,  // signs, and the aggregate is their vote
    scaled_sign,
    natural,
    eight_bit,
    chunked_top_k,
    of_senders,  // chunked top-k, and the aggregate is the mean over the senders of an entry
    one_bit_columns,
    power_sgd,
    dgc,
    one_bit,
    // Transports.
    all_reduce,
    all_gather,
    two_phase,
    sparse_all_reduce,
    plain_servers,  // nothing is encoded
    servers_up,     // what workers push is encoded
    servers_both,   // the answer, too
    neighbors,
    own_messages,  // those of the algorithm, which has no other aggregation
    flat,
    leaders,
    encoding_leaders,  // devices encode for their leader
    shards,
    // Schedules.
    whole,
    tensors,
    buckets,
    merged,
    after_backward,
    in_phases,
    beside_backward,
    into_forward,
    fifo,
    priority,
    partitions,
    partitions_into_forward,
    several_streams,
    // Failures.
    survivors_go_on,
};

/// A set of features.
class Features {
  public:
    constexpr Features() = default;
    template <class... More>
    constexpr explicit Features(Feature first, More... more) {
        add(first);
        (add(more), ...);
    }

    [[nodiscard]] constexpr bool has(Feature feature) const {
        return (bits_[word(feature)] & bit(feature)) != 0;
    }
    [[nodiscard]] constexpr Features with(Features more) const {
        Features both = *this;
        for (std::size_t w = 0; w < words; ++w) both.bits_[w] |= more.bits_[w];
        return both;
    }
    [[nodiscard]] constexpr Features without(Features less) const {
        Features rest = *this;
        for (std::size_t w = 0; w < words; ++w) rest.bits_[w] &= ~less.bits_[w];
        return rest;
    }
    [[nodiscard]] constexpr bool meets(Features others) const {
        std::uint64_t common = 0;
        for (std::size_t w = 0; w < words; ++w) common |= bits_[w] & others.bits_[w];
        return common != 0;
    }
    friend constexpr bool operator==(Features, Features) = default;

  private:
    static constexpr std::size_t words = 2;

    constexpr void add(Feature feature) { bits_[word(feature)] |= bit(feature); }
    static constexpr std::size_t word(Feature feature) {
        return static_cast<std::size_t>(feature) / 64;
    }
    static constexpr std::uint64_t bit(Feature feature) {
        return std::uint64_t{1} << (static_cast<unsigned>(feature) % 64);
    }

    std::array<std::uint64_t, words> bits_{};
};

struct FeatureEntry {
    Feature feature;
    Choice choice;
    std::string_view name;  // as a scenario writes it, or what it means
};

/// Returns all features, in their order.
std::span<const FeatureEntry> exchange_features();
const FeatureEntry& entry_of(Feature feature);

struct ExchangeRule {
    Features first;
    Features second;
    std::string_view reason;  // says what is right where something is
};

std::span<const ExchangeRule> exchange_rules();

/// Two features that exclude each other.
struct Conflict {
    Feature first;
    Feature second;
    std::string_view reason;
};

/// Returns why two features exclude each other, in either order; nothing if they do not.
std::optional<std::string_view> reason_against(Feature one, Feature other);

/// Returns the first conflict between features of a set; nothing if all go together.
std::optional<Conflict> conflict_among(Features all);

/// Returns all features of a choice.
Features features_of(Choice choice);

}  // namespace paceline
