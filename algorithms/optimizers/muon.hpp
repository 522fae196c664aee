// The step of Muon: momentum whose matrices are made nearly orthogonal; AdamW for other tensors.
//
//   matrices     m   <-  beta m + (1 - beta) g
//                u   =   m, or with Nesterov  beta m + (1 - beta) g
//                x   <-  (1 - gamma lambda) x - gamma s O(u)
//   others       x   <-  adam_step at the rate  gamma adam_rate            (adam.hpp)
//
// A matrix is a tensor of two or more dimensions that is not left out; it has the first extent as
// rows, and the product of the others as columns. O is five rounds of Newton and Schulz, on u or
// its transpose, whichever has fewer rows:
//
//   X  <-  u / (|u| + 1e-7)                                     |.| of Frobenius
//   X  <-  a X + (b X X^T + c (X X^T)^2) X                      a, b, c of the round
//
// It brings every singular value near 1: with U S V^T the singular value decomposition of u, the
// result is U S' V^T. The form says which polynomials, and the scale s of r rows and c columns:
//
//   form   a, b, c                            S' of S / |u| from 0.01 on   s
//   muon   3.4445, -4.7750, 2.0315, 5 times   0.68 to 1.14                 sqrt(max(1, r / c))
//   dion   one for each round (muon.cpp)      0.97 to 1.04                 sqrt(r / c)
//
//   symbol         here
//   beta           momentum
//   gamma          the job's learning rate, which is that of matrices
//   lambda         adam.weight_decay, decoupled, of all tensors at their own rate
//
// Released code runs the rounds in bfloat16; here they are in double. The scale of m does not
// matter to O but for the 1e-7. Embeddings and the output layer belong to AdamW by the authors'
// advice, and that is what `leave_out` is for: by default the last matrix.
//
// Vectors without values are left unchanged.
//
// Sources: Jordan et al., "Muon", 2024; released code KellerJordan/Muon, muon.py @00ba60d (form
// muon, with Nesterov, betas 0.9 and 0.95 and epsilon 1e-10 of AdamW, which has a rate of its own).
// Form dion: bentherien/muloco-1, muloco/pytorch/muloco.py @415f393, without Nesterov, and with m
// <- beta m + g, which is 1 / (1 - beta) times the m above.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/optimizers/adam.hpp"
#include "models/tensors/layout.hpp"

namespace paceline {

enum class MuonForm : std::uint8_t { muon, dion };

struct MuonRule {
    AdamRule adam{};         // of what is no matrix, and the decay of all
    double adam_rate = 1;    // above 0
    double momentum = 0.95;  // beta, in [0, 1)
    bool nesterov = true;
    MuonForm form = MuonForm::muon;
    /// Tensors that take AdamW. Without a list: the last one of two or more dimensions.
    std::optional<std::vector<TensorChoice>> leave_out{};
};

/// Returns O(u) of a matrix with no fewer rows than columns.
Eigen::MatrixXd nearly_orthogonal(const Eigen::MatrixXd& u, MuonForm form);

/// Takes step number `step`, counted from 1. `v` is of the tensors that are no matrices.
void muon_step(const MuonRule& rule, double gamma, std::int64_t step, const Vector& g, Vector& m,
               Vector& v, Vector& x);

}  // namespace paceline
