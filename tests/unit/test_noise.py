"""The shared noise: uniform, independent, and agreeing as often as the formula says."""

from __future__ import annotations

import numpy as np
import pytest

from desktop_app.core import noise
from desktop_app.core.sampling import Distribution, Floats
from tests.helpers.chi_square import misfit

BINS = 8
SIDE = 400
IDS = np.arange(SIDE)


def field(seed: int) -> Floats:
    """Noise by position and token id, shape (SIDE, SIDE)."""
    return np.stack([noise.uniform(seed, position, IDS) for position in range(SIDE)])


def joint_misfit(a: Floats, b: Floats) -> str | None:
    """Why a and b can't be independent and uniform."""
    cells = (a * BINS).astype(int) * BINS + (b * BINS).astype(int)
    counts = np.bincount(cells.ravel(), minlength=BINS * BINS)
    return misfit(counts.tolist(), [1 / BINS**2] * BINS**2)


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**63, -1])
def test_is_uniform_strictly_between_0_and_1(seed: int) -> None:
    u = field(seed)

    assert u.min() > 0
    assert u.max() < 1
    counts = np.bincount((u * 64).astype(int).ravel(), minlength=64)
    assert misfit(counts.tolist(), [1 / 64] * 64) is None


def test_the_extreme_bit_patterns_stay_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    extremes = np.array([0, 2**64 - 1], np.uint64)
    monkeypatch.setattr(noise, "_mix", lambda _value: extremes)

    u = noise.uniform(0, 0, np.arange(2))

    assert 0 < u[0] < u[1] < 1
    assert np.isfinite(-np.log(-np.log(u))).all()


def test_neighbours_know_nothing_of_each_other() -> None:
    u = field(3)

    assert joint_misfit(u[:-1], u[1:]) is None, "positions"
    assert joint_misfit(u[:, :-1], u[:, 1:]) is None, "token ids"
    assert joint_misfit(u, field(4)) is None, "seeds"
    assert joint_misfit(u, u) is not None, "the check must be able to fail"


def test_depends_on_the_key_alone() -> None:
    whole = noise.uniform(7, 11, IDS)

    assert (noise.uniform(7, 11, np.array([5, 300])) == whole[[5, 300]]).all()
    assert (noise.uniform(7 + 2**64, 11, IDS) == whole).all()


def test_picks_by_probability() -> None:
    p = Distribution(np.array([2, 3, 9]), np.array([0.6, 0.3, 0.1]))

    picks = np.array([noise.pick(p, 5, position) for position in range(30_000)])

    assert misfit([int((picks == token).sum()) for token in p.ids], p.probs.tolist()) is None


def test_never_picks_what_has_no_probability() -> None:
    p = Distribution(np.array([0, 1, 2]), np.array([0.0, 1.0, 0.0]))

    assert {noise.pick(p, 5, position) for position in range(200)} == {1}


@pytest.mark.parametrize("seed", range(3))
def test_agreement_is_how_often_the_target_joins_the_draft(seed: int) -> None:
    random = np.random.default_rng(seed)
    p = Distribution(np.arange(0, 6), random.dirichlet(np.ones(6)))
    q = Distribution(np.arange(2, 8), random.dirichlet(np.ones(6)))
    positions = range(30_000)
    target = np.array([noise.pick(p, seed, position) for position in positions])
    draft = np.array([noise.pick(q, seed, position) for position in positions])

    for token in range(8):
        drafted = draft == token
        expected = noise.agreement(p, q, token)
        if drafted.sum() >= 200:
            spread = (expected * (1 - expected) / drafted.sum()) ** 0.5
            assert (target[drafted] == token).mean() == pytest.approx(expected, abs=4 * spread + 1e-9)


def test_agreement_at_its_ends() -> None:
    p = Distribution(np.array([0, 1]), np.array([0.25, 0.75]))
    apart = Distribution(np.array([2]), np.array([1.0]))

    assert noise.agreement(p, p, 0) == pytest.approx(1.0)
    assert noise.agreement(p, apart, 2) == 0.0
    assert noise.agreement(p, apart, 0) == 0.0
    assert noise.agreement(p, Distribution.point(1), 1) == pytest.approx(0.75)
