import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

from ordinoise import adjacent, corrupt
from ordinoise.classifiers.torch import OrdinalTorchClassifier
from ordinoise.estimation import AnchorPoints, ScoreLikelihood
from sklearn_failures import TEXT_CHECKS

torch = pytest.importorskip("torch", reason="the classifier is over PyTorch")
torch.set_num_threads(1)

ASYMMETRIC = np.array([[0.7, 0.15, 0.15, 0], [0, 0.8, 0.15, 0.05], [0.02, 0.2, 0.78, 0], [0.05, 0.1, 0.15, 0.7]])
Array = np.ndarray[Any, Any]


def _data(n: int = 200, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1, 5, 0.1] + [0, 100, -3]
    score = X[:, 0] + 0.2 * (X[:, 1] - 100) + rng.normal(scale=0.2, size=n)
    return X, np.digitize(score, [-1.2, 0, 1.2])


X, Y = _data()
SCALED = StandardScaler().fit_transform(X)
FAST: dict[str, Any] = {"max_iter": 8, "learning_rate_init": 0.03, "random_state": 0, "device": "cpu", "batch_size": 32}


def _weights(model: OrdinalTorchClassifier) -> Array:
    return np.concatenate([weight.ravel().numpy() for weight in model.module_.state_dict().values()])


def _images(n: int = 200, seed: int = 0) -> tuple[Array, Array]:
    """Pictures of 1 x 6 x 6 whose grade is how bright they are."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    return labels[:, None, None, None] * 0.5 + rng.normal(scale=0.3, size=(n, 1, 6, 6)), labels


def _convolution() -> Any:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    )


FULL_BATCH = OrdinalTorchClassifier(
    decision="mode", max_iter=60, learning_rate_init=0.05, batch_size=1000, random_state=0, device="cpu"
)


def _expected_failures(_: Any) -> dict[str, str]:
    why = "sums in another order differ by a rounding in float32, which 60 steps enlarge above 1e-7; 3 steps agree"
    return TEXT_CHECKS | {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@pytest.mark.slow
@parametrize_with_checks([FULL_BATCH], expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_full_batches_pass_the_check_of_weights_and_repetition() -> None:
    few = clone(FULL_BATCH).set_params(max_iter=3, learning_rate_init=0.001)
    check_sample_weight_equivalence_on_dense_data("OrdinalTorchClassifier", few)
    check_sample_weight_equivalence_on_sparse_data("OrdinalTorchClassifier", few)


LABELS: dict[str, tuple[Any, dict[str, Any], list[Any]]] = {
    "with gaps": (np.array([-5, 0, 2, 40])[Y], {}, [-5, 0, 2, 40]),
    "tensor": (torch.from_numpy(Y), {}, [0, 1, 2, 3]),
    "text in order": (np.array(["poor", "fair", "good", "best"])[Y], {"classes": ["poor", "fair", "good", "best"]}, ["poor", "fair", "good", "best"]),
    "ordered categorical": (pd.Series(pd.Categorical.from_codes(Y, ["z", "y", "x", "w"], ordered=True)), {}, ["z", "y", "x", "w"]),
}  # fmt: skip


@pytest.mark.parametrize(("y", "settings", "classes"), LABELS.values(), ids=LABELS)
def test_every_kind_of_label_gives_the_same_model(y: Any, settings: dict[str, Any], classes: list[Any]) -> None:
    reference = OrdinalTorchClassifier(**FAST).fit(X, Y)
    model = OrdinalTorchClassifier(**FAST, **settings).fit(X, y)
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.classes_[reference.predict(X)])


VARIANTS: list[dict[str, Any]] = [
    {"loss": "hinge"},
    {"noise": ASYMMETRIC},
    {"noise": ASYMMETRIC, "thresholds": "free"},
    {"noise": AnchorPoints(quantile=0.97)},
    {"hidden_layer_sizes": (), "early_stopping": True},
    {"hidden_layer_sizes": (8, 1), "activation": "tanh", "decision": "mode"},
    {"optimizer": torch.optim.SGD, "learning_rate_init": 0.1, "max_grad_norm": 1.0},
    {"optimizer": lambda groups: torch.optim.Adam(groups, lr=0.03), "precision": "bfloat16"},
]


@pytest.mark.filterwarnings("ignore:correction='unbiased' with")
@pytest.mark.parametrize("settings", VARIANTS, ids=lambda settings: "-".join(settings) or "defaults")
def test_every_variant_learns_and_gives_valid_probabilities(settings: dict[str, Any]) -> None:
    recorded = corrupt(Y, ASYMMETRIC, 0) if settings.get("noise") is not None else Y
    model = OrdinalTorchClassifier(**(FAST | {"max_iter": 30} | settings)).fit(X, recorded)
    probabilities = model.predict_proba(X)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.abs(model.predict(X) - Y).mean() < 0.5
    assert len(model.loss_curve_) == model.n_iter_
    by_cutpoints = (model.predict_score(X)[:, None] > model.cutpoints_).sum(axis=1)
    if model.decision == "median":
        assert (model.predict(X) == by_cutpoints).mean() > 0.99


def test_known_noise_beats_trust_and_the_reversed_matrix() -> None:
    noise = adjacent(4, up=0.45, down=0.0)
    features, labels = _data(1500, seed=1)
    noisy = corrupt(labels, noise, random_state=2)

    def clean_error(matrix: Any) -> float:
        model = OrdinalTorchClassifier(noise=matrix, **(FAST | {"batch_size": 128}))
        return float(np.abs(model.fit(features, noisy).predict(features) - labels).mean())

    informed, trusting, reversed_noise = (clean_error(matrix) for matrix in (noise, None, noise[::-1, ::-1]))
    assert informed < 0.7 * min(trusting, reversed_noise)


def test_identity_noise_is_no_noise_for_the_unbiased_correction_bit_for_bit() -> None:
    plain = OrdinalTorchClassifier(**FAST).fit(*_data(600))
    identity = OrdinalTorchClassifier(noise=np.eye(4), correction="unbiased", **FAST).fit(*_data(600))
    np.testing.assert_array_equal(_weights(plain), _weights(identity))


def test_a_module_is_copied_and_a_callable_is_called() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh())
    before = [weight.detach().clone() for weight in module.parameters()]
    scaled = StandardScaler().fit_transform(X)
    model = OrdinalTorchClassifier(module, **FAST).fit(scaled, Y)
    assert all(torch.equal(*pair) for pair in zip(before, module.parameters(), strict=True))
    assert np.abs(model.predict(scaled) - Y).mean() < 0.5
    made = [OrdinalTorchClassifier(lambda: torch.nn.Linear(3, 4), **FAST).fit(scaled, Y) for _ in range(2)]
    np.testing.assert_array_equal(_weights(made[0]), _weights(made[1]))


@pytest.mark.parametrize(
    "last", [torch.nn.Linear(3, 1), torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0))]
)
def test_a_module_that_gives_the_score_gets_no_further_layer(last: Any) -> None:
    model = OrdinalTorchClassifier(last, standardize=True, **FAST).fit(X, Y)
    assert model.module_.head.in_features is None
    assert np.abs(model.predict(X) - Y).mean() < 0.5


@pytest.mark.parametrize("module", [None, lambda: torch.nn.Linear(3, 4)], ids=["default", "own"])
def test_sparse_rows_are_read_batch_by_batch_and_give_the_model_of_dense_ones(module: Any) -> None:
    rows = np.where(np.abs(SCALED) > 0.5, SCALED, 0).astype(np.float32)
    settings = FAST | {"standardize": False, "noise": ASYMMETRIC, "module": module}
    torch.manual_seed(0)
    dense = OrdinalTorchClassifier(**settings).fit(rows, Y)
    torch.manual_seed(0)
    coo = OrdinalTorchClassifier(**settings).fit(scipy.sparse.coo_array(rows), Y)
    np.testing.assert_array_equal(_weights(coo), _weights(dense))
    np.testing.assert_array_equal(coo.predict_proba(scipy.sparse.csc_matrix(rows)), dense.predict_proba(rows))


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_the_noise_of_sparse_rows_is_estimated_and_they_are_not_centered() -> None:
    rows = scipy.sparse.csr_matrix(np.where(np.abs(SCALED) > 0.2, SCALED, 0))
    model = OrdinalTorchClassifier(noise="estimate", **FAST).fit(rows, Y)
    assert model.noise_.source == "estimated"
    assert np.abs(model.predict(rows) - Y).mean() < 0.5


def test_images_go_through_a_convolution() -> None:
    images, labels = _images()
    model = OrdinalTorchClassifier(_convolution, **(FAST | {"max_iter": 25})).fit(images, labels)
    assert (model.predict(images) == labels).mean() > 0.8
    as_tensor = OrdinalTorchClassifier(_convolution, **(FAST | {"max_iter": 25})).fit(
        torch.from_numpy(images).float(), torch.from_numpy(labels)
    )
    np.testing.assert_array_equal(_weights(model), _weights(as_tensor))


def test_a_tensor_of_words_goes_to_the_module_as_it_is() -> None:
    words = torch.from_numpy(np.random.default_rng(0).integers(0, 4, (200, 5)))
    labels = words.max(dim=1).values
    model = OrdinalTorchClassifier(torch.nn.EmbeddingBag(4, 8, mode="max"), **(FAST | {"max_iter": 40})).fit(
        words, labels
    )
    assert (model.predict(words) == labels.numpy()).mean() > 0.7


@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
@pytest.mark.slow
def test_noise_of_images_is_estimated_from_their_flat_features_or_through_a_module() -> None:
    images, labels = _images(400)
    noise = adjacent(4, up=0.3, down=0.0)
    recorded = corrupt(labels, noise, random_state=0)
    quick = ScoreLikelihood(n_folds=2, n_bootstrap=0, n_jobs=2, max_iter=60, learning_rate_init=0.01)
    flat = OrdinalTorchClassifier(_convolution, noise=quick, **FAST).fit(images, recorded)
    assert np.abs(flat.noise_matrix_ - noise).mean() < 0.1
    through = clone(quick).set_params(base_estimator=OrdinalTorchClassifier(_convolution, **FAST))
    twice = [OrdinalTorchClassifier(_convolution, noise=through, **FAST).fit(images, recorded) for _ in range(2)]
    np.testing.assert_array_equal(twice[0].noise_matrix_, twice[1].noise_matrix_)
    np.testing.assert_array_equal(_weights(twice[0]), _weights(twice[1]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ordinoise.estimation.IdentifiabilityWarning")
def test_noise_is_estimated_through_the_module_itself() -> None:
    images, labels = _images(400)
    noise = adjacent(4, up=0.3, down=0.0)
    recorded = corrupt(labels, noise, random_state=0)
    model = OrdinalTorchClassifier(_convolution, noise="estimate", estimate_with="module", **FAST).fit(images, recorded)
    assert model.noise_.method == "ScoreLikelihood"
    assert np.abs(model.noise_matrix_ - noise).mean() < 0.1


def test_early_stopping_stops_by_a_part_or_by_given_data() -> None:
    settings = FAST | {
        "max_iter": 200,
        "hidden_layer_sizes": (64,),
        "n_iter_no_change": 3,
        "tol": 0,
        "noise": ASYMMETRIC,
    }
    recorded = corrupt(Y, ASYMMETRIC, 0)
    part = OrdinalTorchClassifier(early_stopping=True, **settings).fit(X, recorded)
    given = OrdinalTorchClassifier(**settings).fit(X[:150], recorded[:150], validation=(X[150:], recorded[150:]))
    for model in (part, given):
        assert model.best_iter_ == np.argmin(model.validation_curve_) + 1 < model.n_iter_ < 200


def test_early_stopping_is_the_default_from_200_samples_on_but_not_in_parts() -> None:
    many, recorded = np.tile(X, (2, 1))[:200], np.tile(Y, 2)[:200]
    assert OrdinalTorchClassifier(**FAST).fit(many[:199], recorded[:199]).validation_curve_ == []
    assert OrdinalTorchClassifier(**FAST).fit(many, recorded).validation_curve_
    part = OrdinalTorchClassifier(**FAST).partial_fit(many, recorded)
    assert part.validation_curve_ == []
    whole = OrdinalTorchClassifier(**(FAST | {"early_stopping": False})).partial_fit(many, recorded)
    np.testing.assert_array_equal(_weights(part), _weights(whole))


RATES: list[tuple[dict[str, Any], list[float], list[float]]] = [
    ({"early_stopping": False}, [0.001, 0.001], [0.01, 0]),
    ({"early_stopping": True}, [0.002, 0.002], [0.03, 0]),
    ({"early_stopping": False, "module": torch.nn.Linear(3, 32)}, [0.001, 0.001], [0.01, 0]),
    ({"module": torch.nn.Linear(3, 32)}, [0.002, 0.03, 0.03], [0.01, 0.01, 0]),
    ({"module": torch.nn.Linear(3, 100)}, [0.002, 0.01, 0.01], [0.01, 0.01, 0]),
    ({"module": torch.nn.Linear(3, 900)}, [0.002, 0.002, 0.002], [0.01, 0.01, 0]),
    ({"module": torch.nn.Linear(3, 1)}, [0.002, 0.03], [0.01, 0]),
    ({"module": torch.nn.Linear(3, 32), "learning_rate_init": 0.005}, [0.005, 0.005], [0.01, 0]),
    ({"module": torch.nn.Linear(3, 32), "optimizer": torch.optim.SGD}, [0.002, 0.002], [0.01, 0]),
]


@pytest.mark.parametrize(("settings", "rates", "decays"), RATES)
def test_the_head_on_a_module_learns_faster_where_training_stops_early(
    settings: dict[str, Any], rates: list[float], decays: list[float]
) -> None:
    seen: list[Any] = []
    every: dict[str, Any] = {"max_iter": 1, "random_state": 0, "device": "cpu", "early_stopping": True}
    note = [lambda epoch: seen.extend(epoch.optimizer.param_groups)]
    OrdinalTorchClassifier(callbacks=note, **every | settings).fit(SCALED.astype(np.float32), Y)
    assert [group["lr"] for group in seen] == pytest.approx(rates)
    assert [group["weight_decay"] for group in seen] == pytest.approx(decays)


def test_partial_fit_and_warm_start_go_on_and_fit_starts_anew() -> None:
    model = OrdinalTorchClassifier(noise=ASYMMETRIC, **FAST)
    for start in range(0, 200, 100):
        model.partial_fit(X[start : start + 100], Y[start : start + 100], classes=[0, 1, 2, 3])
    assert model.n_iter_ == len(model.loss_curve_) == 2
    first = _weights(clone(model).fit(X, Y))
    np.testing.assert_array_equal(_weights(model.fit(X, Y)), first)
    warm = clone(model).set_params(warm_start=True).fit(X, Y)
    before = warm.loss_curve_[-1]
    assert warm.fit(X, Y).loss_curve_[0] < before + 0.05
    with pytest.raises(ValueError, match=r"y must hold the classes of the earlier fit"):
        warm.fit(X, Y + 1)


def test_a_fit_that_was_cut_off_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    settings = FAST | {"noise": ASYMMETRIC, "early_stopping": True, "module": lambda: torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.Dropout(0.2))}  # fmt: skip

    def power_cut(epoch: Any) -> None:
        if epoch.number == 4:
            raise KeyboardInterrupt

    whole = OrdinalTorchClassifier(**settings).fit(SCALED, Y)
    with pytest.raises(KeyboardInterrupt):
        OrdinalTorchClassifier(checkpoint_dir=tmp_path, callbacks=[power_cut], **settings).fit(SCALED, Y)
    epochs: list[int] = []
    resumed = OrdinalTorchClassifier(
        checkpoint_dir=tmp_path, callbacks=[lambda epoch: epochs.append(epoch.number)], **settings
    ).fit(SCALED, Y)
    assert epochs == [4, 5, 6, 7, 8]
    np.testing.assert_array_equal(_weights(resumed), _weights(whole))
    assert resumed.loss_curve_ == whole.loss_curve_
    with pytest.raises(ValueError, match=r"checkpoint must be of the same training, got another data"):
        OrdinalTorchClassifier(checkpoint_dir=tmp_path, **settings).fit(SCALED, Y[::-1].copy())


KINDS: list[dict[str, Any]] = [
    {},
    {"hidden_layer_sizes": (), "thresholds": "free", "noise": ASYMMETRIC},
    {"module": torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)), "standardize": True},
    {"module": lambda: torch.nn.Linear(3, 1), "classes": ["a", "b", "c", "d"], "noise": AnchorPoints(quantile=0.9)},
]


@pytest.mark.parametrize("settings", KINDS, ids=["defaults", "linear", "module", "maker"])
def test_a_saved_model_comes_back_exactly(settings: dict[str, Any], tmp_path: Path) -> None:
    labels = np.array(settings.get("classes", [0, 1, 2, 3]))[Y]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OrdinalTorchClassifier(**(FAST | settings)).fit(frame, labels)
    model.save(tmp_path / "model")
    back = OrdinalTorchClassifier.load(tmp_path / "model", module=settings.get("module"))
    np.testing.assert_array_equal(back.predict_proba(frame), model.predict_proba(frame))
    assert back.classes_.dtype == model.classes_.dtype
    assert back.feature_names_in_.tolist() == ["a", "b", "c"]
    assert back.loss_curve_ == model.loss_curve_
    np.testing.assert_array_equal(back.noise_matrix_, model.noise_matrix_)
    assert back.max_iter == model.max_iter
    back.set_params(warm_start=True).fit(frame, labels)
    assert back.loss_curve_[0] < model.loss_curve_[0]


def test_a_saved_model_wants_the_module_that_it_was_made_with(tmp_path: Path) -> None:
    OrdinalTorchClassifier(torch.nn.Linear(3, 4), **FAST).fit(X, Y).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"module must be given: the saved model has a Linear, got None"):
        OrdinalTorchClassifier.load(tmp_path / "model")
    with pytest.raises(
        ValueError, match=r"path must hold a whole model, .*the module is not the one that was saved"
    ) as caught:
        OrdinalTorchClassifier.load(tmp_path / "model", module=torch.nn.Linear(3, 5))
    assert "\n" not in str(caught.value)


def test_pipeline_and_grid_search() -> None:
    pipeline = make_pipeline(StandardScaler(), OrdinalTorchClassifier(**FAST))
    search = GridSearchCV(pipeline, {"ordinaltorchclassifier__max_iter": [1, 8]}, cv=2).fit(X, Y)
    assert search.best_params_ == {"ordinaltorchclassifier__max_iter": 8}


def test_verbose_shows_a_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    OrdinalTorchClassifier(verbose=True, **FAST).fit(X, Y)
    assert "8/8" in capsys.readouterr().out


BAD: list[tuple[dict[str, Any], str]] = [
    ({"noise": np.eye(3)}, r"noise_matrix must be 4 x 4, one row per class, got shape \(3, 3\)"),
    ({"correction": "backward"}, r"correction must be one of \['forward', 'unbiased'\], got 'backward'"),
    ({"noise": ASYMMETRIC, "loss": "hinge"}, r"loss must be 'cross_entropy' for the forward correction, got 'hinge'"),
    ({"decision": "best"}, r"decision must be one of"),
    ({"module": 3}, r"module must be an nn.Module or a callable that makes one, got int"),
    ({"module": torch.nn.Unflatten(1, (3, 1))}, r"module must give features \(n_samples, n\) or a score \(n_samples,\), got shape \(32, 3, 1\)"),
    ({"optimizer": "adam"}, r"optimizer must be a class of torch.optim or a callable of parameter groups, got 'adam'"),
    ({"standardize": "yes"}, r"standardize must be one of \['auto'\]"),
    ({"module": torch.nn.Flatten(), "standardize": True, "shape": (-1, 3, 1)}, r"standardize must be False for inputs that are not rows of numbers"),
    ({"estimate_with": "eyes"}, r"estimate_with must be one of \['features', 'module'\]"),
    ({"device": "gpu!"}, r"device must be 'auto' or the name of a PyTorch device, got 'gpu!'"),
    ({"checkpoint_dir": "c", "random_state": None}, r"random_state must be a seed where there are checkpoints, got None"),
    ({"checkpoint_dir": "c", "warm_start": True}, r"warm_start must be False where there are checkpoints"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_bad_settings_get_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    chosen = {name: value for name, value in settings.items() if name != "shape"}
    with pytest.raises(ValueError, match=sentence):
        OrdinalTorchClassifier(**(FAST | chosen)).fit(X.reshape(settings.get("shape", X.shape)), Y)


def test_without_pytorch_one_sentence_says_what_to_install() -> None:
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'")
sys.meta_path.insert(0, Absent())
try:
    import ordinoise.learners.torch
except ImportError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == 'ordinoise.learners.torch needs PyTorch: pip install "ordinoise[torch]"'
