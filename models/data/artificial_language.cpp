#include "models/data/artificial_language.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include <boost/random/discrete_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "models/data/tokens.hpp"
#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double tolerance = 1e-13;  // of a frequency; iterations end below it
constexpr int most_iterations = 20000;

Eigen::VectorXd zipf_frequencies(int words, double exponent) {
    Eigen::VectorXd weights(words);
    for (int w = 0; w < words; ++w) weights[w] = elementary::pow(w + 1, -exponent);
    return weights / sum(weights);
}

/// Distributes words over the classes in order of frequency, each round in a random order, so that
/// every class has frequent and rare words.
Eigen::VectorXi deal_words(int words, int classes, RandomStream& stream) {
    std::vector<int> round(static_cast<std::size_t>(classes));
    std::iota(round.begin(), round.end(), 0);
    Eigen::VectorXi word_class(words);
    for (int w = 0; w < words; ++w) {
        const auto at = static_cast<std::size_t>(w % classes);
        boost::random::uniform_int_distribution<std::size_t> choice(at, round.size() - 1);
        std::swap(round[at], round[choice(stream)]);
        word_class[w] = round[at];
    }
    return word_class;
}

/// Returns random transitions that leave these frequencies unchanged. The last scaling makes the
/// row sums exact and, at convergence, the column sums right to rounding.
Eigen::MatrixXd random_transitions(const Eigen::VectorXd& frequency, double sharpness,
                                   RandomStream& stream) {
    Eigen::MatrixXd joint(frequency.size(), frequency.size());
    for (double& p : joint.reshaped()) p = draw_log_normal(stream, 0, sharpness);
    for (int i = 0; i < most_iterations; ++i) {
        joint *= (frequency.array() / sums_of_columns(joint).array()).matrix().asDiagonal();
        const Eigen::VectorXd rows = sums_of_rows(joint);
        if ((rows - frequency).cwiseAbs().maxCoeff() < tolerance) break;
        joint = (frequency.array() / rows.array()).matrix().asDiagonal() * joint;
    }
    const Eigen::VectorXd rows = sums_of_rows(joint);
    return rows.cwiseInverse().asDiagonal() * joint;
}

/// Returns the frequencies of the pairs (c_t-1, c_t), by iteration from independence.
Eigen::MatrixXd stationary_pairs(const ArtificialLanguage& language) {
    const Eigen::VectorXd& f = language.class_frequency;
    Eigen::MatrixXd pairs(f.size(), f.size());
    for (Eigen::Index b = 0; b < f.size(); ++b) pairs.col(b) = f(b) * f;
    for (int i = 0; i < most_iterations; ++i) {
        // P(b, c) = sum over a of P(a, b) ((1 - memory) A(c | b) + memory B(c | a))
        const Eigen::VectorXd last = sums_of_columns(pairs);
        const Eigen::MatrixXd next =
            (1 - language.memory) * (last.asDiagonal() * language.after_last) +
            language.memory * transposed_product(pairs, language.after_second_last);
        const double change = (next - pairs).cwiseAbs().maxCoeff();
        pairs = next;
        if (change < tolerance) break;
    }
    return pairs;
}

using Choice = boost::random::discrete_distribution<int>;

Choice choice_of(const auto& weights) {
    return Choice(weights.begin(), weights.end());
}

std::vector<Choice> choices_of_rows(const Eigen::MatrixXd& transitions) {
    std::vector<Choice> choices;
    for (const auto& row : transitions.rowwise()) choices.push_back(choice_of(row));
    return choices;
}

/// The words of each class, and how the class chooses among them.
struct Lexicon {
    std::vector<std::vector<int>> words;
    std::vector<Choice> choices;

    explicit Lexicon(const ArtificialLanguage& language) {
        const auto classes = static_cast<std::size_t>(language.class_frequency.size());
        words.resize(classes);
        std::vector<std::vector<double>> weights(classes);
        for (int w = 0; w < language.word_class.size(); ++w) {
            const auto c = static_cast<std::size_t>(language.word_class[w]);
            words[c].push_back(w);
            weights[c].push_back(language.word_frequency[w]);
        }
        for (const auto& of_class : weights) choices.push_back(choice_of(of_class));
    }

    int draw(int word_class, RandomStream& stream) {
        const auto c = static_cast<std::size_t>(word_class);
        return words[c][static_cast<std::size_t>(choices[c](stream))];
    }
};

}  // namespace

ArtificialLanguage artificial_language(const ArtificialLanguageOptions& options,
                                       const RandomStreams& streams) {
    PACELINE_CHECK(options.word_classes >= 1, "words are of a class or more");
    PACELINE_CHECK(options.vocabulary >= options.word_classes, "every class has a word");
    PACELINE_CHECK(options.zipf >= 0 && options.sharpness >= 0, "exponents are not negative");
    PACELINE_CHECK(options.memory >= 0 && options.memory <= 1, "a share is in [0, 1]");
    RandomStream stream = streams.stream("artificial-language.grammar");
    ArtificialLanguage language;
    language.memory = options.memory;
    language.word_frequency = zipf_frequencies(options.vocabulary, options.zipf);
    language.word_class = deal_words(options.vocabulary, options.word_classes, stream);
    language.class_frequency = Eigen::VectorXd::Zero(options.word_classes);
    for (int w = 0; w < options.vocabulary; ++w)
        language.class_frequency[language.word_class[w]] += language.word_frequency[w];
    language.after_last = random_transitions(language.class_frequency, options.sharpness, stream);
    language.after_second_last =
        random_transitions(language.class_frequency, options.sharpness, stream);
    language.pair_frequency = stationary_pairs(language);
    return language;
}

std::vector<int> speak(const ArtificialLanguage& language, int tokens, RandomStream& stream) {
    PACELINE_CHECK(tokens >= 0, "a text has no negative length");
    const auto classes = static_cast<int>(language.class_frequency.size());
    std::vector<Choice> after_last = choices_of_rows(language.after_last);
    std::vector<Choice> after_second_last = choices_of_rows(language.after_second_last);
    Lexicon lexicon(language);
    boost::random::uniform_01<double> uniform;
    // The two classes before the text are drawn as a stationary pair, so the text is stationary
    // throughout.
    const int pair = choice_of(language.pair_frequency.reshaped())(stream);
    int second_last = pair % classes;
    int last = pair / classes;

    std::vector<int> text(static_cast<std::size_t>(tokens));
    for (int& token : text) {
        const bool looks_far = uniform(stream) < language.memory;
        const int next = looks_far
                             ? after_second_last[static_cast<std::size_t>(second_last)](stream)
                             : after_last[static_cast<std::size_t>(last)](stream);
        token = lexicon.draw(next, stream);
        second_last = std::exchange(last, next);
    }
    return text;
}

Dataset artificial_text(const ArtificialLanguageOptions& options, const RandomStreams& streams) {
    PACELINE_CHECK(options.steps >= 1 && options.train >= 1 && options.test >= 0,
                   "there is a step and a training sample or more");
    const auto tokens = [&](int samples) { return std::int64_t{samples} * options.steps + 1; };
    PACELINE_CHECK(tokens(std::max(options.train, options.test)) <= std::numeric_limits<int>::max(),
                   "tokens are counted in an int");
    const ArtificialLanguage language = artificial_language(options, streams);
    const auto text = [&](int samples, const char* name) {
        RandomStream stream = streams.stream(name);
        Samples cut;
        cut.tokens =
            cut_tokens(speak(language, static_cast<int>(tokens(samples)), stream), options.steps);
        return cut;
    };
    return {.train = text(options.train, "artificial-language.train"),
            .test = text(options.test, "artificial-language.test"),
            .predicts = Prediction::next_token,
            .classes = options.vocabulary};
}

}  // namespace paceline
