#include "python/bindings/gil.hpp"

namespace paceline::python {

namespace {

// What the interpreter knows of a thread, kept until the thread ends: to make it anew each time the
// GIL is taken would cost more than the GIL itself.
class KnownThread {
  public:
    KnownThread() : gil_(PyGILState_Ensure()), known_(PyEval_SaveThread()) {}
    KnownThread(const KnownThread&) = delete;
    KnownThread& operator=(const KnownThread&) = delete;
    ~KnownThread() {
        if (Py_IsInitialized() == 0) return;
        PyEval_RestoreThread(known_);
        PyGILState_Release(gil_);
    }

  private:
    PyGILState_STATE gil_;
    PyThreadState* known_;
};

void be_known() {
    if (PyGILState_GetThisThreadState() != nullptr) return;
    thread_local const KnownThread known;
}

}  // namespace

Gil::Gil() {
    be_known();
    state_ = PyGILState_Ensure();
}

Gil::~Gil() {
    PyGILState_Release(state_);
}

HeldObject hold(py::object object) {
    return {object.release().ptr(), [](PyObject* pointer) {
                if (Py_IsInitialized() == 0) return;  // the interpreter has gone, and its objects
                const Gil gil;
                Py_DECREF(pointer);
            }};
}

}  // namespace paceline::python
