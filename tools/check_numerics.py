#!/usr/bin/env python3
"""Refuses functions and sums whose bits depend on the machine (docs/design.md, Numbers).

    tools/check_numerics.py [ROOT]        check the tree at ROOT (default: this repository)
    tools/check_numerics.py --self-test   check that the checker refuses what it must

The C library chooses its version of exp, log and similar functions by the processor, and Eigen chooses the order
of a sum by the width of its packets. Both would give different bytes on different machines. The check reads text,
so it finds calls by these names but not, for instance, a product of two Eigen matrices written as a * b.

Prints `file:line: what; allowed: what instead` for each fault. Exit code 1 if there is one.
"""

import re
import sys

import line_check

PRODUCT = ["sim", "topologies", "models", "algorithms", "analysis", "app"]
SUFFIXES = {".hpp", ".h", ".cpp", ".cc"}

FUNCTIONS = ("exp|exp2|expm1|log|log1p|log2|log10|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|"
             "asinh|acosh|atanh|erf|erfc|tgamma|lgamma|cbrt|hypot|polar")
OF_ARRAYS = ("exp|expm1|log|log1p|log2|log10|pow|sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|erf|erfc|"
             "rsqrt|logistic")
REDUCTIONS = ("sum|mean|prod|trace|norm|squaredNorm|stableNorm|blueNorm|hypotNorm|normalize|normalized|"
              "redux|dot|determinant")
LAWS = ("normal|lognormal|exponential|gamma|beta|cauchy|chi_squared|extreme_value|fisher_f|geometric|"
        "hyperexponential|inverse_gaussian|laplace|negative_binomial|binomial|non_central_chi_squared|"
        "poisson|student_t|triangle|weibull")

ELEMENTARY = "sim/numeric/elementary.hpp"
SUMS = "sim/numeric/sums.hpp, models/tensors/algebra.hpp"
DRAWS = "sim/numeric/draws.hpp"
# (name, pattern, what is allowed instead)
RULES = [
    ("function", re.compile(rf"\bstd::({FUNCTIONS})[fl]?\b(?!_)"), ELEMENTARY),
    ("function", re.compile(rf"\.({OF_ARRAYS})\("), f"{ELEMENTARY}, entry by entry"),
    ("fused", re.compile(r"\bstd::fma[fl]?\b|\b__builtin_fma"), "sim/numeric/fused.hpp"),
    ("sum", re.compile(rf"\.({REDUCTIONS})\("), SUMS),
    ("sum", re.compile(r"\bstd::(transform_)?reduce\b"), "std::accumulate"),
    ("product", re.compile(r"\.transpose\(\) \*|\* [\w.()\[\]]+\.transpose\(\)|\.noalias\(\)|\.lazyProduct\("
                           r"|\.rankUpdate\(|\bselfadjointView\b"), "models/tensors/algebra.hpp"),
    ("solver", re.compile(r"\bEigen::\w*(LLT|LDLT|QR|LU|SVD|Solver|Decomposition)\b|\.(llt|ldlt|\w+Qr|\w+Lu)\("
                          r"|<Eigen/(Cholesky|QR|SVD|LU|Eigenvalues|Dense|Geometry)>|\bSpectra\b"),
     "models/tensors/algebra.hpp"),
    ("law", re.compile(rf"\b({LAWS})_distribution\b"), DRAWS),
    ("law", re.compile(r"\bstd::\w+_distribution\b|\bstd::generate_canonical\b"), f"Boost.Random's, {DRAWS}"),
]

# (file, name of the rule, pattern of the line): the reason
EXCEPTIONS = {
    ("sim/numeric/fused.hpp", "fused", r"std::fma"): "the one place where fused operations are spelled",
    ("models/kernels/vectors.hpp", "fused", r"__builtin_fma"): "kernels may include no header of ours",
    ("sim/numeric/draws.cpp", "law", r"boost"): "Boost's algorithms on a type with functions of our own",
    ("topologies/mixing/eigenvalues.cpp", "solver", r"Spectra|Eigenvalues|SelfAdjointEigenSolver"): "six digits for people; no run reads them",
    ("topologies/mixing/eigenvalues.cpp", "product", r"product\.transpose\(\) \* product"): "six digits for people; no run reads them",
    ("analysis/fit/what_is_told.cpp", "solver", r"SVD"): "what a fit tells, in digits for people; constants are rounded",
    ("algorithms/runtime/plain_collectives.cpp", "sum", r"round\.mean\(\)"): "a mean of ours, summed by rank",
}

COMMENT_OR_STRING = re.compile(r"//.*|\"(?:[^\"\\]|\\.)*\"")


def code_of(line):
    """Returns the line without comments and string literals; an include keeps its path in angle brackets."""
    return COMMENT_OR_STRING.sub("", line)


def faults_of_file(root, file, used):
    """Yields one line of text for each fault of `file`; adds to `used` the exceptions it needs."""
    for number, line in enumerate((root / file).read_text(encoding="utf-8").splitlines(), 1):
        code = code_of(line)
        for name, pattern, allowed in RULES:
            found = pattern.search(code)
            if found is None:
                continue
            exception = next((e for e in EXCEPTIONS
                              if e[0] == str(file) and e[1] == name and re.search(e[2], code)), None)
            if exception is not None:
                used.add(exception)
                continue
            yield f"{file}:{number}: {found[0].strip()} depends on the machine; allowed: {allowed}"


def files_of(root):
    """The C++ files of the product, relative to the root, in a fixed order."""
    found = (f for folder in PRODUCT for f in (root / folder).rglob("*"))
    return sorted(f.relative_to(root) for f in found if f.suffix in SUFFIXES)


def check(root):
    """Returns (number of files, faults, exceptions used)."""
    files = files_of(root)
    used = set()
    faults = [fault for file in files for fault in faults_of_file(root, file, used)]
    return len(files), faults, used


# Each bad case must be refused exactly once, and no good case.
GOOD = [
    ("sim/a.cpp", "const double y = elementary::exp(x) + std::sqrt(x) + std::floor(x);"),
    ("sim/b.cpp", "boost::random::uniform_01<double> uniform;  // not normal_distribution"),
    ("sim/c.cpp", "refuse(\"std::exp(x)\");"),
    ("sim/numeric/draws.cpp", "#include <boost/random/gamma_distribution.hpp>"),
    ("models/a.cpp", "#include <Eigen/Core>"),
    ("models/b.cpp", "const double length = norm(g.values()) + x.cwiseAbs().maxCoeff();"),
    ("algorithms/runtime/plain_collectives.cpp", "Vector mean = round.mean();"),
    ("app/a.cpp", "const double all = std::accumulate(x.begin(), x.end(), 0.0);"),
    ("app/b.cpp", "std::log_of(x); std::exponential(y); x.summary(); x.dots(); x.power(2);"),
]
BAD = [
    ("sim/a.cpp", "const double y = std::exp(x);"),
    ("sim/b.cpp", "using std::log;"),
    ("sim/c.cpp", "boost::random::normal_distribution<double> normal;"),
    ("sim/d.cpp", "#include <boost/random/exponential_distribution.hpp>"),
    ("sim/e.cpp", "const float y = std::expf(x);"),
    ("sim/f.cpp", "const double y = std::fma(a, b, c);"),
    ("sim/g.cpp", "std::uniform_real_distribution<double> uniform;"),
    ("topologies/a.cpp", "#include <Spectra/SymEigsSolver.h>"),
    ("topologies/b.cpp", "roots.push_back(std::polar(1.0, angle));"),
    ("models/a.cpp", "const double all = x.cast<double>().sum();"),
    ("models/b.cpp", "y = x.array().tanh();"),
    ("models/c.cpp", "const Eigen::LLT<Eigen::MatrixXd> factors(h);"),
    ("models/d.cpp", "#include <Eigen/QR>"),
    ("models/e.cpp", "y = m.transpose() * x;"),
    ("models/f.cpp", "y = p * q.transpose();"),
    ("models/g.cpp", "y.noalias() += m * x;"),
    ("models/h.cpp", "h.selfadjointView<Eigen::Lower>();"),
    ("models/nets/a.cpp", "z = (z - max).exp();"),
    ("algorithms/a.cpp", "const double length = g.norm();"),
    ("algorithms/b.cpp", "const double p = x.dot(y);"),
    ("algorithms/c.cpp", "Vector mean = other.mean();"),
    ("analysis/a.cpp", "const double y = std::log10(x);  // elementary::log10 is allowed"),
    ("app/a.cpp", "const double all = std::reduce(x.begin(), x.end());"),
]


def unused_exceptions(used):
    return [f"{file}: no line needs the exception for {name} ({pattern}); take it out"
            for file, name, pattern in sorted(set(EXCEPTIONS) - used)]


if __name__ == "__main__":
    sys.exit(line_check.main("check_numerics", __doc__, check, GOOD, BAD, of_what="lines",
                             done="all numbers are the same on every machine", more=unused_exceptions))
