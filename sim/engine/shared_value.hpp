// A value that nobody changes and many hold, such as the options of an algorithm on each worker: a
// copy costs a pointer.
#pragma once

#include <memory>
#include <utility>

namespace paceline {

template <class T>
class SharedValue {
  public:
    // NOLINTNEXTLINE(google-explicit-constructor): as if it were the value itself
    SharedValue(T value) : value_(std::make_shared<const T>(std::move(value))) {}

    [[nodiscard]] const T& operator*() const { return *value_; }
    [[nodiscard]] const T* operator->() const { return value_.get(); }

    /// Returns a member of the value, which keeps the whole.
    template <class Part>
    [[nodiscard]] SharedValue<Part> part(Part T::* member) const {
        return SharedValue<Part>(std::shared_ptr<const Part>(value_, &((*value_).*member)));
    }

  private:
    template <class Whole>
    friend class SharedValue;
    explicit SharedValue(std::shared_ptr<const T> value) : value_(std::move(value)) {}

    std::shared_ptr<const T> value_;
};

}  // namespace paceline
