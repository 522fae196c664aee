// BMUF: blocks of local training, with momentum over how far the average model moved in each block.
//
//   every step of a block       x_i   <-  a step of the inner optimizer with g_i  (inner_steps.hpp)
//   after its last              ybar  <-  (1/n) sum over j of x_j
//   classical                   D  <-  eta D + zeta (ybar - y);  y  <-  y + D
//   nesterov                    D  <-  eta D + zeta (ybar - y);  W  <-  W + D;  y  <-  W + eta D
//   nesterov-folded             D  <-  eta D + zeta (ybar - y);  y  <-  y + D + eta D
//   and then                    x_i  <-  y,  m_i  <-  0
//
//   symbol   here                           meaning
//   x_i      self.model()                   model of worker i
//   y        y                              where the block begins: x(0) at first
//   W        w                              global model of the form `nesterov`, x(0) at first
//   D        d                              block momentum, 0 at first
//   eta      options.block_momentum         in [0, 1)
//   zeta     options.block_learning_rate
//   tau      options.period                 steps per block
//
// y, W and D are equal on all workers and stored once. The average blocks; nothing overlaps. A
// partial last block is not averaged. With n = 1, eta = 0 and zeta = 1 it is SGD.
//
// Classical BMUF is SlowMo with beta = eta, alpha = zeta and buffers reset, as long as gamma is
// constant. When gamma changes, SlowMo multiplies its slow momentum by the ratio of the rates, and
// BMUF does not. The folded form measures the next block from its look-ahead point: under a
// constant displacement per block its steady step is (1 + eta) times that of the two others.
//
// Sources: Chen, Huo, "Scalable training of deep learning machines by incremental block training
// with intra-block parallel optimization and blockwise model-update filtering", ICASSP 2016. The
// paper was not available: classical follows the text of SlowMo. nesterov-folded is the form of
// released code: microsoft/CNTK, Source/1BitSGD/BlockMomentumSGD.h @2436b8d, which also resets
// local momentum, and facebookresearch/fairseq, fairseq/optim/bmuf.py @ad4a7fd, which keeps it.
// nesterov with two variables is from memory, unverified: no text or code with it was found.
//
// With b the block learning rate of their users, CNTK multiplies the sum of the n differences by
// (1 - eta) b: zeta = n (1 - eta) b, which is b at its default eta = 1 - 1/n. fairseq at that
// commit multiplies the mean by it: zeta = (1 - eta) b. In its later versions zeta = b.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

enum class BlockForm : std::uint8_t { classical, nesterov, nesterov_folded };

struct BmufOptions {
    std::int64_t period = 8;         // tau, 1 or more
    double block_momentum = 0;       // eta
    double block_learning_rate = 1;  // zeta
    BlockForm form = BlockForm::classical;
    ExchangeOptions exchange{};
    InnerRule inner = MomentumRule{};
};

/// Updates y, W and D from ybar (`mean`).
void block_step(const BmufOptions& options, const Vector& mean, Vector& y, Vector& w, Vector& d);

Task<> bmuf(Worker& self, BmufOptions options);

}  // namespace paceline
