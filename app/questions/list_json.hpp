// What `paceline list --json` prints: what a scenario can name, for programs and the explorer.
//
//   algorithms     families, each with its algorithms: name, summary, keys, when_nodes_die, trains,
//                  has_server
//   fabrics, codecs, aggregations, models, data      name, summary, keys
//   mixings        name, summary
//   profiles       name, title, sample, parameters, macs (forward, of a sample), measured: device,
//                  precision, batch (null: any), samples_per_s
//   devices        name, title, peak_flops by precision
//   links          name, bandwidth to the node, bandwidth_up from it, one_way_latency, efficiency
//   libraries      name
//
// Durations and bandwidths are texts as a scenario has them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace paceline {

/// Returns the names of the lists that have a JSON.
std::span<const std::string_view> json_list_names();

/// Returns one list, or an object of all of them for an empty name. Requires that the name is
/// known.
std::string list_json(std::string_view name);

}  // namespace paceline
