"""What a claim is, and what became of it."""
from dataclasses import dataclass, field
from typing import Callable, Optional

SHOWN, NOT_MET, NOT_SIMULATED = "shown", "not met", "not simulated"


@dataclass
class Outcome:
    here: str  # what was simulated, for the table
    status: str
    why: str = ""  # a status that is not `shown`, or a limit of what is shown


@dataclass
class Claim:
    id: str
    says: str
    where: str  # in the paper
    published: str
    studies: list  # scenarios, without the folder and .json, in the order of the function's arguments
    show: Optional[Callable]  # of these studies: an Outcome
    absent: str = ""  # why nothing is simulated

    def outcome(self, studies):
        if self.show is None:
            return Outcome("-", NOT_SIMULATED, self.absent)
        ran = [studies.get(name) for name in self.studies]
        for study in ran:
            study.edges.clear()
        outcome = self.show(*ran)
        edges = [edge for study in ran for edge in study.edges]
        if edges and outcome.status == SHOWN:
            return Outcome(outcome.here, NOT_MET, f"the best rate is at the edge of its grid: {', '.join(edges)}")
        return outcome


@dataclass
class Paper:
    name: str
    claims: list = field(default_factory=list)

    def claim(self, id, says, where, published, *studies):
        """Decorates the function that shows a claim."""
        def add(show):
            self.claims.append(Claim(id, says, where, published, list(studies), show))
            return show
        return add

    def not_simulated(self, id, says, where, published, why):
        self.claims.append(Claim(id, says, where, published, [], None, why))


def shown_if(agrees, here, otherwise="", limit=""):
    """Returns `shown` with its limit where the study agrees, else `not met` with the reason."""
    return Outcome(here, SHOWN, limit) if agrees else Outcome(here, NOT_MET, otherwise)
