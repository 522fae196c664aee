// Compares the defaults in scenario.schema.json with the readers: a scenario that omits a key runs
// the same as one that spells out the default, and differently from one with another value.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/schema.hpp"
#include "app/run/results.hpp"
#include "app/run/run_point.hpp"
#include "app/scenario/study.hpp"
#include "app/study/baseline.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"

namespace paceline::schema_defaults_test {
namespace {

// Four nodes that train a small net, and four that only simulate the timing of a published one.
const Json training = Json::parse(R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "20us"}}},
    "workload": {"model": {"kind": "mlp", "hidden": [6]}, "step_time": "1ms", "batch": 4,
                 "data": {"kind": "digits", "size": 8, "noise": 0, "train": 64, "test": 32}},
    "optimizer": {"learning_rate": 0.1},
    "algorithm": {"kind": "dense"},
    "measure": {"every": "4 iterations"},
    "stop": {"iterations": 12}})");
const Json timing = Json::parse(R"({
    "cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"bandwidth": "1Gbps", "latency": "20us"}}},
    "workload": {"profile": "alexnet", "step_time": "100ms", "batch": 4},
    "algorithm": {"kind": "dense"},
    "stop": {"iterations": 3}})");

// Where an object of a definition occurs, and what else must be present for its keys to matter. The
// same definition may occur in several rows. Algorithms, data, compressors and codecs need no row.
struct Stage {
    const char* definition;
    const char* pointer;
    const char* patch;
};

const std::vector<Stage> stages{
    {"cluster", "/cluster", R"({})"},
    {"failures", "/cluster/failures",
     R"({"cluster": {"failures": {"schedule": [{"node": 1, "at": "130ms", "for": "200ms"}],
         "checkpoint": {"every": "50ms", "write": "1ms", "read": "1ms"}}}, "stop": {"iterations": 6}})"},
    {"node_range", "/cluster/fabric/other_links/0/nodes",
     R"({"cluster": {"fabric": {"other_links": [{"nodes": {"from": 1, "to": 3},
         "link": {"bandwidth": "10Mbps"}}]}}, "algorithm": {"kind": "ps-async"}})"},
    {"background-constant", "/cluster/background/0",
     R"({"cluster": {"background": [{"kind": "constant", "from": 0, "to": 1, "rate": "900Mbps"}]}})"},
    {"background-on-off", "/cluster/background/0",
     R"({"cluster": {"background": [{"kind": "on-off", "from": 0, "to": 1, "rate": "900Mbps",
         "on": "50ms", "off": "10ms"}]}})"},
    {"price", "/price", R"({"price": {}, "power": {"computing": 100}})"},
    {"power", "/power", R"({"power": {"computing": 100}})"},
    {"access-trace", "/cluster/access/0",
     R"({"cluster": {"access": [{"kind": "trace", "file": "trace.csv", "period": "300ms"}]}})"},
    {"access-trace", "/cluster/access/0",
     R"({"cluster": {"access": [{"kind": "trace", "format": "mahimahi", "file": "packets.txt"}]}})"},
    {"access-on-off", "/cluster/access/0",
     R"({"cluster": {"access": [{"kind": "on-off", "on": "50ms", "off": "30ms"}]}})"},
    {"access-outages", "/cluster/access/0",
     R"({"cluster": {"access": [{"kind": "outages", "schedule": [{"at": "120ms", "for": "1s"}]}]}})"},
    {"stragglers", "/cluster/stragglers", R"({"cluster": {"stragglers": {"factor": 3}}})"},
    {"stragglers", "/cluster/stragglers",
     R"({"cluster": {"stragglers": {"factor": 3, "every": 2}}})"},
    {"stragglers", "/cluster/stragglers",
     R"({"cluster": {"stragglers": {"factor": 3, "period": "400ms", "for": "50ms"}}})"},
    {"cluster", "/cluster",
     R"({"cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "hierarchical"}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"nccl", "/cluster/library/all_reduce",
     R"({"cluster": {"nodes": 1, "devices_per_node": 4, "bus": {"kind": "switched", "link": {"bandwidth": "3Tbps"}},
         "library": {"all_reduce": {"kind": "nccl", "protocol": "ll"}}},
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "library"}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"nccl", "/cluster/library/all_reduce",
     R"({"cluster": {"nodes": 1, "devices_per_node": 8, "bus": {"kind": "switched", "link": {"bandwidth": "3Tbps"}},
         "library": {"all_reduce": {"kind": "nccl", "gpus": "hopper"}}},
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "library"}},
         "workload": {"model": null, "data": null, "batch": null, "profile": null, "gradient": "1GB", "step_time": null, "gradient_time": "5ms"},
         "optimizer": null, "measure": null})"},
    {"nccl", "/cluster/library/all_reduce",
     R"({"cluster": {"nodes": 4, "library": {"all_reduce": {"kind": "nccl"}}},
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "library"}}})"},
    {"transport", "/cluster/transport", R"({"cluster": {"transport": {"kind": "tcp"}}})"},
    {"star", "/cluster/fabric", R"({})"},
    {"cell", "/cluster/fabric",
     R"({"cluster": {"fabric": {"kind": "cell", "nodes_per_cell": 2, "capacity": "1Gbps"}}})"},
    {"leaf-spine", "/cluster/fabric",
     R"({"cluster": {"fabric": {"kind": "leaf-spine", "hosts_per_leaf": 2, "spines": 1}}})"},
    {"fat-tree", "/cluster/fabric", R"({"cluster": {"fabric": {"kind": "fat-tree"}}})"},
    {"torus", "/cluster/fabric", R"({"cluster": {"fabric": {"kind": "torus", "dims": [2, 2]}}})"},
    {"ring", "/cluster/fabric", R"({"cluster": {"fabric": {"kind": "ring"}}})"},
    {"dumbbell", "/cluster/fabric",
     R"({"cluster": {"fabric": {"kind": "dumbbell", "bottleneck": {"bandwidth": "1Gbps"}}}})"},
    {"graph", "/cluster/fabric",
     R"({"cluster": {"nodes": 2, "fabric": {"kind": "graph", "cables": [{"between": [0, 1]}]}}})"},
    {"regions", "/cluster/fabric",
     R"({"cluster": {"fabric": {"kind": "regions", "regions": [{"name": "a"}, {"name": "b"}],
         "bandwidth": "1Gbps", "latency": "1ms"}}})"},
    {"region", "/cluster/fabric/regions/0",
     R"({"cluster": {"fabric": {"kind": "regions", "regions": [{"name": "all"}], "bandwidth": "1Gbps",
         "latency": "1ms"}}})"},
    {"hierarchical", "/algorithm/aggregation/plan",
     R"({"cluster": {"nodes": 4, "devices_per_node": 2, "sites": [{"level": "rack", "size": 2}],
         "bus": {"kind": "switched", "link": {"bandwidth": "2Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "1ms"},
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": {"kind": "hierarchical"}}}})"},
    {"site", "/cluster/sites/0", R"({"cluster": {"sites": [{"level": "rack", "size": 2}]}})"},
    {"link", "/cluster/fabric/link", R"({})"},
    {"workload", "/workload", R"({})"},
    {"workload", "/workload",
     R"({"cluster": {"classes": [{"nodes": [1], "batch": 3, "step_time": "1ms"}]}})"},
    {"workload", "/workload",
     R"({"workload": {"model": null, "data": null, "batch": null, "profile": null, "gradient": "1MB", "step_time": "1ms"},
         "optimizer": null, "measure": null, "algorithm": {"kind": "sgd", "schedule": {"pieces": "tensors", "begin": "after-backward"}}})"},
    {"workload", "/workload",
     R"({"workload": {"model": null, "data": null, "profile": "resnet-50", "step_time": null,
         "device": "a100-80gb", "efficiency": 0.5, "batch": 8},
         "optimizer": null, "measure": null, "algorithm": {"kind": "dense"}})"},
    {"stand-in", "/workload/stand_in_for",
     R"({"workload": {"step_time": null, "stand_in_for":
         {"profile": "resnet-50", "device": "a100-80gb", "efficiency": 0.5, "batch": 8}}})"},
    {"parameter-server", "/algorithm/aggregation/plan",
     R"({"algorithm": {"aggregation": {"kind": "all-reduce", "plan": {"kind": "parameter-server"}}}})"},
    {"mixing-in-turn", "/algorithm/mixing/in_turn/0",
     R"({"algorithm": {"kind": "dsgd", "mixing": {"kind": "explicit", "in_turn": [{"edges": [[0, 1], [1, 2], [2, 0]]}]}}})"},
    {"mixing", "/algorithm/mixing",
     R"({"algorithm": {"kind": "dsgd", "mixing": {"kind": "one-peer-exponential"}}})"},
    {"mixing", "/algorithm/mixing",
     R"({"algorithm": {"kind": "dsgd", "mixing": {"kind": "ring"}}})"},
    {"mixing", "/algorithm/mixing",
     R"({"algorithm": {"kind": "sgp", "mixing": {"kind": "explicit",
         "edges": [[0, 1], [1, 2], [2, 3], [3, 0]]}}})"},
    {"lattice-exchange", "/algorithm/exchange",
     R"({"algorithm": {"kind": "swarm-sgd", "mixing": {"kind": "complete"},
         "exchange": {"kind": "lattice", "bits": 8}}})"},
    {"warm_up", "/algorithm/codec/warm_up",
     R"({"algorithm": {"kind": "dgc", "codec": {"kind": "dgc", "warm_up": {"densities": [0.5, 0.1]}}}, "workload": {"dataset_samples": 64}})"},
    {"coding-time", "/algorithm/codec/coding/encode",
     R"({"algorithm": {"kind": "sgd", "codec": {"kind": "qsgd", "coding": {"encode": {}}}}})"},
    {"pipelined-ring", "/algorithm/aggregation/plan",
     R"({"cluster": {"fabric": {"link": {"bandwidth": "100Gbps", "latency": "2ms"}}},
         "workload": {"model": null, "data": null, "batch": null, "profile": "alexnet", "step_time": "1ms"},
         "optimizer": null, "measure": null, 
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": {"kind": "pipelined-ring"}}}})"},
    {"ring-all-reduce", "/algorithm/aggregation/plan",
     R"({"algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": {"kind": "ring"}}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "nics": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"pipelined-ring", "/algorithm/aggregation/plan",
     R"({"algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": {"kind": "pipelined-ring"}}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "nics": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"double-tree", "/algorithm/aggregation/plan",
     R"({"cluster": {"fabric": {"link": {"bandwidth": "100Gbps", "latency": "2ms"}}},
         "workload": {"model": null, "data": null, "batch": null, "profile": "alexnet", "step_time": "1ms"},
         "optimizer": null, "measure": null, 
         "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": {"kind": "double-tree"}}}})"},
    {"collective", "/algorithm",
     R"({"cluster": {"fabric": {"link": {"bandwidth": "100Gbps", "latency": "2ms"}}},
         "workload": {"model": null, "data": null, "batch": null, "profile": "alexnet", "step_time": "1ms"},
         "optimizer": null, "measure": null, 
         "algorithm": {"kind": "collective", "operation": "reduce"}})"},
    {"collective", "/algorithm",
     R"({"cluster": {"fabric": {"link": {"bandwidth": "100Gbps", "latency": "2ms"}}},
         "workload": {"model": null, "data": null, "batch": null, "profile": "alexnet", "step_time": "1ms"},
         "optimizer": null, "measure": null, 
         "algorithm": {"kind": "collective", "operation": "reduce", "method": "chain"}})"},
    {"collective", "/algorithm",
     R"({"workload": {"model": null, "data": null, "batch": null, "profile": "alexnet", "step_time": "1ms"},
         "optimizer": null, "measure": null,
         "algorithm": {"kind": "collective", "operation": "all-to-all"}})"},
    {"library", "/cluster/library",
     R"({"cluster": {"library": {}}, "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "library"}}})"},
    {"library", "/cluster/library",
     R"({"cluster": {"library": {}}, "algorithm": {"kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "tree"}}})"},
    {"library", "/cluster/library",
     R"({"cluster": {"library": {}}, "optimizer": null, "measure": null, "algorithm": {"kind": "ddp"},
         "workload": {"model": null, "data": null, "batch": null, "profile": "alexnet", "step_time": "90ms"}})"},
    {"aggregation-all-reduce", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "aggregation": {"kind": "all-reduce"}}})"},
    {"aggregation-all-reduce", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "fp16", "aggregation": {"kind": "all-reduce", "machines": "leaders"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-all-reduce", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "fp16", "aggregation": {"kind": "all-reduce"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-all-gather", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "all-gather", "machines": "leaders"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-all-gather", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "all-gather"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-two-phase", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "two-phase", "machines": "leaders"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-two-phase", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "two-phase"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-sparse-all-reduce", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "dgc", "aggregation": {"kind": "sparse-all-reduce", "machines": "leaders"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-sparse-all-reduce", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "dgc", "aggregation": {"kind": "sparse-all-reduce"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-servers", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "servers", "machines": "leaders"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-servers", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "servers"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"aggregation-all-gather", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "all-gather"}}})"},
    {"aggregation-all-gather", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "dgc", "aggregation": {"kind": "all-gather"}}})"},
    {"aggregation-sparse-all-reduce", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "dgc", "aggregation": {"kind": "sparse-all-reduce"}}})"},
    {"aggregation-two-phase", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "one-bit-adam", "freeze_step": 4, "aggregation": {"kind": "two-phase"}}})"},
    {"aggregation-servers", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "sgd", "codec": "qsgd", "aggregation": {"kind": "servers", "servers": 2}}})"},
    {"aggregation-neighbors", "/algorithm/aggregation",
     R"({"algorithm": {"kind": "dmsgd", "mixing": {"kind": "complete"}, "aggregation": {"kind": "neighbors"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"exchange-schedule", "/algorithm/schedule",
     R"({"algorithm": {"kind": "sgd", "schedule": {}}})"},
    {"exchange-schedule", "/algorithm/schedule",
     R"({"algorithm": {"kind": "sgd", "schedule": {"pieces": "tensors", "begin": "into-forward"}}})"},
    {"optimizer", "/optimizer", R"({})"},
    {"schedule", "/optimizer/schedule", R"({"optimizer": {"schedule": {}}})"},
    {"schedule", "/optimizer/schedule",
     R"({"optimizer": {"schedule": {"kind": "step", "milestones": [0.5]}}})"},
    {"measure", "/measure", R"({"measure": {"target_loss": 2.25}, "stop": {"iterations": 60}})"},
    {"model-linear-regression", "/workload/model",
     R"({"workload": {"model": {"kind": "linear-regression", "hidden": null}, "data": {"kind": "linear-regression", "size": null, "noise": null, "train": null, "test": null}}})"},
    {"model-cnn", "/workload/model", R"({"workload": {"model": {"kind": "cnn", "hidden": null}}})"},
    {"model-resnet", "/workload/model",
     R"({"workload": {"model": {"kind": "resnet", "width": 4, "hidden": null}}})"},
    {"model-lstm", "/workload/model",
     R"({"workload": {"model": {"kind": "lstm", "hidden": 8}, "data": {"kind": "artificial-language", "size": null, "noise": null,
         "vocabulary": 20, "word_classes": 4, "steps": 6, "train": 64, "test": 16}}})"},
    {"model-transformer", "/workload/model",
     R"({"workload": {"model": {"kind": "transformer", "hidden": null}, "data": {"kind": "artificial-language", "size": null, "noise": null,
         "vocabulary": 20, "word_classes": 4, "steps": 6, "train": 64, "test": 16}}})"},
    // Algorithms whose keys matter only in certain states.
    {"slowmo", "/algorithm", R"({"algorithm": {"kind": "slowmo", "period": 4}})"},
    {"diloco", "/algorithm", R"({"algorithm": {"kind": "diloco", "period": 4}})"},
    {"diloco", "/algorithm",
     R"({"algorithm": {"kind": "diloco", "period": 2}, "stop": {"iterations": 4}})"},
    {"inside-zero", "/algorithm/inside",
     R"({"algorithm": {"kind": "local-adam", "period": 2, "islands": "machine",
                       "inside": {"kind": "zero", "unit": "2kB"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "1ms"}})"},
    {"inside-zero", "/algorithm/inside",
     R"({"algorithm": {"kind": "local-adam", "period": 2, "islands": "machine",
                       "inside": {"kind": "zero", "unit": "2kB"}},
         "cluster": {"nodes": 2, "devices_per_node": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"sparseloco", "/algorithm", R"({"algorithm": {"kind": "sparseloco", "period": 4}})"},
    {"sparseloco", "/algorithm",
     R"({"algorithm": {"kind": "sparseloco", "period": 4, "codec": "none"}})"},
    {"noloco", "/algorithm",
     R"({"algorithm": {"kind": "noloco", "period": 4, "mixing": {"kind": "random-matching"}}})"},
    {"outer-adam", "/algorithm/outer",
     R"({"algorithm": {"kind": "diloco", "period": 4, "outer": {"kind": "adam"}, "outer_learning_rate": 0.01}})"},
    {"inner-muon", "/algorithm/inner",
     R"({"algorithm": {"kind": "diloco", "period": 4, "inner": {"kind": "muon"}}})"},
    {"streaming-diloco", "/algorithm",
     R"({"algorithm": {"kind": "streaming-diloco", "period": 8}})"},
    {"zero", "/algorithm",
     R"({"algorithm": {"kind": "zero", "unit": "2kB"}, "cluster": {"nodes": 2, "devices_per_node": 2, "nics": 2, "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "5ms"}})"},
    {"zero", "/algorithm",
     R"({"algorithm": {"kind": "zero", "unit": "2kB"}, "cluster": {"nodes": 2, "devices_per_node": 2,
         "bus": {"kind": "switched", "link": {"bandwidth": "10Gbps"}}},
         "workload": {"step_time": null, "gradient_time": "1ms"}})"},
    {"streaming-diloco", "/algorithm",
     R"({"algorithm": {"kind": "streaming-diloco", "period": 8}, "stop": {"iterations": 9}})"},
    {"decoder", "/workload/profile/transformer",
     R"({"workload": {"profile": {"transformer":
         {"layers": 2, "width": 64, "heads": 4, "vocabulary": 100, "context": 32}}}})"},
    {"decoder", "/workload/profile/transformer",
     R"({"workload": {"profile": {"transformer":
         {"layers": 2, "width": 64, "heads": 4, "vocabulary": 100, "context": 32, "inner": 200}}}})"},
    {"slowmo", "/algorithm",
     R"({"algorithm": {"kind": "slowmo", "period": 4, "base": "local-adam"}})"},
    {"post-local-sgd", "/algorithm",
     R"({"algorithm": {"kind": "post-local-sgd", "switch_step": 4}})"},
    {"local-sgd", "/algorithm",
     R"({"algorithm": {"kind": "local-sgd", "period": 2, "inner": "adamw"}})"},
    {"post-local-sgd", "/algorithm",
     R"({"algorithm": {"kind": "post-local-sgd", "switch_step": 4, "period": 2, "inner": "adamw"}})"},
    {"bmuf", "/algorithm", R"({"algorithm": {"kind": "bmuf", "period": 2, "inner": "adamw"}})"},
    {"easgd", "/algorithm", R"({"algorithm": {"kind": "easgd", "period": 2, "inner": "adamw"}})"},
    {"cocod-sgd", "/algorithm",
     R"({"algorithm": {"kind": "cocod-sgd", "period": 2, "inner": "adamw"}})"},
    {"overlap-local-sgd", "/algorithm",
     R"({"algorithm": {"kind": "overlap-local-sgd", "period": 2, "inner": "adamw"}})"},
    {"ps-stale", "/algorithm",
     R"({"algorithm": {"kind": "ps-stale"}, "cluster": {"stragglers": {"factor": 9, "nodes": [1]}}})"},
    {"ps-async", "/algorithm",
     R"({"algorithm": {"kind": "ps-async"}, "cluster": {"stragglers": {"factor": 9, "nodes": [1]}}})"},
    {"fedavg", "/algorithm", R"({"algorithm": {"kind": "fedavg", "fraction": 0.5}})"},
    {"fedavg", "/algorithm",
     R"({"algorithm": {"kind": "fedavg", "codec": {"kind": "qsgd", "bucket": 8}}})"},
    {"fedprox", "/algorithm",
     R"({"algorithm": {"kind": "fedprox", "fraction": 0.5, "local_steps": 2}})"},
    {"fedprox", "/algorithm",
     R"({"algorithm": {"kind": "fedprox", "codec": {"kind": "qsgd", "bucket": 8}}})"},
    {"fedopt", "/algorithm",
     R"({"algorithm": {"kind": "fedopt", "fraction": 0.5, "local_steps": 2}})"},
    {"fedopt", "/algorithm",
     R"({"algorithm": {"kind": "fedopt", "codec": {"kind": "qsgd", "bucket": 8}}})"},
    {"scaffold", "/algorithm",
     R"({"algorithm": {"kind": "scaffold", "fraction": 0.5, "local_steps": 2,
                       "codec": {"kind": "qsgd"}}})"},
    {"swarm-sgd", "/algorithm",
     R"({"algorithm": {"kind": "swarm-sgd", "mixing": {"kind": "complete"}, "local_steps": 2}})"},
    {"swarm-sgd", "/algorithm",
     R"({"algorithm": {"kind": "swarm-sgd", "mixing": {"kind": "complete"}, "exchange": "lattice"}})"},
    {"dgc", "/algorithm", R"({"algorithm": {"kind": "dgc", "density": 0.1}})"},
    {"dgc", "/algorithm",
     R"({"algorithm": {"kind": "dgc", "density": 0.1}, "optimizer": {"weight_decay": 0.1}})"},
    {"gradient-dropping", "/algorithm",
     R"({"algorithm": {"kind": "gradient-dropping", "density": 0.1, "dense_steps": 0}})"},
    {"adam", "/algorithm",
     R"({"algorithm": {"kind": "adam"}, "optimizer": {"learning_rate": 0.001}})"},
    {"lamb", "/algorithm",
     R"({"algorithm": {"kind": "lamb"}, "optimizer": {"learning_rate": 0.001}})"},
    {"one-bit-adam", "/algorithm",
     R"({"algorithm": {"kind": "one-bit-adam", "freeze_step": 4}, "optimizer": {"learning_rate": 0.001}})"},
    {"one-bit-lamb", "/algorithm",
     R"({"algorithm": {"kind": "one-bit-lamb", "freeze_step": 4}, "optimizer": {"learning_rate": 0.01}})"},
    {"zero-one-adam", "/algorithm",
     R"({"algorithm": {"kind": "zero-one-adam", "var_freeze_step": 3, "local_step_scaler": 2},
         "stop": {"iterations": 40}, "optimizer": {"learning_rate": 0.001}})"},
    {"zero-one-adam", "/algorithm",
     R"({"algorithm": {"kind": "zero-one-adam"}, "stop": {"iterations": 40}})"},
    // Inputs that are always 0 during training have gradients of variance 0.
    {"one-bit-adam", "/algorithm",
     R"({"algorithm": {"kind": "one-bit-adam", "freeze_step": 4}, "workload": {"data": {"kind": "csv",
         "file": "rows.csv", "label": "z", "standardize": false, "size": null, "noise": null,
         "train": null, "test": null}}})"},
    {"one-bit-lamb", "/algorithm",
     R"({"algorithm": {"kind": "one-bit-lamb", "freeze_step": 4}, "workload": {"data": {"kind": "csv",
         "file": "rows.csv", "label": "z", "standardize": false, "size": null, "noise": null,
         "train": null, "test": null}}})"},
    {"zero-one-adam", "/algorithm",
     R"({"algorithm": {"kind": "zero-one-adam", "var_freeze_step": 3}, "workload": {"data": {"kind": "csv",
         "file": "rows.csv", "label": "z", "standardize": false, "size": null, "noise": null,
         "train": null, "test": null}}})"},
};

// Follows a reference; keys beside the reference take precedence.
Json resolved(Json property) {
    while (property.contains("$ref")) {
        const std::string pointer = property.at("$ref").get<std::string>().substr(1);
        property.erase("$ref");
        Json whole = scenario_schema().at(Json::json_pointer(pointer));
        whole.update(property);
        property = std::move(whole);
    }
    return property;
}

// Values of every magnitude that some schema may allow. The reader refuses those outside of this
// schema.
std::vector<Json> numbers(const Json& property, const Json& except) {
    std::vector<Json> values;
    const bool whole = property.value("type", "") == "integer";
    const auto number = except.get<double>();
    for (const double value : {0.0, 1.0, 2.0, 3.0, 4.0, number + 1, 2 * number, 0.5 * number, 0.5,
                               0.25, 0.99, 1e-4, 8.0, 20.0})
        if (value != number &&
            (!whole || value == static_cast<double>(static_cast<std::int64_t>(value))))
            values.push_back(whole ? Json(static_cast<std::int64_t>(value)) : Json(value));
    return values;
}

std::vector<Json> other_values(const std::string& key, const Json& property, const Json& known) {
    if (known.is_boolean()) return {!known.get<bool>()};
    if (known.is_number() && !property.contains("enum")) return numbers(property, known);
    std::vector<Json> values;
    const Json& choices = property.contains("oneOf") ? property.at("oneOf").front() : property;
    if (choices.contains("enum"))
        for (const Json& choice : choices.at("enum"))
            if (choice != known) values.push_back(choice);
    if (key == "transport") values.push_back({{"kind", "tcp"}});
    if (key == "partition") values.push_back({{"kind", "label-sorted"}});
    if (key == "partition" && known.at("kind") != "contiguous")
        values.push_back({{"kind", "contiguous"}});
    if (key == "partition") values.push_back({{"kind", "iid"}});
    if (key == "schedule") values.push_back({{"kind", "cosine"}});
    if (key == "warm_up") values.push_back({{"densities", {0.5}}, {"steps_each", 2}});
    if (key == "all_reduce" || key == "plan")
        values.push_back({{"kind", "parameter-server"}, {"servers", 2}});
    if (key == "channels" && known.is_array()) values.push_back({2, 3});
    if (known.is_string())
        for (const char* quantity : {"1ms", "30ms", "130ms", "3kB", "1MB", "2Mbps"})
            values.emplace_back(quantity);
    return values;
}

// Bytes that do not repeat with the length of a row.
std::string pixels(int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(i * i % 251);
    return bytes;
}

std::string labels(int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 4);
    return bytes;
}

// More distinct words than the default vocabulary holds.
std::string words() {
    std::string text;
    for (int i = 0; i < 11'600; ++i) text += fmt::format("w{} ", i % 10'300);
    return text;
}

// 20 columns, each nonzero in one row only: those of the test rows are always 0 during training.
std::string rows() {
    std::string text = "x,y,z";
    for (int column = 0; column < 20; ++column) text += fmt::format(",w{}", column);
    text += "\n";
    for (int i = 0; i < 60; ++i) {
        text += fmt::format("{},{},{}", i * 37 % 11, i * 5 % 7, i % 3);
        for (int column = 0; column < 20; ++column) text += column == i ? ",9" : ",0";
        text += "\n";
    }
    return text;
}

class Runner {
  public:
    Runner() {
        std::string packets;  // 12 Mbps for 10 ms, then half as much
        for (int ms = 1; ms <= 200; ms += ms <= 10 ? 1 : 2) packets += fmt::format("{}\n", ms);
        write("packets.txt", packets);
        write("trace.csv", "time_s,up_mbps,down_mbps\n0,1000,1000\n0.1,100,200\n");
        write("words.txt", words());
        write("rows.csv", rows());
        for (const std::string part : {"train", "test"}) {
            write(part + "-images",
                  std::string("\0\0\x08\x03\0\0\0\x10\0\0\0\x03\0\0\0\x03", 16) + pixels(16 * 9));
            write(part + "-labels", std::string("\0\0\x08\x01\0\0\0\x10", 8) + labels(16));
            std::string batch;
            for (const char label : labels(16)) batch += label + pixels(3072);
            write(part + "-batch", batch);
        }
    }

    // Returns the results of a study of one point, or nothing if it is refused.
    std::optional<std::string> result(const Json& scenario) const {
        const std::string file = folder_.write("scenario.json", scenario.dump());
        try {
            const Study study = read_study(file, {});
            const Scenario& scenario_read = study.points.front().scenario;
            const std::vector<PointResult> results{{run_point(scenario_read, nullptr), 0}};
            return results_csv({study, results}) + timeline_csv({study, results}) +
                   (asks_for_baseline(scenario_read) ? "and the baseline's" : "");
        } catch (const ConfigError& error) {
            refusals += std::string("\n  ") + error.what();
            return std::nullopt;
        }
    }

    mutable std::string refusals;  // of the current key

  private:
    void write(const std::string& name, const std::string& text) const {
        (void)folder_.write(name, text);
    }

    TemporaryFolder folder_;
};

struct Case {
    Json scenario;
    Json::json_pointer at;
};

Json data_of(const std::string& kind) {
    Json data{{"kind", kind}};
    if (kind == "text") data.update({{"file", "words.txt"}, {"steps", 4}, {"vocabulary", 2000}});
    if (kind == "csv") data.update({{"file", "rows.csv"}, {"label", "z"}});
    if (kind == "cifar-10") data.update({{"train", {"train-batch"}}, {"test", "test-batch"}});
    if (kind == "idx")
        for (const std::string part : {"train", "test"})
            for (const std::string what : {"images", "labels"})
                data[part + "_" + what] = part + "-" + what;
    if (kind == "gaussian-mixture" || kind == "teacher-network" || kind == "digits")
        data.update({{"train", 64}, {"test", 32}});
    if (kind == "digits") data["size"] = 8;
    if (kind == "artificial-language")
        data.update(
            {{"vocabulary", 20}, {"word_classes", 4}, {"steps", 6}, {"train", 64}, {"test", 16}});
    return data;
}

std::vector<Case> cases_of_data(const std::string& kind) {
    Json scenario = training;
    scenario["workload"]["data"] = data_of(kind);
    scenario["workload"]["batch"] = 2;
    scenario["stop"]["iterations"] = 4;
    if (kind == "text") scenario["measure"]["samples"] = 8;
    if (kind == "text" || kind == "artificial-language")
        scenario["workload"]["model"] = {{"kind", "lstm"}, {"hidden", 4}};
    if (kind == "linear-regression") scenario["workload"]["model"] = {{"kind", kind}};
    return {{scenario, Json::json_pointer("/workload/data")}};
}

std::vector<Case> cases_of_codec(const std::string& kind) {
    std::vector<Case> cases;
    for (Json scenario : {training, timing}) {
        scenario["algorithm"] = {{"kind", "sgd"}, {"codec", {{"kind", kind}}}};
        if (kind == "dgc") scenario["algorithm"]["codec"]["density"] = 0.1;
        cases.push_back({scenario, Json::json_pointer("/algorithm/codec")});
        if (scenario_schema()
                .at("definitions")
                .at("codec-" + kind)
                .at("properties")
                .contains("error_decay")) {
            Json with_errors = scenario;
            with_errors["algorithm"]["codec"]["error_feedback"] = true;
            cases.push_back({with_errors, Json::json_pointer("/algorithm/codec")});
        }
        if (kind != "dgc" || scenario.at("workload").contains("profile")) continue;
        scenario["optimizer"]["weight_decay"] = 0.1;
        cases.push_back({scenario, Json::json_pointer("/algorithm/codec")});
    }
    return cases;
}

bool is_algorithm(const std::string& definition) {
    const Json& all = scenario_schema().at("definitions").at("algorithm").at("oneOf");
    return std::ranges::any_of(
        all, [&](const Json& one) { return one.at("$ref") == "#/definitions/" + definition; });
}

std::vector<Case> cases_of(const std::string& definition) {
    if (definition.starts_with("data-")) return cases_of_data(definition.substr(5));
    if (definition.starts_with("codec-")) return cases_of_codec(definition.substr(6));
    std::vector<Case> cases;
    const auto add = [&](const Json& patch, const char* pointer) {
        for (const Json& base : {training, timing}) {
            Json scenario = base;
            if (base == timing && patch.contains("optimizer")) continue;
            scenario.merge_patch(patch);
            cases.push_back({std::move(scenario), Json::json_pointer(pointer)});
        }
    };
    if (is_algorithm(definition)) {
        Json object = plain_algorithm(definition);
        if (object.contains("codec")) object["codec"] = {{"kind", "top-k"}, {"density", 0.2}};
        add({{"algorithm", object}}, "/algorithm");
    }
    for (const Stage& stage : stages)
        if (stage.definition == definition) add(Json::parse(stage.patch), stage.pointer);
    return cases;
}

enum class Finding { same_alone, same_and_felt, not_the_same };

// Whether a scenario runs the same without a key as with its default, and differently with other
// values.
Finding find(const Runner& runner, const Case& one, const std::string& key, const Json& property) {
    Json without = one.scenario;
    without.at(one.at).erase(key);
    const std::optional<std::string> expected = runner.result(without);
    if (!expected) return Finding::same_alone;
    Json with = one.scenario;
    with.at(one.at)[key] = property.at("default");
    const std::optional<std::string> same = runner.result(with);
    if (!same) return Finding::same_alone;  // the key belongs to a different case
    if (same != expected) return Finding::not_the_same;
    for (const Json& other : other_values(key, property, property.at("default"))) {
        with.at(one.at)[key] = other;
        const std::optional<std::string> changed = runner.result(with);
        if (changed && changed != expected) return Finding::same_and_felt;
    }
    return Finding::same_alone;
}

// Keys for which no other value makes a difference on four small nodes, and why.
const std::set<std::string> not_felt{
    "graph.switches",            // a switch that no cable names changes nothing
    "access-trace.format",       // no file is of two formats
    "cluster.devices_per_node",  // another number needs a bus, which excludes the default
    "hierarchical.levels",       // other names depend on the cluster
    "aggregation-sparse-all-reduce.inside",  // its one codec travels dense inside machines
};

TEST_CASE("schema: a key left out is the same as its default written, and not as another value") {
    const Runner runner;
    std::size_t defaults = 0;
    for (const auto& [definition, schema] : scenario_schema().at("definitions").items()) {
        if (!schema.contains("properties")) continue;
        for (const auto& [key, raw] : schema.at("properties").items()) {
            const Json property = resolved(raw);
            if (!property.contains("default")) continue;
            const std::string name = definition + "." + key;
            CAPTURE(name);
            ++defaults;
            bool is_felt = false;
            runner.refusals.clear();
            for (const Case& one : cases_of(definition)) {
                CAPTURE(one.scenario.dump());
                const Finding finding = find(runner, one, key, property);
                CHECK(finding != Finding::not_the_same);
                if (finding == Finding::same_and_felt) is_felt = true;
                if (finding != Finding::same_alone) break;
            }
            CAPTURE(runner.refusals);
            CHECK(is_felt == !not_felt.contains(name));
        }
    }
    CHECK(defaults > 200);
}

}  // namespace
}  // namespace paceline::schema_defaults_test
