// Answers requests of the page, as JSON texts: the engine of paceline without files and threads.
//
// A request has "do", "scenario" (a text), and "files" (an object of texts by name, which the
// scenario may name). The answer depends on "do":
//
//   names     what a scenario can name, as `paceline list --json` prints it; needs no scenario
//   study     axes, points, and whether it trains; with "report": true also warnings and what
//             `paceline check` prints. "whole_steps" of a point is the least number of steps that
//             has as many rated ones as its scenario, and with which a period of its algorithm
//             ends; "last_stage" is the first step of the last stage, which has no warm-up
//   run       "points": a list of numbers. "csv" is results.csv of these points alone, "timeline"
//             is timeline.csv where they train
//   explain   "point": what `paceline explain --json` prints, and its page for people
//   trace     "point", "step": a trace of this step in the Chrome format
//   solve     "set", "vary", "find", and "against" or "equals", as the options of `paceline solve`:
//             "changes" between the sides, each with "kind", "at", "shown", and whether "set" is
//             "above_before"; the "unit" of "at", the number of "points" that were run, and whether
//             "set" is "above_at_first", at the least value that is known
//
// A refusal is {"error": {"file", "path", "problem", "text", "all"}}: the first fault, and all of
// them in "all", each with these four fields. While points train, `on_progress` gets a text for
// each evaluation.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace paceline {

using OnProgress = std::function<void(const std::string& json)>;

struct LastRead;

/// Keeps the study that was read last, because requests about one study follow each other, and what
/// its files hold, because a slider changes none of them.
class Session {
  public:
    Session();
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Never throws an error of the request. Whatever else is thrown is a bug or a lack of memory.
    std::string answer(std::string_view request, const OnProgress& on_progress);

  private:
    std::unique_ptr<LastRead> last_;
};

}  // namespace paceline
