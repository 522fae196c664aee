// Dense SGD through a compressor C, tensor by tensor, with or without error feedback:
//
//   p_i = g_i + e_i;  e_i <- p_i - C(p_i);  momentum SGD with the mean of the C(p_i)
//
// Top-k keeps the k = max(1, floor(rho d)) largest (Stich et al., NeurIPS 2018). Scaled sign is
// mean |p| sign(p) (Karimireddy et al., ICML 2019). QSGD (Alistarh et al., NeurIPS 2017) rounds
// s |p| / |p|_2 up or down at random, bucket by bucket, TernGrad (Wen et al., NeurIPS 2017) clips p
// at 2.5 standard deviations and sends M sign(p) with probability |p| / M. Random draws: the stream
// "compression" of the node, one uniform number per entry.
#pragma once

#include <vector>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

std::vector<Case> compressed_cases();

}  // namespace paceline::papers
