// An artificial language: text of known entropy, with Zipf's frequencies and a grammar to learn.
//
// Every word w belongs to one class c(w), such as a part of speech. The grammar chooses the next
// class based on one of the last two (a mixture transition distribution), and the class then
// chooses its word:
//
//   P(c_t | c_t-1, c_t-2) = (1 - memory) A(c_t | c_t-1) + memory B(c_t | c_t-2)
//   P(w_t | c_t)          = f(w_t) / f(c_t)            f(w) ~ (rank of w)^-zipf,
//                                                      f(c) = sum of f(w) over c's words
//
// A and B are random, with peaks controlled by `sharpness`, and scaled so that f is stationary for
// both (Sinkhorn's iteration on the joint distribution). Hence f is stationary for their mixture,
// and word frequencies are exactly Zipf's. Since a word determines its class, entropies are finite
// sums. Token w is the word of rank w + 1.
//
// The loss that a model can reach, in nats per token, is `word` if it knows only frequencies,
// `after_one` if it sees the last word, and `rate` if it sees two or more; earlier words do not
// help. In samples of T steps the first prediction sees only one word, so the best mean loss is
// (after_one + (T - 1) rate)/T. tests/models/data/artificial_language_test.cpp computes all three.
//
// Sources: Raftery, "A model for high-order Markov chains", J. R. Statist. Soc. B 47, 1985, eq.
// 1.2; Sinkhorn, "Diagonal equivalence to matrices with prescribed row and column sums", 1967.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "models/data/dataset.hpp"
#include "sim/engine/random.hpp"

namespace paceline {

struct ArtificialLanguageOptions {
    int vocabulary = 1000;
    int word_classes = 16;
    double zipf = 1;       // exponent; 0: all words are equally frequent
    double sharpness = 3;  // standard deviation of the logarithms that A and B are made from
    double memory = 0.5;   // share of the choices that look two words back
    int steps = 32;
    int train = 2048;  // samples
    int test = 256;
};

/// Matrices are class x class, [from, to]; each row sums to 1.
struct ArtificialLanguage {
    Eigen::VectorXd word_frequency;
    Eigen::VectorXi word_class;
    Eigen::VectorXd class_frequency;
    Eigen::MatrixXd after_last;         // A
    Eigen::MatrixXd after_second_last;  // B
    double memory = 0;
    Eigen::MatrixXd pair_frequency;  // frequency of [c_t-1, c_t] in a long text
};

/// Requires vocabulary >= word_classes >= 1, zipf and sharpness >= 0, memory in [0, 1].
ArtificialLanguage artificial_language(const ArtificialLanguageOptions& options,
                                       const RandomStreams& streams);

/// Returns this many tokens of stationary text.
std::vector<int> speak(const ArtificialLanguage& language, int tokens, RandomStream& stream);

/// Returns training and test samples, each cut from its own text. Requires steps, train >= 1 and
/// test >= 0.
Dataset artificial_text(const ArtificialLanguageOptions& options, const RandomStreams& streams);

}  // namespace paceline
