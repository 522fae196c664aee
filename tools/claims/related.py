"""The related methods: SlowMo, momentum consensus, SwarmSGD, 1-bit LAMB, Overlap-Local-SGD."""
from .claim import Paper, shown_if

PAPER = Paper("SlowMo, momentum consensus, SwarmSGD, 1-bit LAMB, Overlap-Local-SGD")
