// The log of a command: lines of text on standard error, or with --log-json a JSON object per line.
#pragma once

#include <functional>
#include <string>

namespace paceline {

class ConsoleLog {
  public:
    explicit ConsoleLog(bool json = false) : json_(json) {}

    void warn(const std::string& text) const;
    void fail(const std::string& text) const;
    void note(const std::string& text) const;

  private:
    void write(const char* event, const std::string& text, const std::string& prefix) const;

    bool json_;
};

/// Does `work` and returns its exit code. An error that it throws is logged, and its exit code is
/// returned.
int exit_code_of(const ConsoleLog& log, const std::function<int()>& work);

}  // namespace paceline
