"""The findings of a run as sentences: agreement with the paper, its rankings, unordered thresholds, speed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ordinoise.jobs import StoredResult
from ordinoise.paper.comparison import Comparison, Group, Order, Summary, compare
from ordinoise.paper.protocol import LOSSES, PAPER_SETS, SETS

# Sets whose cut, or the error that it gives, is known well enough to compare every cell with the paper.
COMPARABLE = ("abalone", "computer", "california")

# Reported together: the sets of the paper's Table 2, the other whole ones, and the excerpt.
REPORTED = (("synthetic", "california"), ("boston", "abalone", "computer"), ("mslr",))


def agreement(summary: Summary) -> list[str]:
    """How many printed errors are reproduced, and a sentence per cell that is not."""
    found = [one for one in compare(summary) if one.printed.metric == "mae"]
    sentences = []
    for datasets in (COMPARABLE, PAPER_SETS):
        cells = [one for one in found if one.printed.dataset in datasets]
        if cells:
            names = ", ".join(dict.fromkeys(SETS[one.printed.dataset].printed for one in cells))
            n_within = sum(one.is_within for one in cells)
            sentences.append(
                f"{n_within} of {len(cells)} printed mean absolute errors of {names} are met "
                f"({n_within / len(cells):.0%}): within .03 or two printed standard deviations."
            )
    return sentences + [_explained(one) for one in found if not one.is_within]


def _explained(one: Comparison) -> str:
    cell = one.printed
    what = f"{SETS[cell.dataset].printed}, {LOSSES[cell.loss]}, {cell.variant}, {cell.train_on} labels"
    return f"{what}: {one.mean:.3f} here, {cell.mean:.2f} printed ({one.difference:+.3f}). {_reason(one)}"


def _reason(one: Comparison) -> str:
    """Why a cell differs, as far as it is known."""
    cell = one.printed
    if cell.dataset == "mslr":
        return "An excerpt: 8,000 training rows instead of about a million."
    if cell.dataset == "synthetic" and cell.loss == "hinge":
        return "The hinge is still learning here: the 300 epochs of --protocol printed come nearer."
    if cell.variant == "estimated":
        return "The authors fixed one estimated matrix for all splits; here every split makes its own."
    return f"The paper does not say all of its settings ({SETS[cell.dataset].note or 'batches and their number'})."


def orders_seen(found: list[Order]) -> list[str]:
    """How many of the rankings that hold in the paper's own table hold here, and those that do not."""
    printed = [order for order in found if order.is_printed]
    if not printed:
        return []
    seen = sum(order.is_seen for order in printed)
    missed = [f"{order.statement}: {SETS[order.dataset].printed}" for order in printed if not order.is_seen]
    sentence = f"{seen} of {len(printed)} orders that the discussion names and the printed table shows are seen here."
    return [sentence, *(f"Not seen: {one}." for one in missed)]


def settings_found(results: Iterable[StoredResult]) -> list[str]:
    """Hidden units and learning rate of every set and loss, as the grid search left them."""
    found: dict[tuple[str, str], str] = {}
    for stored in results:
        trial, settings = stored.trial, stored.trial["settings"]
        found[trial["dataset"], trial["loss"]] = f"{settings['n_hidden']} and {settings['learning_rate']:g}"
    return [
        f"Hidden units and learning rate by the grid search, {name}: "
        + "; ".join(f"{SETS[data].printed} {point}" for (data, of_loss), point in found.items() if of_loss == loss)
        + "."
        for loss, name in LOSSES.items()
    ]


def consistency(summary: Summary) -> list[str]:
    """How many updates left free thresholds unordered, and which final models are unordered."""
    free = {group: measured for group, measured in summary.items() if group.correction != "forward"}
    sentences = []
    for datasets in REPORTED:
        chosen = {group: measured for group, measured in free.items() if group.dataset in datasets}
        if not chosen:
            continue
        unordered = sum(measured.unordered_updates.sum() for measured in chosen.values())
        total = sum(measured.n_updates.sum() for measured in chosen.values())
        disordered = sorted({_name(group) for group, measured in chosen.items() if not measured.are_ordered})
        final = "all final models ordered" if not disordered else f"final models unordered: {'; '.join(disordered)}"
        names = ", ".join(SETS[name].printed for name in datasets if any(group.dataset == name for group in chosen))
        sentences.append(
            f"{names}: {unordered:,.0f} of {total:,.0f} updates left free thresholds unordered "
            f"({1e4 * unordered / total:.2f} in 10,000); {final}."
        )
    return sentences


def _name(group: Group) -> str:
    return f"{SETS[group.dataset].printed} {LOSSES[group.loss]} {group.variant} ({group.noise} noise)"


@dataclass(frozen=True)
class Speed:
    """Number of updates of a run, its time, and the time of the same updates in a plain PyTorch loop.

    Attributes
    ----------
    n_updates : int
        Of all networks, including those behind the estimated matrices.
    loop_seconds : float
        Time of the updates in the paper-style loop, one after the other, from its time per update on each set.
    seconds : float
        Wall time of the run.
    busy_seconds : float
        Time of the run summed over the workers.
    """

    n_updates: int
    loop_seconds: float
    seconds: float
    busy_seconds: float

    @property
    def ratio(self) -> float:
        """How many times faster than the loop, by wall time."""
        return self.loop_seconds / self.seconds

    @property
    def ratio_per_worker(self) -> float:
        """How many times faster than the loop a single worker is."""
        return self.loop_seconds / self.busy_seconds


def loop_microseconds(datasets: Iterable[str]) -> dict[str, float]:
    """Microseconds per update of the paper-style loop, by set; raises ImportError without PyTorch."""
    from ordinoise.learners.torch.paper_loop import microseconds_per_update

    return {name: microseconds_per_update(SETS[name].n_features, SETS[name].n_classes) for name in datasets}


def speed(results: Iterable[StoredResult], microseconds: dict[str, float], seconds: float) -> Speed:
    """The speed of a run with this wall time; an estimate that both losses share counts once."""
    n_updates, loop, busy = 0, 0.0, 0.0
    estimates = set()
    for stored in results:
        trial, made = stored.trial, stored.result["n_updates"]
        estimate = (trial["dataset"], trial["noise"], trial["split"], trial["estimator"])
        if estimate not in estimates:
            made += stored.result["n_estimating_updates"]
            estimates.add(estimate)
        n_updates += made
        loop += made * microseconds[trial["dataset"]] * 1e-6
        busy += stored.seconds
    return Speed(n_updates, loop, seconds, busy)


def speed_sentence(speed: Speed | None, n_reused: int) -> str:
    """How many times faster the run was than the paper-style loop."""
    if speed is None:
        return 'The paper-style loop was not timed: it needs PyTorch, pip install "ordinoise[torch]".'
    hours = speed.loop_seconds / 3600
    loop = f"{speed.n_updates:,} updates, {hours:.1f} hours in the paper-style loop timed in this run"
    if n_reused:
        return (
            f"{loop}; {n_reused} trials were there already. One worker is {speed.ratio_per_worker:.0f} times as fast."
        )
    return (
        f"{loop}: {speed.seconds:.0f} seconds here, {speed.ratio:.0f} times as fast "
        f"({speed.ratio_per_worker:.0f} times per worker)."
    )
