// What a method in Python can await: a verb of a Worker with its arguments, ready to be performed.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "algorithms/mail/letter.hpp"
#include "models/tensors/vector.hpp"
#include "python/bindings/gil.hpp"
#include "sim/engine/task.hpp"

namespace paceline::python {

class Run;

/// A vector for Python, as an array over its values. Python writes into the array only if nobody
/// else has the vector.
struct ForPython {
    Vector vector;
    bool writable;
};

/// What an operation returns to Python.
using Result = std::variant<std::monostate, ForPython, Letter, HeldObject>;

struct Operation {
    std::string_view name;                      // a string literal
    std::function<Task<Result>(Run&)> perform;  // called once, when it is awaited or started
};
using OperationPtr = std::shared_ptr<Operation>;

/// Begins an operation. It then holds its arguments no more.
inline Task<Result> begin(const OperationPtr& operation, Run& run) {
    const auto perform = std::exchange(operation->perform, {});
    return perform(run);
}

}  // namespace paceline::python
