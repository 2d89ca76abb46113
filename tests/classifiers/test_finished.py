"""A fit that was stopped continues with the models that it had finished."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinoise.classifiers.blend.candidates import Fitted, TreesCandidate
from ordinoise.classifiers.blend.plan import BlendPlan
from ordinoise.classifiers.ordinal import OrdinalClassifier
from ordinoise.datasets import synthetic

N_FITS, N_BEFORE = 10, 3  # two candidates in five folds; fits before the interruption


class Keeping(OrdinalClassifier):
    """Keeps every fit of `keeps_from` rows or more, however quick."""

    keeps_from = 0

    def _plan(self) -> BlendPlan:
        return replace(super()._plan(), keeps_from=self.keeps_from, kept_seconds=0.0)


class Fits:
    """Counts the fits of trees; from `stop` on they are interrupted."""

    made, stop = 0, N_BEFORE


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> Fits:
    found = Fits()
    fit: Callable[..., Fitted] = TreesCandidate.fit

    def counting(self: TreesCandidate, *arguments: Any) -> Fitted:
        if found.made == found.stop:
            raise KeyboardInterrupt
        found.made += 1
        return fit(replace(self, max_rounds=2), *arguments)

    monkeypatch.setattr(TreesCandidate, "fit", counting)
    return found


def _model() -> Keeping:
    return Keeping("boosting", noise=None, n_jobs=1, n_rounds=1, random_state=0)


def _stopped(folder: Path, fits: Fits) -> tuple[Any, Any]:
    """The data of a fit that was interrupted, with the fits before that in the folder."""
    data = synthetic(80, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        _model().keep_fits(folder).fit(data.features, data.labels)
    assert len(list(folder.iterdir())) == N_BEFORE
    fits.made, fits.stop = 0, 100
    return data.features, data.labels


def test_a_stopped_fit_continues_and_ends_as_an_undisturbed_one(tmp_path: Path, fits: Fits) -> None:
    features, labels = _stopped(tmp_path / "unfinished", fits)
    again = _model().keep_fits(tmp_path / "unfinished").fit(features, labels)
    assert fits.made == N_FITS - N_BEFORE
    plain = _model().fit(features, labels)
    np.testing.assert_allclose(again.predict_proba(features), plain.predict_proba(features), rtol=1e-9)
    assert again.out_of_fold_ is not None
    assert plain.out_of_fold_ is not None
    np.testing.assert_allclose(again.out_of_fold_, plain.out_of_fold_, rtol=1e-9)
    assert dict(again.weights_) == pytest.approx(dict(plain.weights_))
    assert again.curves_.keys() == plain.curves_.keys()


@pytest.mark.parametrize("at", [0, 40, -1])
def test_a_damaged_fit_is_made_again(at: int, tmp_path: Path, fits: Fits) -> None:
    features, labels = _stopped(tmp_path, fits)
    path = min(tmp_path.iterdir())
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    _model().keep_fits(tmp_path).fit(features, labels)
    assert fits.made == N_FITS - N_BEFORE + 1


def test_an_empty_or_cut_file_is_made_again(tmp_path: Path, fits: Fits) -> None:
    features, labels = _stopped(tmp_path, fits)
    first, second, _ = sorted(tmp_path.iterdir())
    first.write_bytes(b"")
    second.write_bytes(second.read_bytes()[:100])
    _model().keep_fits(tmp_path).fit(features, labels)
    assert fits.made == N_FITS - N_BEFORE + 2


@pytest.mark.parametrize("change", ["feature", "label", "seed"])
def test_fits_of_other_data_or_settings_are_not_used(change: str, tmp_path: Path, fits: Fits) -> None:
    features, labels = _stopped(tmp_path, fits)
    model = _model().keep_fits(tmp_path)
    if change == "feature":
        features[7, 1] += 1e-9
    elif change == "label":
        labels[7] = (labels[7] + 1) % 3
    else:
        model.set_params(random_state=1)
    model.fit(features, labels)
    assert fits.made == N_FITS


def test_a_place_that_cannot_be_written_costs_nothing_but_the_fits(tmp_path: Path, fits: Fits) -> None:
    fits.stop = 100
    data = synthetic(60, random_state=0)
    (tmp_path / "file").write_text("mine")
    model = _model().keep_fits(tmp_path / "file").fit(data.features, data.labels)
    plain = _model().fit(data.features, data.labels)
    np.testing.assert_allclose(model.predict_proba(data.features), plain.predict_proba(data.features), rtol=1e-9)
    assert (tmp_path / "file").read_text() == "mine"


def test_short_fits_are_not_kept(tmp_path: Path, fits: Fits) -> None:
    fits.stop = 100
    data, model = synthetic(60, random_state=0), _model()
    model.keeps_from = 2000
    model.keep_fits(tmp_path / "unfinished").fit(data.features, data.labels)
    assert not (tmp_path / "unfinished").exists()
