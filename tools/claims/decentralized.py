"""DecentLaM (Yuan, Chen, Huang, Zhang, Pan, Xu, Yin, ICCV 2021) against decentralized and parallel momentum SGD."""
from .claim import Paper, shown_if

PAPER = Paper("DecentLaM")
