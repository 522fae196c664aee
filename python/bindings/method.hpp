// Training methods that are written in Python: how the engine runs them.
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

#include "app/scenario/algorithms/own_method.hpp"
#include "python/bindings/gil.hpp"

namespace paceline::python {

/// Returns the method of a paceline._method.Method. Requires the GIL.
OwnMethodPtr own_method(const py::object& described);

}  // namespace paceline::python
