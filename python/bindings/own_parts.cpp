#include "python/bindings/own_parts.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/json/object_reader.hpp"
#include "python/bindings/exchange_parts.hpp"
#include "python/bindings/method.hpp"
#include "python/bindings/problem.hpp"

namespace paceline::python {

namespace {

// A part, or why the name is of none.
template <class Own>
struct FoundPart {
    std::shared_ptr<const Own> part;
    std::string problem{};
};

// Parts of a sort by name, of one reading of a scenario.
template <class Own>
struct FoundParts {
    std::mutex mutex{};
    std::map<std::string, FoundPart<Own>> parts{};
};

template <class Own>
using Describe = std::shared_ptr<const Own> (*)(const py::object& described);

template <class Own>
FoundPart<Own> ask_python(const HeldObject& find, const char* sort, Describe<Own> describe,
                          const std::string& kind, const std::string& file) {
    const Gil gil;
    try {
        const py::object described = object_of(find)(sort, kind, file);
        if (py::isinstance<py::str>(described)) return {nullptr, described.cast<std::string>()};
        return {described.is_none() ? nullptr : describe(described)};
    } catch (const py::error_already_set& raised) {
        return {nullptr, raised.what()};
    }
}

template <class Own>
FindOwn<Own> finder(HeldObject find, const char* sort, Describe<Own> describe) {
    return [found = std::make_shared<FoundParts<Own>>(), find = std::move(find), sort,
            describe](const Place& kind) -> std::shared_ptr<const Own> {
        const auto& name = kind.json->get_ref<const std::string&>();
        FoundPart<Own> of_kind;
        bool is_known = false;
        {
            const std::scoped_lock lock(found->mutex);
            const auto known = found->parts.find(name);
            is_known = known != found->parts.end();
            if (is_known) of_kind = known->second;
        }
        if (!is_known) {  // takes the GIL: without the lock
            of_kind = ask_python<Own>(find, sort, describe, name, *kind.file);
            const std::scoped_lock lock(found->mutex);
            of_kind = found->parts.emplace(name, std::move(of_kind)).first->second;
        }
        if (!of_kind.problem.empty()) kind.refuse(of_kind.problem);
        return of_kind.part;
    };
}

}  // namespace

OwnParts parts_of_python(py::object find) {
    const HeldObject held = hold(std::move(find));
    return {finder<OwnMethod>(held, "method", &own_method),
            finder<OwnProblem>(held, "problem", &own_problem),
            finder<OwnCodec>(held, "codec", &own_codec),
            finder<OwnMixing>(held, "mixing", &own_mixing)};
}

}  // namespace paceline::python
