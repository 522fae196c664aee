// Tells the user what is wrong: to a person as a line of text on standard error, with --log-json as
// an object per line.
#pragma once

#include <functional>
#include <string>

namespace paceline {

class Teller {
  public:
    explicit Teller(bool json = false) : json_(json) {}

    void warn(const std::string& text) const;
    void fail(const std::string& text) const;
    void note(const std::string& text) const;

  private:
    void tell(const char* event, const std::string& text, const std::string& prefix) const;

    bool json_;
};

/// Does `work` and returns its exit code, or that of the error that it throws, which is told.
int told(const Teller& teller, const std::function<int()>& work);

}  // namespace paceline
