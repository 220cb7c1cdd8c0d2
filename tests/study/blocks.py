"""Blocks read without a study around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from training_pipeline.study.block import read_block
from training_pipeline.study.problems import Findings, Problem
from training_pipeline.study.training import TrainingConfig


def read(block: Mapping[Any, Any]) -> TrainingConfig:
    """Return a block that has no problems."""
    findings = Findings()
    training = read_block(block, findings).training
    findings.raise_any()
    return training


def problems(block: Mapping[Any, Any]) -> list[Problem]:
    """Return what is wrong with the block by itself."""
    findings = Findings()
    read_block(block, findings)
    return findings.problems


def warnings(block: Mapping[Any, Any]) -> list[Problem]:
    """Return what the block says to no effect."""
    findings = Findings()
    read_block(block, findings)
    return findings.warnings
