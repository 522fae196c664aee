#include "app/scenario/aggregations/exchange_rules.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/engine/check.hpp"

namespace paceline {

// The names of features stay in here, because several sources are compiled as one.
namespace rules_of_exchange {

namespace {

using enum Feature;

constexpr auto feature_table = std::to_array<FeatureEntry>({
    {momentum_sgd, Choice::algorithm, "mean gradients, the step of momentum SGD"},
    {adam, Choice::algorithm, "mean gradients, a step by entry"},
    {layerwise, Choice::algorithm, "mean gradients, a step by tensor"},
    {dgc_step, Choice::algorithm, "the step of DGC"},
    {dropping_step, Choice::algorithm, "one threshold over the gradient"},
    {vote_step, Choice::algorithm, "a vote of signs"},
    {scaled_sign_step, Choice::algorithm, "scaled signs of steps"},
    {low_rank_step, Choice::algorithm, "gradients of low rank"},
    {column_step, Choice::algorithm, "the step of 1-bit SGD"},
    {momenta, Choice::algorithm, "mean momenta, a step by entry"},
    {tensor_momenta, Choice::algorithm, "mean momenta, a step by tensor"},
    {local_momenta, Choice::algorithm, "mean momenta, and local steps"},
    {models, Choice::algorithm, "mean models"},
    {outer_gradients, Choice::algorithm, "mean outer gradients"},
    {fragments, Choice::algorithm, "fragments of outer gradients"},
    {shares, Choice::algorithm, "shares of models"},
    {components, Choice::algorithm, "frequencies of momenta"},
    {sharded, Choice::algorithm, "shards"},
    {global_top_k, Choice::algorithm, "a global top-k"},
    {neighbor_models, Choice::algorithm, "models of neighbors"},
    {neighbor_blocks, Choice::algorithm, "blocks of neighbors"},
    {differences, Choice::algorithm, "compressed differences of models"},
    {pushes, Choice::algorithm, "push-sum"},
    {pairs, Choice::algorithm, "models of pairs"},
    {server_of_models, Choice::algorithm, "a server of models"},
    {server_rounds, Choice::algorithm, "a server with rounds"},
    {nothing, Choice::algorithm, "no training"},
    {clipping, Choice::algorithm, "the optimizer's \"clip\""},
    {none, Choice::codec, "none"},
    {fp16, Choice::codec, "fp16"},
    {top_k, Choice::codec, "top-k"},
    {random_k, Choice::codec, "random-k"},
    {random_block, Choice::codec, "random-block"},
    {qsgd, Choice::codec, "qsgd"},
    {terngrad, Choice::codec, "terngrad"},
    {shared_terngrad, Choice::codec, "terngrad, shared scaler"},
    {sign, Choice::codec, "sign"},
    {majority, Choice::codec, "sign, majority"},
    {scaled_sign, Choice::codec, "scaled-sign"},
    {natural, Choice::codec, "natural"},
    {eight_bit, Choice::codec, "8-bit"},
    {chunked_top_k, Choice::codec, "chunked-top-k"},
    {of_senders, Choice::codec, "chunked-top-k, mean of senders"},
    {one_bit_columns, Choice::codec, "one-bit-columns"},
    {power_sgd, Choice::codec, "power-sgd"},
    {dgc, Choice::codec, "dgc"},
    {one_bit, Choice::codec, "one-bit"},
    {all_reduce, Choice::aggregation, "all-reduce"},
    {all_gather, Choice::aggregation, "all-gather"},
    {two_phase, Choice::aggregation, "two-phase"},
    {sparse_all_reduce, Choice::aggregation, "sparse-all-reduce"},
    {plain_servers, Choice::aggregation, "servers, encoded none"},
    {servers_up, Choice::aggregation, "servers, encoded up"},
    {servers_both, Choice::aggregation, "servers, encoded both"},
    {neighbors, Choice::aggregation, "neighbors"},
    {own_messages, Choice::aggregation, "its own messages"},
    {flat, Choice::aggregation, "flat"},
    {leaders, Choice::aggregation, "leaders"},
    {encoding_leaders, Choice::aggregation, "leaders, inside encoded"},
    {shards, Choice::aggregation, "shards"},
    {islands_by_leaders, Choice::aggregation, "islands, by leaders"},
    {islands_by_shards, Choice::aggregation, "islands, by shards"},
    {whole, Choice::schedule, "whole"},
    {tensors, Choice::schedule, "tensors"},
    {buckets, Choice::schedule, "buckets"},
    {merged, Choice::schedule, "merged"},
    {after_backward, Choice::schedule, "after-backward"},
    {in_phases, Choice::schedule, "in-phases"},
    {beside_backward, Choice::schedule, "beside-backward"},
    {into_forward, Choice::schedule, "into-forward"},
    {fifo, Choice::schedule, "fifo"},
    {priority, Choice::schedule, "priority"},
    {partitions, Choice::schedule, "partition"},
    {partitions_into_forward, Choice::schedule, "partition and into-forward"},
    {several_streams, Choice::schedule, "streams above 1"},
    {survivors_go_on, Choice::failures, "go-on or stall"},
});

constexpr Features of(Choice choice) {
    Features all;
    for (const FeatureEntry& entry : feature_table)
        if (entry.choice == choice) all = all.with(Features(entry.feature));
    return all;
}

constexpr Features codecs = of(Choice::codec);
constexpr Features aggregations(all_reduce, all_gather, two_phase, sparse_all_reduce, plain_servers,
                                servers_up, servers_both, neighbors, own_messages);
constexpr Features schedules = of(Choice::schedule);
constexpr Features servers(plain_servers, servers_up, servers_both);
constexpr Features machines(leaders, encoding_leaders, shards);
constexpr Features islands(islands_by_leaders, islands_by_shards);
constexpr Features exact(none, fp16);
// What the server or owner of a chunk must decode, because it does not add up.
constexpr Features gathered(top_k, qsgd, terngrad, sign, majority, scaled_sign, natural, eight_bit,
                            chunked_top_k, of_senders, one_bit_columns);
constexpr Features drawn_alike(random_k, random_block);
constexpr Features all_momenta(momenta, tensor_momenta, local_momenta);

constexpr std::string_view is_its_codec =
    "the step is made for its own codec; the kind \"sgd\" takes any";
constexpr std::string_view one_model =
    "all workers keep one model, which takes the aggregate of all; \"dsgd\" and its relatives "
    "average with neighbors";
constexpr std::string_view owners_errors =
    "errors stay with the owners of chunks among all workers, which needs two-phase, flat";
constexpr std::string_view factors_add_up =
    "its two factors are sent as sums: all-reduce, or servers with \"encoded\": \"none\"";
constexpr std::string_view own_aggregation =
    "the algorithm has its own messages; leave \"aggregation\" out";
constexpr std::string_view whole_models =
    "workers send whole models when they have one; leave \"schedule\" out, or \"whole\"";
constexpr std::string_view rounded_models =
    "models whose rounding errors are discarded do not come to agree; \"choco-sgd\" sends "
    "differences, \"sgd\" compressed gradients";
constexpr std::string_view velocities =
    "its memory is the velocity of momentum SGD: use the kind \"dgc\" or \"sgd\"; for others top-k "
    "with error feedback";
constexpr std::string_view trains_alone =
    "islands need a method whose workers have their own models, or a server: use one of "
    "docs/algorithms/local.md, decentralized.md, gossip.md or servers.md";
constexpr std::string_view everybody_reruns =
    "survivors of a failure run the exchanges of all workers again, flat and one at a time; or "
    "set \"on_death\" to \"restart\"";

// To add a rule: a line here. Rules of codecs and aggregations first, as these decide most.
constexpr auto rules = std::to_array<ExchangeRule>({
    // Codecs and aggregations.
    {gathered.without(Features(top_k)), Features(all_reduce),
     "its messages do not add up: use all-gather, two-phase or servers"},
    {Features(top_k), Features(all_reduce),
     "its messages do not add up: use all-gather, two-phase or servers"},
    {Features(dgc), Features(all_reduce),
     "different supports do not add up: use sparse-all-reduce, all-gather, or servers with "
     "\"encoded\": \"up\""},
    {codecs.without(Features(dgc)), Features(sparse_all_reduce),
     "messages that merge know their supports: that is for dgc, which without momentum correction "
     "and masking is top-k with error feedback"},
    {drawn_alike, Features(two_phase, servers_both),
     "all workers draw the same entries, so messages add up as they are: use all-reduce"},
    {Features(dgc), Features(two_phase, servers_both),
     "a second selection, by the owner of a chunk, would lose what it does not select"},
    {Features(power_sgd),
     Features(all_gather, two_phase, sparse_all_reduce, servers_up, servers_both, neighbors),
     factors_add_up},
    {Features(power_sgd), Features(shards), "a shard of a matrix is not a matrix: flat or leaders"},
    {Features(power_sgd), Features(encoding_leaders),
     "no message of a device is complete before the second sum: leaders with \"inside\": "
     "\"dense\""},
    {Features(one_bit), aggregations.without(Features(two_phase)).with(machines), owners_errors},
    {codecs.without(Features(none, power_sgd)), Features(plain_servers),
     "nothing would be encoded: \"encoded\" is \"up\" or \"both\", or the codec \"none\""},
    {Features(none), Features(encoding_leaders), "nothing is encoded: \"inside\" is \"dense\""},
    {Features(dgc), Features(encoding_leaders),
     "the leader's selection would come on top of the devices': \"inside\" is \"dense\""},
    {Features(shared_terngrad), Features(encoding_leaders),
     "no message of a device is complete before all workers share their scalers: \"inside\" is "
     "\"dense\""},
    {Features(of_senders), Features(two_phase, servers_both),
     "the owner of a chunk sends one message, which does not record who sent an entry: use "
     "all-gather, or \"mean\": \"all\""},
    {Features(dgc, one_bit, majority, of_senders, shared_terngrad), Features(neighbors),
     "it needs the messages of all workers"},
    // Transports among themselves.
    {Features(neighbors), Features(encoding_leaders, shards),
     "a machine averages its own models, then with neighbors: flat or leaders, \"inside\" "
     "\"dense\""},
    {Features(own_messages), machines, own_aggregation},
    {machines, islands,
     "islands exchange through their own devices, as the \"by\" of \"islands\" states: leave "
     "\"machines\" out"},
    {servers, islands,
     "an island has no servers among its devices: all-reduce, all-gather or two-phase"},
    {Features(pairs, server_of_models, server_rounds), Features(islands_by_shards),
     "messages go between the first devices of islands: \"by\" is \"leaders\""},
    {Features(power_sgd), Features(islands_by_shards),
     "a shard of a matrix is not a matrix: \"by\" of \"islands\" is \"leaders\""},
    {Features(one_bit), islands, owners_errors},
    {Features(chunked_top_k, of_senders), Features(shards, islands_by_shards, partitions),
     "a part of a matrix has no chunks along both of its sides: no \"partition\", and by leaders"},
    // Schedules among themselves.
    {Features(whole), Features(in_phases),
     "the phases of a whole gradient follow one another anyway: \"begin\" is \"after-backward\", "
     "or give \"pieces\""},
    {Features(whole), Features(beside_backward, into_forward),
     "a whole gradient is complete when backward has ended: \"begin\" is \"after-backward\", or "
     "give \"pieces\""},
    {Features(priority), Features(after_backward, in_phases),
     "pieces are distinguished by the layers that backward has completed: \"begin\" is "
     "\"beside-backward\" or \"into-forward\""},
    // Codecs and schedules.
    {Features(power_sgd), Features(partitions), "a part of a matrix is not a matrix"},
    {Features(one_bit), Features(partitions),
     "a buffer has one scale for whole tensors, which partitions cut"},
    {Features(dgc), Features(into_forward),
     "its stages change what is sent from one step to the next, so a step ends before the next "
     "begins"},
    // Transports and schedules.
    {Features(neighbors),
     Features(in_phases, into_forward, priority, partitions, several_streams, merged),
     "rounds with neighbors take place one after the other: whole, tensors or buckets, first-in "
     "first-out on one stream"},
    {Features(own_messages), schedules.without(Features(whole, after_backward, fifo)),
     whole_models},
    // Algorithms and codecs.
    {Features(dgc_step), codecs.without(Features(dgc)), is_its_codec},
    {Features(dropping_step), codecs,
     "its threshold is its codec; leave it out, or use \"sgd\" with top-k"},
    {Features(vote_step), codecs.without(Features(majority)), is_its_codec},
    {Features(scaled_sign_step), codecs.without(Features(scaled_sign)), is_its_codec},
    {Features(low_rank_step), codecs.without(Features(power_sgd)), is_its_codec},
    {Features(components), codecs,
     "its frequencies are its codec; leave it out, or use \"sgd\" with another"},
    {Features(global_top_k), codecs,
     "its largest entries are its codec; leave it out, or use \"sgd\" with top-k"},
    {Features(column_step), codecs,
     "its columns are its codec; leave it out, or use \"sgd\" with one-bit-columns"},
    {Features(adam, layerwise, outer_gradients, fragments).with(all_momenta), Features(dgc),
     velocities},
    {Features(outer_gradients, fragments), Features(sign, majority),
     "an outer gradient needs sizes: use scaled-sign, qsgd or natural"},
    {all_momenta, Features(sign, majority),
     "a mean momentum needs sizes: use one-bit, 8-bit or scaled-sign"},
    {Features(models, shares, neighbor_models, neighbor_blocks, pushes, pairs, server_of_models),
     codecs.without(exact), rounded_models},
    {Features(pushes, pairs, server_of_models), Features(fp16),
     "messages of half the size are \"wire\": \"fp16\" here"},
    {Features(differences),
     Features(power_sgd, dgc, one_bit, majority, of_senders, shared_terngrad),
     "receivers must decode a difference from one message alone: use a compressor, such as top-k"},
    {Features(server_rounds),
     drawn_alike.with(Features(power_sgd, dgc, one_bit, majority, of_senders, shared_terngrad)),
     "the server decodes each client's change from one message alone: use a compressor that draws "
     "its own, such as qsgd"},
    // Algorithms and aggregations.
    {Features(momentum_sgd, adam, layerwise, dgc_step, dropping_step, vote_step, scaled_sign_step,
              low_rank_step, column_step, models, outer_gradients, fragments, shares, components)
         .with(all_momenta),
     Features(neighbors), one_model},
    {Features(momentum_sgd, adam, layerwise, dgc_step, dropping_step, vote_step, scaled_sign_step,
              low_rank_step, column_step, models, outer_gradients, fragments, shares, components,
              neighbor_models, neighbor_blocks, differences, pushes)
         .with(all_momenta),
     Features(own_messages), "its messages are those of an aggregation"},
    {Features(dropping_step), Features(all_reduce, two_phase).with(servers).with(machines),
     "each worker selects from its whole gradient, by one threshold: all-gather or "
     "sparse-all-reduce, flat"},
    {Features(column_step),
     Features(all_reduce, all_gather, sparse_all_reduce).with(servers).with(machines),
     "columns are cut into stripes, one for each worker to add up: two-phase, flat"},
    {Features(components),
     aggregations.without(Features(all_gather, neighbors, own_messages)).with(machines),
     "frequencies that nobody else sent do not add up: all-gather, flat"},
    {Features(neighbor_models, neighbor_blocks, differences, pushes),
     aggregations.without(Features(neighbors, own_messages)),
     "workers average with neighbors, by \"neighbors\" alone; \"local-sgd\" and \"sgd\" take the "
     "mean of all"},
    {Features(momentum_sgd, adam, layerwise, dgc_step, dropping_step, vote_step, scaled_sign_step,
              low_rank_step, column_step, components, sharded, global_top_k, differences, nothing)
         .with(all_momenta),
     islands, trains_alone},
    {Features(pushes), machines, "every worker has its own shares, which machines do not: flat"},
    {Features(pairs, server_of_models, server_rounds, sharded, global_top_k, nothing),
     aggregations.without(Features(own_messages)), own_aggregation},
    {Features(nothing), codecs.without(Features(none)), "nothing is encoded; leave it out"},
    {Features(sharded), codecs.without(Features(none)),
     "shards are sent unchanged; leave it out, or use \"sgd\" or \"adam\" with a codec"},
    // Algorithms and schedules.
    {islands, Features(beside_backward, into_forward, priority),
     "the backward passes of an island are those of its inner method: \"begin\" is "
     "\"after-backward\""},
    {Features(layerwise, tensor_momenta), Features(partitions_into_forward),
     "a step needs the norm of a whole tensor, whose partitions arrive one by one: no "
     "\"partition\", or not into forward"},
    {Features(clipping), Features(into_forward),
     "the norm to clip by is known when all pieces have arrived: \"begin\" is "
     "\"beside-backward\""},
    {Features(dgc_step), Features(into_forward),
     "its stages change what is sent from one step to the next, so a step ends before the next "
     "begins"},
    {Features(local_momenta), Features(into_forward),
     "steps with an exchange and steps without alternate, so a step ends before the next begins"},
    {Features(column_step), schedules.without(Features(whole, after_backward, fifo)),
     "stripes are of the whole gradient: \"whole\"; \"sgd\" with one-bit-columns takes pieces"},
    {Features(dropping_step), schedules.without(Features(whole, after_backward, fifo)),
     "one threshold goes over the whole gradient: \"whole\"; \"sgd\" with top-k selects by "
     "tensor"},
    {Features(outer_gradients), Features(beside_backward, into_forward, priority),
     "outer gradients are averaged between blocks of steps: \"begin\" is \"after-backward\""},
    {Features(fragments, shares, components),
     schedules.without(Features(whole, after_backward, fifo)),
     "what is exchanged at a time is one piece; leave \"schedule\" out, or \"whole\""},
    {Features(models), Features(beside_backward, into_forward, priority),
     "models are averaged between blocks of steps: \"begin\" is \"after-backward\""},
    {Features(neighbor_blocks), Features(beside_backward, into_forward, priority),
     "blocks are averaged when they have ended: \"begin\" is \"after-backward\""},
    {Features(neighbor_models, differences), Features(into_forward, priority),
     "all pieces of a model are averaged before the next step begins, in order"},
    {Features(pushes), schedules.without(Features(whole, after_backward, fifo)), whole_models},
    {Features(pairs, server_of_models, server_rounds, nothing),
     schedules.without(Features(whole, after_backward, fifo)), whole_models},
    {Features(sharded, global_top_k), schedules.without(Features(whole, after_backward, fifo)),
     "the algorithm decides when to send and in which pieces; leave \"schedule\" out"},
    // Failures.
    {Features(one_bit), Features(survivors_go_on),
     "the errors of an owner are lost when it fails; set \"on_death\" to \"restart\""},
    {machines, Features(survivors_go_on), everybody_reruns},
    {Features(several_streams, priority, into_forward), Features(survivors_go_on),
     everybody_reruns},
});

// Returns whether each of the two features is on a side of the rule of its own.
bool excludes(const ExchangeRule& rule, Feature one, Feature other) {
    return (rule.first.has(one) && rule.second.has(other)) ||
           (rule.first.has(other) && rule.second.has(one));
}

}  // namespace

}  // namespace rules_of_exchange

std::span<const FeatureEntry> exchange_features() {
    return rules_of_exchange::feature_table;
}

const FeatureEntry& entry_of(Feature feature) {
    return rules_of_exchange::feature_table[static_cast<std::size_t>(feature)];
}

std::span<const ExchangeRule> exchange_rules() {
    return rules_of_exchange::rules;
}

std::optional<std::string_view> reason_against(Feature one, Feature other) {
    const auto found = std::ranges::find_if(
        rules_of_exchange::rules,
        [=](const ExchangeRule& rule) { return rules_of_exchange::excludes(rule, one, other); });
    if (found == rules_of_exchange::rules.end()) return std::nullopt;
    return found->reason;
}

std::optional<Conflict> conflict_among(Features all) {
    const auto named = [all](Features side) {
        return std::ranges::find_if(exchange_features(),
                                    [&](const FeatureEntry& entry) {
                                        return all.has(entry.feature) && side.has(entry.feature);
                                    })
            ->feature;
    };
    for (const ExchangeRule& rule : rules_of_exchange::rules)
        if (all.meets(rule.first) && all.meets(rule.second))
            return Conflict{named(rule.first), named(rule.second), rule.reason};
    return std::nullopt;
}

Features features_of(Choice choice) {
    return rules_of_exchange::of(choice);
}

}  // namespace paceline
