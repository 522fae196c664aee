// The GIL for threads of the engine, which run without it.
//
// A thread of the engine takes the GIL while code of Python runs on it, and holds no lock of the
// engine while it waits for the GIL. Objects of Python that the engine keeps are in a HeldObject,
// which may be copied and dropped without the GIL.
#pragma once

#include <memory>

#include <pybind11/pybind11.h>

namespace paceline::python {

namespace py = pybind11;

/// Holds the GIL while it is alive. May be nested.
class [[nodiscard]] Gil {
  public:
    Gil();
    Gil(const Gil&) = delete;
    Gil& operator=(const Gil&) = delete;
    ~Gil();

  private:
    PyGILState_STATE state_;
};

/// A reference to an object of Python.
using HeldObject = std::shared_ptr<PyObject>;

/// Returns a reference. Requires the GIL.
HeldObject hold(py::object object);

/// Returns the object. Requires the GIL.
inline py::object object_of(const HeldObject& held) {
    return py::reinterpret_borrow<py::object>(held.get());
}

}  // namespace paceline::python
