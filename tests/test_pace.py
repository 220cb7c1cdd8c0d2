from __future__ import annotations

from training_pipeline.pace import Pace


def test_it_takes_the_pace_since_the_phase_was_first_heard_of() -> None:
    pace = Pace()
    assert pace.eta_seconds("predicting", 100, 1100, at=50.0) is None
    assert pace.eta_seconds("predicting", 300, 1100, at=54.0) == 16.0
    assert pace.eta_seconds("predicting", 1100, 1100, at=70.0) == 0.0


def test_another_phase_or_one_that_begins_again_has_its_own_pace() -> None:
    pace = Pace()
    pace.eta_seconds("fitting", 0, 10, at=0.0)
    assert pace.eta_seconds("fitting", 5, 10, at=5.0) == 5.0
    assert pace.eta_seconds("predicting", 0, 10, at=6.0) is None
    assert pace.eta_seconds("predicting", 5, 10, at=7.0) == 1.0
    assert pace.eta_seconds("predicting", 0, 10, at=8.0) is None


def test_without_a_total_or_with_a_clock_set_back_nobody_knows() -> None:
    pace = Pace()
    pace.eta_seconds("fitting", 0, 0, at=10.0)
    assert pace.eta_seconds("fitting", 3, 0, at=11.0) is None
    assert pace.eta_seconds("fitting", 4, 10, at=9.0) is None
