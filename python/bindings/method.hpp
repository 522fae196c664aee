// Training methods that are written in Python: how the engine finds and runs them.
//
// A method is an `async def` over a Worker (python/paceline/_worker.py). For each worker, a
// coroutine of the engine drives one of Python:
//
//   for (;;) {
//       operation = coroutine.send(result)         with the GIL
//       result = co_await operation.perform(self)  without it
//   }
//
// What Python awaits is an operation: a verb of the engine's Worker with its arguments, which were
// copied when it was made. It begins when it is awaited or started, as in C++. So a method in
// Python enters rounds, waits for messages and takes time exactly as one in C++ does, and a death,
// which destroys the engine's coroutine, closes the one of Python.
//
// Python runs on the thread of the event loop, one coroutine at a time. Points that run side by
// side take turns by the GIL, which nobody holds while the engine runs.
#pragma once

#include <memory>
#include <string>

#include "app/json/sources.hpp"
#include "python/bindings/gil.hpp"

namespace paceline::python {

/// A method has failed: what Python raised, as a paceline.MethodError. It is no std::exception, so
/// a study does not take it for the failure of one point, but ends.
struct MethodFailed {
    HeldObject exception;
};

/// Returns how to find methods by name: by calling `find(kind, file)` of Python, which returns a
/// paceline._method.Method, or None if the kind names none, or a text that says what is wrong.
/// `file` is the name of the scenario. Requires the GIL, here but not later.
FindMethod methods_of_python(py::object find);

}  // namespace paceline::python
