#include "python/bindings/arrays.hpp"

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace paceline::python {

void make_read_only(const py::array& array) {
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
}

py::array_t<double> array_over(const Eigen::VectorXd& values, const py::capsule& owner,
                               bool writable) {
    py::array_t<double> array(values.size(), values.data(), owner);
    if (!writable) make_read_only(array);
    return array;
}

Numbers numbers_of(const py::handle& given) {
    if (py::isinstance<py::array>(given) || PySequence_Check(given.ptr()) != 0)
        if (Numbers numbers = Numbers::ensure(given)) return numbers;
    PyErr_Clear();
    throw std::invalid_argument(fmt::format("a vector is an array of numbers, not {}",
                                            py::repr(py::type::of(given)).cast<std::string>()));
}

Eigen::VectorXd eigen_of(const Numbers& numbers) {
    Eigen::VectorXd values(numbers.size());
    if (numbers.size() > 0)
        std::memcpy(values.data(), numbers.data(),
                    static_cast<std::size_t>(numbers.size()) * sizeof(double));
    return values;
}

}  // namespace paceline::python
