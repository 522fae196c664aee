// What `paceline list --json` prints: what a scenario can name, for programs and the explorer.
//
//   algorithms     families, each with its algorithms: name, summary, keys, when_nodes_die, trains,
//                  has_server, paper, aliases: names that stand for it with some keys
//   fabrics, codecs, aggregations, models, data      name, summary, keys
//   schedules      name, summary; an object of them has other keys
//   mixings        name, summary
//   combinations   tables, each with its pairs: one, other, runs, reason (null: it runs)
//   collectives    key, name, closed_form
//   profiles       name, title, sample, parameters, macs (forward, of a sample), measured: device,
//                  precision, batch (null: any), samples_per_s, source
//   devices        name, title, peak_flops by precision, source
//   links          name, bandwidth to the node, bandwidth_up from it, one_way_latency, efficiency,
//                  source
//   libraries      name, start_up, staging (null: none), protocol, all_reduce of a MiB, source
//
// Each list of `paceline list` is here, but that of the schema, which is a JSON of its own.
// Durations and bandwidths are texts as a scenario has them.
#pragma once

#include <string>
#include <string_view>

namespace paceline {

/// Returns one list, or an object of all of them for an empty name. Requires a name of list_names()
/// (list_text.hpp).
std::string list_json(std::string_view name);

}  // namespace paceline
