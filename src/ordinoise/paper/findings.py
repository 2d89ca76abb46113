"""What the tables say, in sentences: agreement with the paper, the orders it names, what forward correction adds."""

from __future__ import annotations

from ordinoise._text import TextTable
from ordinoise.paper import PAPER_SETS, SETS, Group, Order, Summary, compare
from ordinoise.paper.comparison import Comparison
from ordinoise.paper.printed import table1
from ordinoise.paper.speed import Speed

# Sets whose cut, or the error that it gives, is known well enough to hold every cell against the paper.
COMPARABLE = ("abalone", "computer", "california")

# The sets of the paper's Table 2, the other whole ones, and the excerpt, whose rarest grade has 64 rows.
TOGETHER = (("synthetic", "california"), ("boston", "abalone", "computer"), ("mslr",))


def agreement(summary: Summary) -> list[str]:
    """How many printed errors are met, and every one that is not, by how much and why."""
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
    what = f"{SETS[cell.dataset].printed}, {cell.loss.replace('_', '-')}, {cell.variant}, {cell.train_on} labels"
    return f"{what}: {one.mean:.3f} here, {cell.mean:.2f} printed ({one.difference:+.3f}). {reason(one)}"


def reason(one: Comparison) -> str:
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
    """How many of the orders that the paper's own table shows are seen here."""
    printed = [order for order in found if order.is_printed]
    if not printed:
        return []
    seen = sum(order.is_seen for order in printed)
    missed = [f"{order.statement}: {SETS[order.dataset].printed}" for order in printed if not order.is_seen]
    sentence = f"{seen} of {len(printed)} orders that the discussion names and the printed table shows are seen here."
    return [sentence, *(f"Not seen: {one}." for one in missed)]


def consistency(summary: Summary) -> list[str]:
    """How often free thresholds were out of order, and whether the final ones were in order."""
    free = {group: measured for group, measured in summary.items() if group.correction != "forward"}
    sentences = []
    for datasets in TOGETHER:
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


def forward_table(summary: Summary) -> TextTable | None:
    """Forward correction with our estimated matrix beside the paper's better loss with the true one."""
    rows = []
    for dataset in PAPER_SETS:
        group = Group(dataset, "cross_entropy", "forward", "estimated", "uniform")
        if group in summary:
            known = min(
                cell.mean
                for cell in table1()
                if (cell.dataset, cell.variant, cell.metric, cell.train_on) == (dataset, "known", "mae", "noisy")
            )
            ours = float(summary[group].mean_absolute_errors.mean())
            rows.append((SETS[dataset].printed, f"{known:.2f}", f"{ours:.3f}", f"{ours - known:+.3f}"))
    columns = ("data", "paper, rates known", "forward here, rates estimated", "difference")
    title = "Forward correction, noise estimated, beside the paper's better loss with known rates (MAE)"
    return TextTable(title, columns, tuple(rows)) if rows else None


def speed_sentence(speed: Speed | None, n_reused: int) -> str:
    """How many times faster the run was than the paper's style."""
    if speed is None:
        return 'The paper-style loop was not timed: it needs PyTorch, pip install "ordinoise[torch]".'
    hours = speed.loop_seconds / 3600
    loop = f"{speed.n_updates:,} updates, {hours:.1f} hours in the paper-style loop timed in this run"
    if n_reused:
        return f"{loop}; {n_reused} trials were there already. A worker was {speed.ratio_a_worker:.0f} times as fast."
    return (
        f"{loop}: {speed.seconds:.0f} seconds here, {speed.ratio:.0f} times as fast "
        f"({speed.ratio_a_worker:.0f} times a worker)."
    )


def _name(group: Group) -> str:
    return f"{SETS[group.dataset].printed} {group.loss.replace('_', '-')} {group.variant} ({group.noise} noise)"
