import numpy as np
from numpy.typing import NDArray

from ordinoise.learners.mlp._arithmetic import entry, exp, log, tanh


@entry
def each_exp(numbers: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(len(numbers)):
        out[i] = exp(numbers[i])


@entry
def each_log(numbers: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(len(numbers)):
        out[i] = log(numbers[i])


@entry
def each_tanh(numbers: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    for i in range(len(numbers)):
        out[i] = tanh(numbers[i])


def test_exp_is_the_exponential_and_ends_at_its_bounds() -> None:
    numbers = np.concatenate([np.linspace(-700, 700, 10_001), [0, 1e-20, -1e-20, -1e4, 1e4, -np.inf]])
    out = np.empty_like(numbers)
    each_exp(numbers, out)
    np.testing.assert_allclose(out, np.exp(np.clip(numbers, -700, 700)), rtol=2e-15)


def test_log_is_the_logarithm() -> None:
    numbers = np.concatenate([np.geomspace(1e-300, 1e300, 10_001), np.linspace(1, 2, 1001), [1e-307]])
    out = np.empty_like(numbers)
    each_log(numbers, out)
    np.testing.assert_allclose(out, np.log(numbers), rtol=1e-15, atol=1e-16)


def test_tanh_is_the_hyperbolic_tangent_also_of_tiny_numbers() -> None:
    numbers = np.concatenate([np.linspace(-12, 12, 10_001), [1e-10, -1e-10, 100, -100, 0]]).astype(np.float32)
    out = np.empty_like(numbers)
    each_tanh(numbers, out)
    np.testing.assert_allclose(out, np.tanh(numbers.astype(np.float64)), rtol=5e-7, atol=1e-30)
