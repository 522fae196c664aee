// Problems that are written in Python: a loss and its gradients (python/paceline/_problem.py).
//
// The engine makes the object anew for each run, and once more to learn its size, so nothing is
// carried from one run to another. Gradients are computed on threads of the pool, which take turns:
// the object locks itself, and waits for its lock without the GIL.
#pragma once

#include <memory>

#include "app/scenario/workload/own_problem.hpp"
#include "python/bindings/gil.hpp"

namespace paceline::python {

/// Returns the problem of a paceline._problem.Problem. Requires the GIL.
std::shared_ptr<const OwnProblem> own_problem(const py::object& described);

}  // namespace paceline::python
