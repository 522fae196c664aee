// Turns what the engine throws into Python's exceptions, with the same words as the command line.
#pragma once

namespace paceline::python {

/// Registers the translation for this module. Requires the GIL.
///
///   ConfigError, DataError  paceline.ScenarioError with file, path, value, suggestion
///   OutputError             paceline.OutputError
///   MethodFailed            the paceline.MethodError that it holds
///   Stopped                 paceline._errors.Stopped, which never leaves the package
///   LogicError              RuntimeError that asks for a report
///
/// Others are left to pybind11 (bad_alloc is MemoryError, all else RuntimeError).
void translate_errors();

}  // namespace paceline::python
