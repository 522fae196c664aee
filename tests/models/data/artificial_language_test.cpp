#include "models/data/artificial_language.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/check.hpp"

namespace paceline::artificial_language_test {
namespace {

double entropy_of_counts(const Eigen::MatrixXd& counts) {
    const double all = counts.sum();
    double sum = 0;
    for (const double count : counts.reshaped())
        sum -= count > 0 ? count / all * std::log(count / all) : 0;
    return sum;
}

struct Entropy {
    double word = 0;
    double after_one = 0;
    double rate = 0;
};

// With H of words, of classes, of pairs of classes and of a class after two: what a class leaves
// open of its word is H(word) - H(class), whatever came before.
Entropy entropy(const ArtificialLanguage& language) {
    const Eigen::MatrixXd& pairs = language.pair_frequency;
    double class_rate = 0;
    for (Eigen::Index a = 0; a < pairs.rows(); ++a)
        for (Eigen::Index b = 0; b < pairs.cols(); ++b)
            class_rate += pairs(a, b) *
                          entropy_of_counts((1 - language.memory) * language.after_last.row(b) +
                                            language.memory * language.after_second_last.row(a));
    const double word = entropy_of_counts(language.word_frequency);
    const double of_class = entropy_of_counts(language.class_frequency);
    return {word, entropy_of_counts(pairs) - of_class + (word - of_class),
            class_rate + (word - of_class)};
}

TEST_CASE(
    "artificial language, property: words follow Zipf's law, and the grammar leaves it as it is") {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const double memory : {0.0, 0.5, 1.0}) {
            CAPTURE(seed);
            CAPTURE(memory);
            const ArtificialLanguageOptions options{
                .vocabulary = 200, .word_classes = 7, .memory = memory};
            const ArtificialLanguage language = artificial_language(options, RandomStreams(seed));
            const Eigen::VectorXd& f = language.class_frequency;

            CHECK(std::abs(language.word_frequency.sum() - 1) < 1e-12);
            for (int w = 1; w < 200; ++w)
                CHECK(std::abs(language.word_frequency[0] / language.word_frequency[w] - (w + 1)) <
                      1e-9);
            for (const Eigen::MatrixXd& P : {language.after_last, language.after_second_last}) {
                CHECK((P.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
                CHECK((P.transpose() * f - f).cwiseAbs().maxCoeff() < 1e-10);
            }
            CHECK((language.pair_frequency.rowwise().sum() - f).cwiseAbs().maxCoeff() < 1e-10);
            CHECK((language.pair_frequency.colwise().sum().transpose() - f).cwiseAbs().maxCoeff() <
                  1e-10);
            const Entropy nats = entropy(language);
            CHECK(nats.rate <= nats.after_one + 1e-9);
            CHECK(nats.after_one < nats.word + (memory < 1 ? 0 : 1e-9));
        }
}

TEST_CASE("artificial language: one class is Zipf's law and nothing to learn") {
    const ArtificialLanguageOptions options{.vocabulary = 500, .word_classes = 1};
    const Entropy nats = entropy(artificial_language(options, RandomStreams(1)));

    double harmonic = 0;
    double logarithms = 0;  // H = log H_n + (1 / H_n) sum log(r) / r
    for (int r = 1; r <= 500; ++r) {
        harmonic += 1.0 / r;
        logarithms += std::log(r) / r;
    }
    const double expected = std::log(harmonic) + logarithms / harmonic;
    CHECK(nats.word == doctest::Approx(expected).epsilon(1e-12));
    CHECK(nats.after_one == doctest::Approx(expected).epsilon(1e-12));
    CHECK(nats.rate == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE("artificial language: without memory the second last word tells nothing") {
    const ArtificialLanguageOptions options{.vocabulary = 50, .word_classes = 5, .memory = 0};
    const Entropy nats = entropy(artificial_language(options, RandomStreams(1)));
    CHECK(nats.rate == doctest::Approx(nats.after_one).epsilon(1e-10));
}

TEST_CASE("artificial language: words of a long text have Zipf's frequencies") {
    const ArtificialLanguageOptions options{.vocabulary = 100, .word_classes = 10, .zipf = 1.2};
    const RandomStreams streams(1);
    RandomStream stream = streams.stream("text");
    const std::vector<int> text = speak(artificial_language(options, streams), 200000, stream);

    Eigen::VectorXd counts = Eigen::VectorXd::Zero(100);
    for (const int word : text) counts[word] += 1;
    double sum = 0;
    for (int r = 1; r <= 100; ++r) sum += std::pow(r, -1.2);
    // Words of a text depend on each other: allow twice the error of independent ones.
    for (int r = 1; r <= 100; ++r) {
        CAPTURE(r);
        const double expected = 200000 * std::pow(r, -1.2) / sum;
        CHECK(std::abs(counts[r - 1] - expected) < 2 * 5 * std::sqrt(expected));
    }
    const double slope = (std::log(counts[0]) - std::log(counts[49])) / std::log(50);
    CHECK(slope == doctest::Approx(1.2).epsilon(0.03));
}

// Plug-in estimates from the text's own counts; their bias is (number of cells)/(2 tokens).
TEST_CASE("artificial language: entropies are those of a long text's words, pairs and triples") {
    const int V = 8;
    const int tokens = 400000;
    for (const int classes : {4, 8}) {
        CAPTURE(classes);
        const ArtificialLanguageOptions options{.vocabulary = V, .word_classes = classes};
        const RandomStreams streams(3);
        const ArtificialLanguage language = artificial_language(options, streams);
        RandomStream stream = streams.stream("text");
        const std::vector<int> text = speak(language, tokens, stream);

        Eigen::MatrixXd one = Eigen::MatrixXd::Zero(V, 1);
        Eigen::MatrixXd two = Eigen::MatrixXd::Zero(V, V);
        Eigen::MatrixXd three = Eigen::MatrixXd::Zero(V * V, V);
        for (std::size_t t = 2; t < text.size(); ++t) {
            one(text[t]) += 1;
            two(text[t - 1], text[t]) += 1;
            three(text[t - 2] * V + text[t - 1], text[t]) += 1;
        }

        const Entropy nats = entropy(language);
        CHECK(std::abs(entropy_of_counts(one) - nats.word) < 0.01);
        CHECK(std::abs(entropy_of_counts(two) - entropy_of_counts(one) - nats.after_one) < 0.01);
        CHECK(std::abs(entropy_of_counts(three) - entropy_of_counts(two) - nats.rate) < 0.01);
        CHECK(nats.after_one < nats.word - 0.05);
        CHECK(nats.rate < nats.after_one - 0.05);
    }
}

TEST_CASE("artificial language: a text is stationary from its first words on") {
    const ArtificialLanguageOptions options{
        .vocabulary = 4, .word_classes = 4, .zipf = 0, .sharpness = 6, .memory = 0.3};
    const RandomStreams streams(4);
    const ArtificialLanguage language = artificial_language(options, streams);
    RandomStream stream = streams.stream("text");
    Eigen::MatrixXd pairs = Eigen::MatrixXd::Zero(4, 4);
    for (int run = 0; run < 40000; ++run) {
        const std::vector<int> text = speak(language, 2, stream);
        pairs(language.word_class[text[0]], language.word_class[text[1]]) += 1;
    }

    const Eigen::MatrixXd expected = 40000 * language.pair_frequency;
    CHECK(((pairs - expected).array().abs() < 5 * expected.array().sqrt() + 1).all());
}

TEST_CASE(
    "artificial language: text comes as samples that overlap by a token, the same for a seed") {
    const ArtificialLanguageOptions options{
        .vocabulary = 30, .word_classes = 3, .steps = 5, .train = 40, .test = 10};
    const Dataset once = artificial_text(options, RandomStreams(1));

    CHECK(once.predicts == Prediction::next_token);
    CHECK(once.classes == 30);
    CHECK(once.train.tokens.rows() == 6);
    CHECK(once.train.count() == 40);
    CHECK(once.test.count() == 10);
    for (int j = 1; j < 40; ++j) CHECK(once.train.tokens(0, j) == once.train.tokens(5, j - 1));
    CHECK(once.train.tokens.minCoeff() >= 0);
    CHECK(once.train.tokens.maxCoeff() < 30);
    CHECK(once.train.tokens == artificial_text(options, RandomStreams(1)).train.tokens);
    CHECK(once.train.tokens != artificial_text(options, RandomStreams(2)).train.tokens);
    CHECK(once.test.tokens != once.train.tokens.leftCols(10));
    CHECK_THROWS_AS(artificial_language({.vocabulary = 3}, RandomStreams(1)), LogicError);
}

}  // namespace
}  // namespace paceline::artificial_language_test
