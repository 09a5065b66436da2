"""Invented papers for the demonstration: two categories, two days, scores from the top to nothing.

None of them exists. Day 2 brings some papers of day 1 again, new ones, a near copy of a paper of day 1 and a
replacement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kgsched.research.paper import Author, Paper

CATEGORIES = ("cs.AI", "cs.MA")
_CC_BY = "http://creativecommons.org/licenses/by/4.0/"
_ARXIV_LICENSE = "http://arxiv.org/licenses/nonexclusive-distrib/1.0/"


@dataclass(frozen=True, slots=True)
class DemoPaper:
    """A paper with the days on which the feed shows it."""

    paper: Paper
    days: tuple[int, ...] = (1,)

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """The text of its PDF: the title, the abstract and a body long enough for several chunks."""
        paper = self.paper
        names = ", ".join(author.name for author in paper.authors)
        return (paper.title, names, "Abstract", paper.abstract, *_body(paper))


def papers_of(day: int) -> tuple[DemoPaper, ...]:
    """What the feed shows on a day (1 or 2), in the feed's order: new, cross, replace."""
    order = {"new": 0, "cross": 1, "replace": 2, "replace-cross": 3}
    shown = [one for one in PAPERS if day in one.days]
    return tuple(sorted(shown, key=lambda one: (order[one.paper.announce_type], one.paper.arxiv_id)))


def _paper(
    number: str,
    title: str,
    abstract: str,
    authors: str,
    categories: str = "cs.AI",
    *,
    days: tuple[int, ...] = (1,),
    kind: str = "new",
    version: int = 1,
    open_license: bool = True,
) -> DemoPaper:
    people = tuple(Author(name, "Institute of Invented Results") for name in authors.split("; "))
    license_url = _CC_BY if open_license else _ARXIV_LICENSE
    paper = Paper(number, version, title, abstract, people, tuple(categories.split()), kind, license_url)
    return DemoPaper(paper, days)


_MEMORY_GRAPH = _paper(
    "2611.90001",
    "Graph Memory for Multi-Agent Teams",
    "Teams of language models forget what their members learned an hour ago. We store episodic memory of every "
    "agent in a shared knowledge graph and let a scheduler read it before each task decomposition. Consolidation "
    "runs at night and merges notes that describe the same event. On a simulated logistics desk the teams finish 31 "
    "percent more work with a third of the prompts, and each decision can be traced to the note that caused it.",
    "Mara Ellwood; Tunde Akerele; Ines Quiroga",
    "cs.AI cs.MA",
    days=(1, 2),
)

PAPERS: tuple[DemoPaper, ...] = (
    _MEMORY_GRAPH,
    _paper(
        "2611.90002",
        "Tool Use under a Model Context Protocol with Typed Contracts",
        "Models call tools with arguments that no one checked. We give every tool a typed contract and let the "
        "model see the reason of each refusal. Function calling errors fall by half on four invented desks of "
        "tools, and the same contracts serve as access control for what is left.",
        "Pavel Horak; Yuki Tanabe",
        days=(1, 2),
    ),
    _paper(
        "2611.90003",
        "Prompt Injection through Shared Calendars",
        "An assistant that reads invitations obeys what they say. We describe a threat model for prompt injection "
        "by calendar entries, measure it on nine assistants built for this study, and show that tool use has to "
        "wait until reading is over. The leak stops in all cases, at the price of one more question to the user.",
        "Noor Haddad; Sam Oyelaran",
        open_license=False,
    ),
    _paper(
        "2611.90004",
        "A Trading Strategy that Explains its Orders",
        "We let a market simulator run with a desk of rule writers. Each order comes with the rule that made it, "
        "and a second model reads the order book to say why the rule was right or wrong. Over two simulated years "
        "the losses in times of high volatility shrink, since rules that no longer explain anything are dropped.",
        "Greta Lindqvist; Omar Benali",
        "cs.MA cs.AI",
    ),
    _paper(
        "2611.90005",
        "Chain of Thought Is Longer than It Needs to Be",
        "Long answers are not better answers. We cut the written steps of five small models by a length budget that "
        "is learned from their own mistakes. Accuracy on school arithmetic stays the same while the text is two "
        "thirds shorter, and the reasoning that is left reads better to teachers.",
        "Ilse Brandt; Kofi Mensah",
    ),
    _paper(
        "2611.90006",
        "Delegation Costs in Small Offices of Agents",
        "When is it worth to hand a job on? We count the messages that delegation costs in offices of three to nine "
        "autonomous agents. Below a certain size of the job, doing it oneself is always cheaper. A simple planner "
        "that knows this rule saves a fifth of all messages.",
        "Dana Petrescu; Luis Carranza",
        "cs.MA",
        days=(1, 2),
    ),
    _paper(
        "2611.90007",
        "Entity Resolution in Harbour Registers",
        "Ships change their names, registers do not notice. We link entries of four invented harbour registers by "
        "their journeys rather than by their names. The result is a small knowledge base that clerks can correct by "
        "hand, and the corrections teach the linker.",
        "Signe Dahl; Ravi Menon",
    ),
    _paper(
        "2611.90008",
        "Negotiation by Postcards",
        "Two players who may only send ten words a day come to terms in most of our games. We study which words they "
        "spend and show that early apologies help. The setting is small enough to be solved by hand.",
        "Anouk Verhoef; Peter Szabo",
        "cs.MA",
    ),
    _paper(
        "2611.90009",
        "A Leaderboard that Forgets",
        "Ranks last longer than the systems they describe. We propose a leaderboard whose entries fade unless they "
        "are repeated, and study what this does to reproducibility in a class of sixty students.",
        "Tomasz Wilk; Aisha Rahimi",
    ),
    _paper(
        "2611.90010",
        "Retrieval of Recipes by Smell Words",
        "Cooks describe smells when they do not remember names. We collect smell words for four hundred invented "
        "recipes and search by them. A workflow for kitchens is sketched.",
        "Bruno Castelli; Mei Lin",
    ),
    _paper(
        "2611.90011",
        "Counting Boats from a Hill",
        "We count boats in a bay with one cheap camera and a lot of patience. The method needs no labels, fails in "
        "fog, and is otherwise as good as two people with notebooks.",
        "Elena Markou",
    ),
    _paper(
        "2611.90012",
        "Protein Folding with a Curriculum of Paper Cranes",
        "We order toy proteins by how hard the matching paper crane is to fold. Curriculum learning on this order "
        "brings protein folding of toys to a good result in fewer steps, also in molecular dynamics runs of the toys.",
        "Haruka Ono; Felix Baumann",
    ),
    _paper(
        "2611.90013",
        "Tiling Courtyards with Three Colours",
        "We show that each courtyard of odd width can be tiled with three colours so that no row repeats. The proof "
        "is by hand and uses nothing but parity.",
        "Giulia Ferrante",
    ),
    _paper(
        "2611.90014",
        "Agent Benchmark of Everyday Errands",
        "We publish sixty errands that people run every week and let agents run them in a model town. Human "
        "evaluation shows that agents finish the errand but forget the change. The benchmark grows by ten errands a "
        "month.",
        "Rosa Delgado; Henk de Vries",
        "cs.AI cs.MA",
        days=(1, 2),
    ),
    _paper(
        "2611.90021",
        "Graph Memory for Multi-Agent Teams, Revisited",
        _MEMORY_GRAPH.paper.abstract.replace("31 percent", "29 percent").replace("hour", "day"),
        "Mara Ellwood; Tunde Akerele",
        "cs.AI cs.MA",
        days=(2,),
    ),
    _paper(
        "2611.90022",
        "Agent Communication by Shared Whiteboards",
        "We replace messages by a whiteboard that all agents may read and only one may wipe. A communication protocol "
        "of four words is enough to reach consensus in a warehouse with twelve carts, and debate becomes short.",
        "Zeynep Arslan; Colm Brennan",
        "cs.MA",
        days=(2,),
    ),
    _paper(
        "2611.90023",
        "Online Learning of Lift Schedules",
        "A lift that learns when people leave for lunch waits at the right floor. Online learning from a month of "
        "invented rides is enough, and a change of the lunch hour is followed within three days.",
        "Oskar Nyman",
        days=(2,),
    ),
    _paper(
        "2604.90099",
        "Long-Term Memory for Agents: a Second Look",
        "We repeat an old study of long-term memory for agents and find the same.",
        "Judit Farkas",
        days=(2,),
        kind="replace",
        version=3,
    ),
)


def as_cross(one: DemoPaper) -> DemoPaper:
    """The paper as a feed other than that of its primary category lists it."""
    return replace(one, paper=replace(one.paper, announce_type=one.paper.announce_type.replace("new", "cross")))


def _body(paper: Paper) -> tuple[str, ...]:
    sentences = [part.strip().rstrip(".") for part in paper.abstract.split(". ")]
    parts = ["1 Introduction", f"This paper is invented, as all of its results are. {paper.abstract}"]
    for number, sentence in enumerate(sentences, start=2):
        parts += [
            f"{number} On the claim that {sentence[:1].lower()}{sentence[1:]}"[:86],
            f"{sentence}. We looked at this claim in a setting of our own making. The first series of trials had "
            "twenty runs, the second had forty, and both were repeated by a person who did not know what to expect. "
            "What we saw did not depend on the order of the runs. Where a run went wrong, we kept it in the table "
            "and say so.",
            f"A reader who wants to repeat this needs no more than an afternoon. In short: {sentence}. The limits are "
            "those of every small study, and a larger one would have to vary the people as well as the task.",
        ]
    return (*parts, "References", "[1] M. Ellwood. Notes on invented results. Journal of Nowhere 4, 2025.")
