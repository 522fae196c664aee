// Cost of one gradient of each net: batch 32, float, one thread. Items are samples.
//
// `of_eigen_gemm` is the share of the rate of Eigen's own 512 x 512 x 512 float product, measured
// at the start of the same run. `GFLOP/s` counts 2 flops for each multiply-accumulate that the
// gradient needs: forward, weights, and inputs except those of the first layer.
#include <chrono>
#include <functional>
#include <limits>
#include <memory>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include "models/nets/conv_net.hpp"
#include "models/nets/linear_regression.hpp"
#include "models/nets/lstm.hpp"
#include "models/nets/mlp.hpp"
#include "models/nets/residual_net.hpp"
#include "models/nets/softmax_regression.hpp"
#include "models/nets/transformer.hpp"
#include "tests/models/nets/net_cases.hpp"

namespace {

using namespace paceline;
using Eigen::Index;

// Returns flops per second, the best of a few runs.
double measure_eigen_gemm() {
    constexpr Index size = 512;
    const Eigen::MatrixXf a = Eigen::MatrixXf::Random(size, size);
    const Eigen::MatrixXf b = Eigen::MatrixXf::Random(size, size);
    Eigen::MatrixXf c(size, size);
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run < 100; ++run) {
        const auto start = std::chrono::steady_clock::now();
        c.noalias() = a * b;
        benchmark::DoNotOptimize(c.data());
        best = std::min(
            best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return 2.0 * size * size * size / best;
}

double eigen_gemm() {
    static const double rate = measure_eigen_gemm();
    return rate;
}

// The tensors numbered below `without_input` need no gradient with respect to their input.
void time_gradient(benchmark::State& state, Net<float>& net, const Samples& batch,
                   std::size_t without_input) {
    const double peak = eigen_gemm();
    RandomStream random = RandomStreams(1).stream("start");
    Eigen::VectorXf x(net.layout()->entries());
    net.initialize(random, x);
    Eigen::VectorXf g;
    net.gradient(x, batch, g);
    for (auto _ : state) benchmark::DoNotOptimize(net.gradient(x, batch, g));

    const auto samples = static_cast<double>(state.iterations() * batch.count());
    double flops = 0;
    const std::vector<double> macs = net.tensor_macs();
    for (std::size_t i = 0; i < macs.size(); ++i) flops += (i < without_input ? 4 : 6) * macs[i];
    state.SetItemsProcessed(state.iterations() * batch.count());
    state.counters["GFLOP/s"] =
        benchmark::Counter(samples * flops / 1e9, benchmark::Counter::kIsRate);
    state.counters["of_eigen_gemm"] =
        benchmark::Counter(samples * flops / peak, benchmark::Counter::kIsRate);
}

Samples features(Index count, int classes) {
    RandomStream random = RandomStreams(1).stream("batch");
    return draw_features(random, 32, count, classes);
}

void linear_regression(benchmark::State& state) {
    const auto net = make_linear_regression<float>({.features = 784});
    time_gradient(state, *net, features(784, 10), 1);
}
BENCHMARK(linear_regression)->Unit(benchmark::kMicrosecond);

void softmax_regression(benchmark::State& state) {
    const auto net = make_softmax_regression<float>(784, 10);
    time_gradient(state, *net, features(784, 10), 1);
}
BENCHMARK(softmax_regression)->Unit(benchmark::kMicrosecond);

void mlp(benchmark::State& state) {
    const auto net = make_mlp<float>({.features = 784, .hidden = {256}, .classes = 10});
    time_gradient(state, *net, features(784, 10), 1);
}
BENCHMARK(mlp)->Unit(benchmark::kMicrosecond);

void conv_net_28(benchmark::State& state) {
    const auto net = make_conv_net<float>({.image = {1, 28, 28}});
    time_gradient(state, *net, features(784, 10), 1);
}
BENCHMARK(conv_net_28)->Unit(benchmark::kMicrosecond);

void conv_net_32(benchmark::State& state) {
    const auto net = make_conv_net<float>({.image = {3, 32, 32}});
    time_gradient(state, *net, features(3072, 10), 1);
}
BENCHMARK(conv_net_32)->Unit(benchmark::kMicrosecond);

void residual_net_8(benchmark::State& state) {
    const auto net = make_residual_net<float>({.image = {3, 32, 32}});
    time_gradient(state, *net, features(3072, 10), 1);
}
BENCHMARK(residual_net_8)->Unit(benchmark::kMicrosecond);

void lstm(benchmark::State& state) {
    const int vocabulary = static_cast<int>(state.range(0));
    const Index hidden = state.range(1);
    const Index steps = state.range(2);
    const auto net = make_lstm<float>(
        {.vocabulary = vocabulary, .width = hidden, .hidden = hidden, .steps = steps});
    RandomStream random = RandomStreams(1).stream("batch");
    time_gradient(state, *net, draw_tokens(random, 32, steps, vocabulary), 0);
}
BENCHMARK(lstm)
    ->ArgNames({"vocabulary", "hidden", "steps"})
    ->Args({64, 128, 32})
    ->Args({64, 256, 32})
    ->Args({2000, 200, 35})
    ->Unit(benchmark::kMicrosecond);

void transformer(benchmark::State& state) {
    constexpr int vocabulary = 64;
    const Index width = state.range(0);
    const Index steps = state.range(1);
    const auto net = make_transformer<float>({.vocabulary = vocabulary,
                                              .context = steps,
                                              .width = width,
                                              .heads = 4,
                                              .inner = 4 * width,
                                              .layers = 2});
    RandomStream random = RandomStreams(1).stream("batch");
    time_gradient(state, *net, draw_tokens(random, 32, steps, vocabulary), 0);
}
BENCHMARK(transformer)
    ->ArgNames({"width", "steps"})
    ->Args({32, 32})
    ->Args({64, 32})
    ->Args({128, 64})
    ->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
