"""Deep Gradient Compression (Lin, Han, Mao, Wang, Dally, ICLR 2018)."""
from .claim import Paper, shown_if

PAPER = Paper("Deep Gradient Compression")
