// The families of algorithms: a table each, joined in app/algorithms.cpp.
#pragma once

#include <span>

#include "app/algorithms.hpp"

namespace paceline {

std::span<const AlgorithmEntry> dense_family();
std::span<const AlgorithmEntry> sparse_family();
std::span<const AlgorithmEntry> compressed_family();
std::span<const AlgorithmEntry> decentralized_family();
std::span<const AlgorithmEntry> local_family();
std::span<const AlgorithmEntry> adaptive_family();
std::span<const AlgorithmEntry> gossip_family();
std::span<const AlgorithmEntry> server_family();
std::span<const AlgorithmEntry> collective_family();

}  // namespace paceline
