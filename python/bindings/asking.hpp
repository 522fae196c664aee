// The questions of the command line for Python: check, explain, solve, calibrate, diagnose, lists.
// Each answer has a text for people; explain, solve, calibrate and diagnose have it as JSON, too,
// as `--json` prints it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/questions/calibrate/calibrate.hpp"
#include "app/questions/diagnose/diagnosis.hpp"
#include "app/questions/solve.hpp"
#include "app/study/run_pool.hpp"
#include "python/bindings/reading.hpp"

namespace paceline::python {

struct Answer {
    std::string text;
    std::string json;  // empty: there is none
    std::vector<std::string> warnings{};
};
using AnswerJob = JobFor<Answer>;

/// Answers as `paceline check` does. The job throws ConfigError, or Stopped.
std::unique_ptr<AnswerJob> begin_checking(ReadRequest request);

/// Explains a point, or the only one. The job throws ConfigError, or Stopped.
std::unique_ptr<AnswerJob> begin_explaining(ReadStudyPtr read, std::optional<std::size_t> point,
                                            int threads);

/// Solves; the question's file, settings and picks are those of `scenario`. The job throws
/// ConfigError, OutputError, or Stopped.
std::unique_ptr<AnswerJob> begin_solving(ScenarioText scenario, SolveQuestion question,
                                         PoolSize pool, const std::string& keep_in);

/// Calibrates, and answers with the testbed of this date as JSON, and its notes as warnings. The
/// job throws ConfigError, or Stopped.
std::unique_ptr<AnswerJob> begin_calibrating(CalibrationQuestion question, PoolSize pool,
                                             std::string date);

/// Diagnoses. The job throws ConfigError, or Stopped.
std::unique_ptr<AnswerJob> begin_diagnosing(DiagnoseQuestion question, PoolSize pool);

/// Returns the text of a file with what was measured. Throws ConfigError.
MeasuredFile measured_file(const std::string& file);

/// Returns the tables of `paceline list`: by the name of the list, its entries with "name" and,
/// where there are any, "summary" and "keys".
nlohmann::json tables_of_names();

}  // namespace paceline::python
