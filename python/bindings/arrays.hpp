// Vectors of the engine as arrays of numpy, and back.
#pragma once

#include <memory>
#include <utility>

#include <Eigen/Core>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace paceline::python {

namespace py = pybind11;

/// An array of numbers in one dimension, as C has it.
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Returns an owner for arrays, which keeps a value.
template <class T>
py::capsule owner_of(T value) {
    return {new T(std::move(value)), [](void* owned) { delete static_cast<T*>(owned); }};
}

/// Lets nobody write into an array.
void make_read_only(const py::array& array);

/// Returns an array over values, which `owner` keeps.
py::array_t<double> array_over(const Eigen::VectorXd& values, const py::capsule& owner,
                               bool writable);

/// Returns the numbers of an array or a sequence. Throws std::invalid_argument.
Numbers numbers_of(const py::handle& given);

/// Returns the same as values of the engine.
Eigen::VectorXd eigen_of(const Numbers& numbers);

}  // namespace paceline::python
