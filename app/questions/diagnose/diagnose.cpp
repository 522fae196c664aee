#include "app/questions/diagnose/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/json_paths.hpp"
#include "app/questions/calibrate/measured_points.hpp"
#include "app/questions/diagnose/advice.hpp"
#include "app/questions/diagnose/judged_causes.hpp"
#include "app/questions/diagnose/measured_number.hpp"
#include "app/questions/diagnose/trials_that_tell.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

constexpr double least_share = 0.02;         // of an answer that is in question
constexpr double least_share_advised = 0.1;  // of an answer for which help is looked for
constexpr std::size_t most_compared = 8;     // causes
constexpr std::size_t most_advised = 3;      // answers
constexpr std::size_t most_first_of_pairs = 3;
constexpr std::size_t most_turned = 6;  // pairs

std::vector<MeasuredNumber> read_numbers(const DiagnoseQuestion& question) {
    if (question.measured.empty())
        throw ConfigError("command line", "--measured",
                          "is missing: what was measured, such as --measured step=4s");
    std::vector<MeasuredNumber> numbers;
    for (const std::string& text : question.measured) {
        numbers.push_back(read_measured_number(text));
        for (std::size_t i = 0; i + 1 < numbers.size(); ++i)
            if (numbers[i].text == text)
                throw ConfigError("command line", "--measured " + text, "is given twice");
    }
    return numbers;
}

DiagnosedPoint point_of(const MeasuredNumber& number, const DiagnosedPoint& main,
                        const DiagnoseQuestion& question) {
    DiagnosedPoint point;
    try {
        if (number.operation.empty()) {
            Settings settings = question.settings;
            settings.insert(settings.end(), number.settings.begin(), number.settings.end());
            point = diagnosed_point(question.scenario, settings, question.picks);
            if (number.one_device) {
                Json json = *point.scenario;
                leave_one_device(json);
                point = diagnosed_point(json, question.scenario);
            }
        } else {
            Json base = *main.scenario;
            for (const std::string& setting : number.settings) {
                const std::size_t equals = setting.find('=');
                const Json value = Json::parse(setting.substr(equals + 1), nullptr, false);
                put_at(base, setting.substr(0, equals),
                       value.is_discarded() ? Json(setting.substr(equals + 1)) : value,
                       command_line, setting);
            }
            Json json =
                collective_scenario(base, {number.text, number.operation, number.bytes,
                                           std::nullopt, number.nodes.value_or(main.machines), 1});
            take_plan_of(base, json);
            point = diagnosed_point(json, question.scenario);
        }
    } catch (const ConfigError& error) {
        throw ConfigError("command line", "--measured " + number.text,
                          fmt::format("is refused: {}: {}", error.path(), error.problem()));
    }
    point.column = number.column;
    point.is_a_collective = !number.operation.empty();
    point.slowest_alone = number.slowest_alone;
    return point;
}

NeededCause needed(const Cause& cause, double value) {
    NeededCause one{cause.key, cause.name, cause.what, cause.shown ? cause.shown(value) : ""};
    if (!cause.quantity) return one;
    one.number = cause.quantity->in_base_unit(value);
    one.usual = cause.usual_source;
    one.path = cause.quantity->path;
    return one;
}

std::vector<std::string> keys_of(const JudgedCause& one) {
    std::vector<std::string> keys;
    for (const auto& [cause, value] : one.assumed.causes) keys.push_back(cause->key);
    return keys;
}

class Diagnosing {
  public:
    Diagnosing(const DiagnoseQuestion& question, const Evaluate& evaluate)
        : question_(question),
          numbers_(read_numbers(question)),
          main_(diagnosed_point(question.scenario, question.settings, question.picks)),
          predictor_(question.scenario, evaluate),
          judge_(predictor_, measured_points(), logarithms_of(numbers_), question.noise) {
        const Point point = read_resolved(*main_.scenario, question.scenario);
        causes_ = causes_of(main_, point.scenario, judge_.compute_is_measured());
    }

    Diagnosis answer() {
        begin();
        std::vector<JudgedCause> fit = singles();
        if (fit.empty()) {
            tell("no single cause explains the numbers; trying pairs");
            fit = pairs();
            found_.are_pairs = true;
        }
        group(fit);
        if (question_.advise) advise();
        found_.points = predictor_.points().size();
        return std::move(found_);
    }

  private:
    void tell(const std::string& line) const {
        if (question_.tell) question_.tell(line);
    }

    [[nodiscard]] std::vector<DiagnosedPoint> measured_points() const {
        std::vector<DiagnosedPoint> points;
        for (const MeasuredNumber& number : numbers_)
            points.push_back(point_of(number, main_, question_));
        return points;
    }

    static std::vector<double> logarithms_of(const std::vector<MeasuredNumber>& numbers) {
        std::vector<double> all;
        for (const MeasuredNumber& number : numbers) all.push_back(elementary::log(number.value));
        return all;
    }

    void begin() {
        found_.title = Json::parse(question_.scenario.text, nullptr, false).value("title", "");
        found_.file = question_.scenario.file;
        found_.noise = question_.noise;
        found_.stated_gradient_s = main_.gradient_s;
        for (const ImpossibleCause& one : causes_.impossible)
            found_.impossible.push_back({one.key, one.name, one.why});
        std::vector<Predictor::Asked> asked;
        for (const DiagnosedPoint& point : judge_.points()) asked.emplace_back(&point, Assumed{});
        const auto before = predictor_.logarithms(asked);
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (!before[i])
                throw ConfigError(
                    "command line", "--measured " + numbers_[i].text,
                    fmt::format("{} has no value in the scenario", numbers_[i].column));
            found_.numbers.push_back({numbers_[i].text, numbers_[i].column, numbers_[i].value,
                                      elementary::exp(*before[i])});
        }
    }

    // Returns the causes that explain the numbers alone, or nothing at all if they need none.
    std::vector<JudgedCause> singles() {
        tell("trying causes");
        std::vector<const Cause*> causes;
        for (const Cause& cause : causes_.possible) causes.push_back(&cause);
        std::vector<JudgedCause> judged = judge_.judge(causes, {});
        if (const auto alone = judge_.judge_alone({})) {
            if (judge_.compute_is_measured())
                found_.gradient_s =
                    main_.gradient_s *
                    elementary::exp(judge_.with_compute_as_measured(*alone).assumed.compute);
            if (alone->farthest <= explained_within) judged.push_back(*alone);
        }
        for (const Cause* cause : causes)
            if (std::ranges::none_of(judged, [&](const JudgedCause& one) {
                    return !one.assumed.causes.empty() && one.assumed.causes.front().first == cause;
                }))
                found_.impossible.push_back(
                    {cause->key, cause->name, "the scenario does not allow it"});
        std::vector<JudgedCause> fit;
        for (JudgedCause& one : judged) {
            if (one.farthest <= explained_within)
                fit.push_back(std::move(one));
            else
                rejected_.push_back(std::move(one));
        }
        for (const JudgedCause& one : rejected_) reject(one);
        return fit;
    }

    // Says why a cause does not explain the numbers.
    void reject(const JudgedCause& rejected) {
        const JudgedCause one = judge_.with_compute_as_measured(rejected);
        const auto& [cause, value] = one.assumed.causes.front();
        if (const auto beyond = judge_.judge_beyond(*cause);
            beyond && beyond->farthest <= explained_within) {
            found_.unfit.push_back(
                {cause->key, cause->name,
                 fmt::format("would need {}: {}",
                             cause->quantity->shown(beyond->assumed.causes.front().second, 3),
                             cause->limit)});
            return;
        }
        std::size_t worst = 0;
        for (std::size_t i = 0; i < one.predicted.size(); ++i)
            if (std::abs(one.predicted[i] - judge_.measured().logarithms[i]) >
                std::abs(one.predicted[worst] - judge_.measured().logarithms[worst]))
                worst = i;
        found_.unfit.push_back(
            {cause->key, cause->name,
             fmt::format("at best {} for {}{}",
                         in_words(elementary::exp(one.predicted[worst]), numbers_[worst].column),
                         numbers_[worst].text,
                         cause->shown ? fmt::format(" ({})", cause->shown(value)) : "")});
    }

    // Returns pairs that explain the numbers: each of the causes that come nearest with each other
    // one, which take turns.
    std::vector<JudgedCause> pairs() {
        std::ranges::sort(rejected_, {}, &JudgedCause::farthest);
        std::set<std::pair<std::string, std::string>> tried;
        std::vector<JudgedCause> found;
        for (std::size_t i = 0; i < std::min(most_first_of_pairs, rejected_.size()); ++i) {
            const Cause* const first = rejected_[i].assumed.causes.front().first;
            std::vector<const Cause*> others;
            for (const JudgedCause& one : rejected_)
                if (const Cause* const other = one.assumed.causes.front().first;
                    other != first && tried.insert(std::minmax(first->key, other->key)).second)
                    others.push_back(other);
            Assumed given = rejected_[i].assumed;
            given.compute = 0;
            std::ranges::move(judge_.judge(others, given), std::back_inserter(found));
        }
        std::ranges::sort(found, {}, &JudgedCause::farthest);
        std::vector<JudgedCause> fit;
        for (std::size_t i = 0; i < std::min(most_turned, found.size()); ++i)
            if (const JudgedCause turned = in_turns(found[i]); turned.farthest <= explained_within)
                fit.push_back(turned);
        return fit;
    }

    // Judges the first cause of a pair again with the second as it is, and the other way round.
    JudgedCause in_turns(JudgedCause pair) {
        for (int turn = 0; turn < 4 && pair.farthest > 1; ++turn) {
            const Cause* const moved = pair.assumed.causes.front().first;
            if (!moved->quantity) {
                std::ranges::reverse(pair.assumed.causes);
                continue;
            }
            const Assumed given{{pair.assumed.causes.back()}, 0};
            const std::vector<JudgedCause> again = judge_.judge({moved}, given);
            if (again.empty() || again.front().farthest > 0.95 * pair.farthest) break;
            pair = again.front();
        }
        return pair;
    }

    TriedCause tried(const JudgedCause& one, double share) const {
        TriedCause cause;
        for (const auto& [which, value] : one.assumed.causes)
            cause.causes.push_back(needed(*which, value));
        cause.share = share;
        cause.farthest = one.farthest;
        cause.compute = elementary::exp(one.assumed.compute);
        for (const double logarithm : one.predicted)
            cause.predicted.push_back(elementary::exp(logarithm));
        cause.patch = merge_patch(*main_.as_read, *scenario_with(main_, one.assumed));
        return cause;
    }

    // Makes answers of what explains the numbers, and looks for what would tell them apart.
    void group(std::vector<JudgedCause>& fit) {
        if (fit.empty()) return;
        std::ranges::sort(fit, [](const JudgedCause& a, const JudgedCause& b) {
            return a.evidence != b.evidence ? a.evidence > b.evidence : keys_of(a) < keys_of(b);
        });
        std::vector<double> evidence;
        for (const JudgedCause& one : fit) evidence.push_back(one.evidence);
        const std::vector<double> shares = shares_of(evidence);
        const std::vector<DiagnosedTrial> trials =
            trials_to_tell(main_, question_.scenario, judge_.points());
        const auto expected = expectations(fit, trials);
        std::vector<std::size_t> firsts;  // of each answer
        for (std::size_t i = 0; i < fit.size(); ++i) {
            std::size_t at = 0;
            while (at < firsts.size() && !are_one(fit, expected, firsts[at], i)) ++at;
            if (at == firsts.size()) {
                firsts.push_back(i);
                found_.answers.emplace_back();
                assumed_.push_back(fit[i].assumed);
            }
            found_.answers[at].either.push_back(tried(fit[i], shares[i]));
            found_.answers[at].share += shares[i];
        }
        look_for_next(firsts, trials, expected);
        order_answers();
    }

    using Expected = std::vector<std::vector<std::optional<double>>>;  // by cause and trial

    Expected expectations(const std::vector<JudgedCause>& fit,
                          const std::vector<DiagnosedTrial>& trials) {
        tell("looking for a measurement that tells causes apart");
        const std::size_t compared = std::min(fit.size(), most_compared);
        std::vector<Predictor::Asked> asked;
        for (std::size_t i = 0; i < compared; ++i)
            for (const DiagnosedTrial& trial : trials)
                asked.emplace_back(&trial.point, fit[i].assumed);
        const auto found = predictor_.logarithms(asked);
        Expected expected(fit.size());
        for (std::size_t i = 0; i < compared; ++i)
            for (std::size_t j = 0; j < trials.size(); ++j)
                expected[i].push_back(found[i * trials.size() + j]);
        return expected;
    }

    [[nodiscard]] bool are_one(const std::vector<JudgedCause>& fit, const Expected& expected,
                               std::size_t a, std::size_t b) const {
        const double same = question_.noise / 2;
        for (std::size_t i = 0; i < fit[a].predicted.size(); ++i)
            if (std::abs(fit[a].predicted[i] - fit[b].predicted[i]) > same) return false;
        if (expected[a].empty() || expected[b].empty()) return false;
        for (std::size_t j = 0; j < expected[a].size(); ++j) {
            if (expected[a][j].has_value() != expected[b][j].has_value()) return false;
            if (expected[a][j] && std::abs(*expected[a][j] - *expected[b][j]) > same) return false;
        }
        return true;
    }

    void look_for_next(const std::vector<std::size_t>& firsts,
                       const std::vector<DiagnosedTrial>& trials, const Expected& expected) {
        std::vector<std::size_t> asked;  // answers that are in question
        std::vector<double> weights;
        for (std::size_t i = 0; i < firsts.size(); ++i)
            if (found_.answers[i].share >= least_share && !expected[firsts[i]].empty()) {
                asked.push_back(firsts[i]);
                weights.push_back(found_.answers[i].share);
            }
        std::vector<ExpectedTrial> possible;
        std::vector<std::size_t> which;
        for (std::size_t j = 0; j < trials.size(); ++j) {
            ExpectedTrial one;
            for (const std::size_t i : asked)
                if (expected[i][j]) one.logarithms.push_back(*expected[i][j]);
            if (one.logarithms.size() != asked.size() || asked.empty()) continue;
            if (!trials[j].is_read_from_log)
                one.device_seconds =
                    elementary::exp(one.logarithms.front()) *
                    (trials[j].point.slowest_alone ? main_.workers : trials[j].point.workers);
            possible.push_back(std::move(one));
            which.push_back(j);
        }
        found_.measurements_tried = possible.size();
        const auto best = trial_that_tells(weights, possible, question_.noise);
        if (!best) return;
        const DiagnosedTrial& trial = trials[which[*best]];
        found_.next = {
            trial.what, trial.asked, possible[*best].device_seconds, {}, trial.point.column};
        for (std::size_t i = 0; i < firsts.size(); ++i)
            found_.next->expected.push_back(
                expected[firsts[i]].empty()
                    ? 0
                    : elementary::exp(expected[firsts[i]][which[*best]].value_or(0)));
    }

    // Puts answers in the order of their shares, which several causes may have added to.
    void order_answers() {
        std::vector<std::size_t> order(found_.answers.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
            const double of_a = found_.answers[a].share;
            const double of_b = found_.answers[b].share;
            return of_a != of_b ? of_a > of_b : a < b;
        });
        std::vector<DiagnosedAnswer> answers;
        std::vector<Assumed> assumed;
        std::vector<double> expected;
        for (const std::size_t i : order) {
            answers.push_back(std::move(found_.answers[i]));
            assumed.push_back(assumed_[i]);
            if (found_.next) expected.push_back(found_.next->expected[i]);
        }
        found_.answers = std::move(answers);
        assumed_ = std::move(assumed);
        if (found_.next) found_.next->expected = std::move(expected);
    }

    void advise() {
        tell("trying remedies");
        for (std::size_t i = 0; i < std::min(most_advised, found_.answers.size()); ++i) {
            DiagnosedAnswer& answer = found_.answers[i];
            if (answer.share < least_share_advised) continue;
            AdviceForCause advice = advice_for(main_, assumed_[i], predictor_);
            answer.step_s = advice.step_s;
            answer.advice = std::move(advice.advice);
            answer.was_advised = true;
        }
    }

    const DiagnoseQuestion& question_;
    std::vector<MeasuredNumber> numbers_;
    DiagnosedPoint main_;
    Predictor predictor_;
    CauseJudge judge_;
    Causes causes_;
    std::vector<JudgedCause> rejected_;  // causes that do not explain the numbers alone
    std::vector<Assumed> assumed_;       // of each answer's first cause
    Diagnosis found_;
};

}  // namespace

Diagnosis diagnose(const DiagnoseQuestion& question, const Evaluate& evaluate) {
    return Diagnosing(question, evaluate).answer();
}

}  // namespace paceline
