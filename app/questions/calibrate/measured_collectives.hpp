// Times of collectives that other tools have measured.
//
//   tool            what it prints or writes                         time        size
//   nccl-tests      the table of all_reduce_perf and six others      us          bytes
//   OSU             osu_latency, osu_bw, osu_allreduce, ... (MPI)    us, MB/s    bytes; 1 MB = 10^6
//   iperf3          --json of one TCP connection                     s           bytes
//   torch.profiler  the Chrome trace of one rank, with NCCL kernels  us          elements and dtype
//
// A text may be gzip. Lines of logs may have the prefixes that mpirun and srun put before them.
//
// `bytes` is what `workload.gradient` of the algorithm `collective` is: all of the vector that an
// all-gather collects or a reduce-scatter divides, and of an all-to-all what a rank sends in all,
// with the block that it keeps. nccl-tests print that as their size. OSU prints the block of one
// rank for all-gathers and all-to-alls, so their files have to say how many ranks there were
// (osu.cpp).
//
// A row is one line of a table, or the shortest of equal kernels of a trace; equal sizes give
// several rows. Where it is not known on how many machines the ranks were, `machines` is empty.
//
// Limits: nccl-tests since 2019 (times were ms before), and not their JSON file (-J). No MPI
// collective that does not block, no v-variants, gathers and scatters. One direction of one
// connection of iperf3. Sends in traces are left out: they do not say which machines they join.
//
// Sources: NVIDIA/nccl-tests a0b82b2 (src/util.cu, src/common.cu, doc/PERFORMANCE.md) and its
// history; OSU micro-benchmarks, forresti/osu-micro-benchmarks 993f966, and published outputs up to
// 7.5; esnet/iperf c9b7422 (src/iperf_api.c); PyTorch, ProcessGroupNCCL.cpp
// (RECORD_PARAM_COMMS_DATA); traces of facebookresearch/HolisticTraceAnalysis (tests/data).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

struct MeasuredCollective {
    std::string where;       // for messages: "all_reduce.log, line 31"
    std::string operation;   // "all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce",
                             // "all-to-all" or "send" (from one machine to another)
    std::int64_t bytes = 0;  // as workload.gradient has it
    std::optional<int> ranks{};     // devices that took part; empty: the file does not say
    std::optional<int> machines{};  // on so many hosts; empty: the file does not say
    double seconds = 0;             // of one operation
};

struct MeasuredCollectives {
    std::string tool;                        // "nccl-tests"
    std::vector<MeasuredCollective> rows{};  // one or more
    std::vector<std::string>
        left_out{};  // what was not taken or was inferred, and why; a line each
};

/// Reads the output of one of these tools, which is recognized by its content. Returns nothing if
/// it is of none of them. Throws ConfigError, with file and line, if it is of one and cannot be
/// used.
std::optional<MeasuredCollectives> read_measured_collectives(const std::string& file,
                                                             std::string_view text);

}  // namespace paceline
