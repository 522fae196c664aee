// LSTM language model: an embedding, one or more LSTM layers and a softmax over the vocabulary.
//
//   (i, f, g, o) = W in_t + U h_(t-1) + b                       4 hidden rows, in this order
//   c_t = sigmoid(f) c_(t-1) + sigmoid(i) tanh(g)               h_0 = c_0 = 0 in each sample
//   h_t = sigmoid(o) tanh(c_t)
//   logits_t = V h_t + v,   loss = mean over samples and steps of the cross-entropy with token t+1
//
// in_t is the embedding of token t in the first layer, and the h_t of the layer below in the
// others. Back-propagation through time ends at the start of the sample. Each prediction is one
// token. Losses are nats per token; their exponential is the perplexity.
// Source: Hochreiter and Schmidhuber, Neural Computation 9 (1997), with the forget gates of Gers,
// Schmidhuber and Cummins (2000), without peepholes; tied embeddings: Press and Wolf, EACL 2017.
//
// Tensors are embedding {vocabulary, width}, lstm1.input {4 hidden, width}, lstm1.recurrent {4
// hidden, hidden}, lstm1.bias {4 hidden}, lstm2.input {4 hidden, hidden}, ..., output.weight
// {vocabulary, hidden} and output.bias {vocabulary}. With tied embeddings V is the embedding, and
// there is no output.weight. Initial values are uniform in +-1/sqrt(hidden). Initial biases are 0
// except those of f, which are 1 (Jozefowicz, Zaremba, Sutskever, ICML 2015).
//
// A step is one product per matrix over the panel, for all four gates at once. The gradient of a
// matrix is one product over the lanes of all steps. Memory is O(steps x lanes x (hidden x layers +
// width)), plus the logits of as many steps as fit in a million numbers, or of one step.
#pragma once

#include <memory>

#include "models/nets/net.hpp"

namespace paceline {

struct LstmShape {
    Eigen::Index vocabulary;
    Eigen::Index width;   // of the embedding
    Eigen::Index hidden;  // of each layer
    int layers = 1;
    bool tied = false;  // V is the embedding; requires width = hidden
    Eigen::Index steps =
        1;  // per sample, for tensor_macs() only; batches have their own number of steps
};

template <class Scalar>
std::unique_ptr<Net<Scalar>> make_lstm(const LstmShape& shape);

}  // namespace paceline
