#include "sim/engine/read_decimal.hpp"

#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>
#include <version>

namespace paceline {

namespace {

std::size_t digits_at(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end - begin;
}

// Returns whether the text has this word at `at`, whatever the case of its letters.
bool has_word_at(std::string_view text, std::size_t at, std::string_view word) {
    if (text.size() - at < word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i)
        if ((text[at + i] | 0x20) != word[i]) return false;
    return true;
}

std::size_t exponent_at(std::string_view text, std::size_t begin) {
    if (begin == text.size() || (text[begin] | 0x20) != 'e') return 0;
    std::size_t digits = begin + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const std::size_t count = digits_at(text, digits);
    return count == 0 ? 0 : digits + count - begin;
}

#if defined(__cpp_lib_to_chars)
template <class Number>
std::from_chars_result read(std::string_view text, Number& number) {
    return std::from_chars(text.data(), text.data() + text.size(), number);
}
#else
double converted(const char* digits, double /*kind*/) {
    return std::strtod(digits, nullptr);
}
long double converted(const char* digits, long double /*kind*/) {
    return std::strtold(digits, nullptr);
}

template <class Number>
std::from_chars_result read(std::string_view text, Number& number) {
    const std::string digits(text.substr(0, extent_of_decimal(text)));
    if (digits.empty()) return {text.data(), std::errc::invalid_argument};
    const char* const end = text.data() + digits.size();
    const Number value = converted(digits.c_str(), number);
    const bool is_word = digits.find_first_of("nN") != std::string::npos;  // inf and nan
    const std::string_view fraction =
        std::string_view(digits).substr(0, digits.find_first_of("eE"));
    const bool is_zero = fraction.find_first_of("123456789") == std::string_view::npos;
    if (!is_word && (std::isinf(value) || (value == 0 && !is_zero)))
        return {end, std::errc::result_out_of_range};
    number = value;
    return {end, std::errc{}};
}
#endif

}  // namespace

std::size_t extent_of_decimal(std::string_view text) {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    for (const std::string_view word : {"infinity", "inf", "nan"})
        if (has_word_at(text, sign, word)) return sign + word.size();
    const std::size_t whole = digits_at(text, sign);
    std::size_t end = sign + whole;
    if (end < text.size() && text[end] == '.') {
        const std::size_t fraction = digits_at(text, end + 1);
        if (whole + fraction == 0) return 0;
        end += 1 + fraction;
    } else if (whole == 0) {
        return 0;
    }
    return end + exponent_at(text, end);
}

std::from_chars_result read_decimal(std::string_view text, double& number) {
    return read(text, number);
}

std::from_chars_result read_decimal(std::string_view text, long double& number) {
    return read(text, number);
}

}  // namespace paceline
