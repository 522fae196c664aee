// What `paceline diagnose` found, for people and as JSON.
#pragma once

#include <string>

#include "app/questions/diagnose/diagnosis.hpp"

namespace paceline {

/// Returns the numbers, the causes that explain them, those that do not, the measurement that would
/// tell them apart, and what helps under each.
std::string diagnosis_text(const Diagnosis& diagnosis);

/// Returns the same as one object; docs/how-to/diagnose.md has its keys.
std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace paceline
