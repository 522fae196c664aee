#include "app/questions/list_tables.hpp"

#include <array>

namespace paceline {

std::span<const ScheduleEntry> schedule_table() {
    static constexpr auto table = std::to_array<ScheduleEntry>(
        {{"whole", "one piece, after the backward pass"},
         {"tensors", "one piece per tensor, during the backward pass"},
         {"25MiB", "neighboring tensors in pieces of that size, during the backward pass"},
         {"merged",
          "neighboring tensors merged where one exchange costs less than two (MG-WFBP)"}});
    return table;
}

std::span<const CollectiveEntry> collective_table() {
    static constexpr auto table = std::to_array<CollectiveEntry>(
        {{"all_reduce", "ring", "2(n-1) (L + ceil(S/n)/B)"},
         {"all_reduce", "recursive-doubling", "log2 p (L + S/B), and 2 (L + S/B) if n > p"},
         {"all_reduce", "halving-doubling", "2 log2 p L + 2 (p-1)/p S/B, and 2 (L + S/B) if n > p"},
         {"all_reduce", "tree", "2 ceil(log2 n) (L + S/B): reduce, then broadcast"},
         {"all_reduce", "parameter-server", "2 (L + n S/q/B), q servers; on the workers n-1 for n"},
         {"all_reduce", "hierarchical",
          "2(g-1) (L + S/g/B) on the bus of g devices, then 2(n/g-1) (L + S g/n/B) between "
          "machines"},
         {"all_reduce", "automatic",
          "recursive-doubling up to 2048 bytes, else halving-doubling (MPICH's defaults)"},
         {"operation", "reduce-scatter", "(n-1) (L + S/n/B): the kind \"collective\""},
         {"operation", "all-gather-ring", "(n-1) (L + S/n/B)"},
         {"operation", "all-gather-bruck", "ceil(log2 n) L + (n-1) S/n/B"},
         {"operation", "all-to-all", "(n-1) (L + S/n/B); grouped L + (n-1) S/n/B"},
         {"operation", "broadcast", "ceil(log2 n) (L + S/B)"},
         {"operation", "reduce", "ceil(log2 n) (L + S/B)"},
         {"exchange", "recursive-doubling", "sparse: sum over steps of (L + merged bytes/B)"},
         {"exchange", "all-gather-ring", "(n-1) (L + bytes/B)"},
         {"exchange", "all-gather-bruck", "ceil(log2 n) L + (n-1) bytes/B"}});
    return table;
}

}  // namespace paceline
