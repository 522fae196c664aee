#include "python/bindings/errors.hpp"

#include <exception>
#include <string>

#include <nlohmann/json.hpp>
#include <pybind11/pybind11.h>
#include <pybind11_json/pybind11_json.hpp>

#include "app/host/output.hpp"
#include "app/json/config_error.hpp"
#include "models/data/files/data_error.hpp"
#include "models/kernels/isa.hpp"
#include "python/bindings/described.hpp"
#include "python/bindings/reading.hpp"
#include "sim/engine/check.hpp"

namespace paceline::python {

namespace {

py::object exception_class(const char* name) {
    return py::module_::import("paceline._errors").attr(name);
}

py::str text(const std::string& bytes) {
    return py::reinterpret_steal<py::str>(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void raise(const py::object& exception) {
    PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
}

// Returns the fields of a ScenarioError but its text: file, path, problem, value, suggestion.
py::tuple fields_of(const ConfigError& error) {
    const Fault& fault = error.fault();
    const nlohmann::json value = nlohmann::json::parse(fault.value, nullptr, false);
    return py::make_tuple(
        text(error.file()), text(error.path()), text(error.problem()),
        value.is_discarded() ? py::none() : pyjson::from_json(value),
        fault.suggestion.empty() ? py::object(py::none()) : text(fault.suggestion));
}

// The others come as tuples of a text and the fields.
void raise_scenario_error(const ConfigError& error) {
    py::list others;
    for (const ConfigError& other : error.others())
        others.append(py::make_tuple(text(other.what())) + fields_of(other));
    raise(exception_class("ScenarioError")(text(error.what()), *fields_of(error), others));
}

void translate(std::exception_ptr thrown) {
    if (!thrown) return;
    try {
        std::rethrow_exception(thrown);
    } catch (const ConfigError& error) {
        raise_scenario_error(error);
    } catch (const OutputError& error) {
        raise(exception_class("OutputError")(text(error.what())));
    } catch (const MethodFailed& failed) {
        raise(object_of(failed.exception));
    } catch (const Stopped&) {
        raise(exception_class("Stopped")());
    } catch (const LogicError& error) {
        raise(py::reinterpret_borrow<py::object>(PyExc_RuntimeError)(
            text(std::string("internal error of paceline, please report it: ") + error.what())));
    }
}

}  // namespace

void translate_errors() {
    py::register_local_exception_translator(&translate);
}

}  // namespace paceline::python
