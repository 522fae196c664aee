// The families of algorithms, one table each. app/scenario/algorithms/algorithms.cpp joins them.
#pragma once

#include <span>

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

std::span<const AlgorithmEntry> dense_family();
std::span<const AlgorithmEntry> sparse_family();
std::span<const AlgorithmEntry> compressed_family();
std::span<const AlgorithmEntry> adaptive_family();
std::span<const AlgorithmEntry> local_family();
std::span<const AlgorithmEntry> decentralized_family();
std::span<const AlgorithmEntry> gossip_family();
std::span<const AlgorithmEntry> server_family();
std::span<const AlgorithmEntry> collective_family();

}  // namespace paceline
