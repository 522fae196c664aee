"""Bands around the mean of the seeds: a standard deviation, a confidence interval, or the range.

    sd       mean +- s,  s^2 = sum (x_i - mean)^2 / (n - 1): where one more seed may well lie
    ci       mean +- t s / sqrt(n), t the 0.975 quantile of Student's t with n - 1 degrees of freedom: where the
             mean of many seeds lies, at 95 % confidence if the values are normally distributed
    minmax   from the least to the largest
    none     no band

One value has no deviation, so its band has no width.
"""

import math

BANDS = {"sd": "standard deviation", "ci": "95 % confidence interval of the mean (Student's t)",
         "minmax": "from the least to the largest", "none": None}


def within(t, degrees):
    """Returns P(|T| < t) of Student's t with so many degrees of freedom, by its finite series for integers."""
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(2 + odd, degrees + 1, 2):
        total += term
        term *= (k - 1) / k * math.cos(angle) ** 2
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def student_t(degrees, share=0.95):
    """Returns t with P(|T| < t) = share, by bisection."""
    low, high = 0.0, 2.0
    while within(high, degrees) < share:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, degrees) < share else (low, middle)
    return high


def mean_and_band(values, band):
    """Returns the mean and the ends of its band."""
    n = len(values)
    if min(values) == max(values):  # no rounding
        return values[0], values[0], values[0]
    mean = sum(values) / n
    if band == "minmax":
        return mean, min(values), max(values)
    if band == "none":
        return mean, mean, mean
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    half = deviation if band == "sd" else student_t(n - 1) * deviation / math.sqrt(n)
    return mean, mean - half, mean + half
