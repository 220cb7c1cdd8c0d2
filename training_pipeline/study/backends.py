"""The backends of a study: where its runs may go besides this machine."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from training_pipeline.study.models import Block, Names, NotNegative, Positive, Text, sentence
from training_pipeline.trainers.wording import shown

LOCAL = "local"
"""The backend that is always there: this machine."""

Port = Annotated[int, Field(ge=1, le=65535)]

_INDICES = re.compile(r"\d+(,\d+)*")


def _gpus(value: Any) -> Any:
    """Return `auto`, `none`, or the indices as a tuple."""
    if value in ("auto", "none"):
        return value
    if isinstance(value, str) and _INDICES.fullmatch(value):
        value = [int(index) for index in value.split(",")]
    indices = value if isinstance(value, list) else [value]
    is_index = [type(index) is int and index >= 0 for index in indices]
    if not indices or not all(is_index) or len(set(indices)) < len(indices):
        raise sentence(f"Must be auto, none or GPU indices, not {shown(value)}.", "Indices are written [0, 1].")
    return tuple(indices)


def _quoted_time(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise sentence(
            f"Must be a text, not {shown(value)}.",
            "Put it in quotes: without them YAML reads 1:30:00 as the number 5400.",
        )
    return value


def _memory(value: Any) -> Any:
    is_amount = isinstance(value, str | int) and not isinstance(value, bool)
    if value is not None and (not is_amount or value in ("", 0) or (isinstance(value, int) and value < 0)):
        raise sentence(f"Must be megabytes, or a text such as 16G, not {shown(value)}.")
    return value


Gpus = Annotated[
    Literal["auto", "none"] | tuple[int, ...],
    BeforeValidator(_gpus),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["auto", "none"]},
                {"type": "string", "pattern": r"^\d+(,\d+)*$"},
                {"type": "integer", "minimum": 0},
                {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1, "uniqueItems": True},
            ]
        }
    ),
]


class LocalBackendConfig(Block):
    """This machine."""

    type: Literal["local"] = Field(description="Runs stay on this machine")


class SshConfig(Block):
    """A machine that is reached by ssh, with a key and without a prompt."""

    type: Literal["ssh"] = Field(description="Runs go to a machine over ssh")
    host: Text = Field(description="The machine, as ssh knows it")
    user: Text | None = Field(default=None, description="The account there; null: ssh's own choice")
    port: Port | None = Field(default=None, description="null: ssh's own choice")
    identity_file: Text | None = Field(default=None, description="The private key; null: ssh's own choice")
    python: Text = Field(default="python3", description="The Python there that has the training packages")
    remote_dir: Text = Field(default="~/.cache/training-pipeline", description="Where runs keep their files there")
    gpus: Gpus = Field(
        default="auto",
        description="auto: the GPU with the most free memory; none: hides them; or indices, such as [0, 1]",
    )
    min_free_gpu_mb: NotNegative = Field(default=0.0, description="Free memory that auto asks of a GPU")
    fetch_artifacts: bool = Field(default=True, description="Bring the model here; false: it stays there")
    env: dict[Text, str] = Field(default={}, description="Environment variables of the training process")
    connect_timeout_s: Positive = Field(default=15.0, description="Seconds that connecting may take")


class SlurmConfig(Block):
    """A cluster with SLURM."""

    type: Literal["slurm"] = Field(description="Runs are jobs of a cluster")
    remote_dir: Text = Field(description="Where runs keep their files; on storage that the compute nodes share")
    host: Text | None = Field(default=None, description="The login node, by ssh; null: sbatch on this machine")
    user: Text | None = Field(default=None, description="The account there; null: ssh's own choice")
    port: Port | None = Field(default=None, description="null: ssh's own choice")
    identity_file: Text | None = Field(default=None, description="The private key; null: ssh's own choice")
    python: Text = Field(default="python3", description="The Python there that has the training packages")
    partition: Text | None = Field(default=None, description="As sbatch takes it")
    account: Text | None = Field(default=None, description="As sbatch takes it")
    qos: Text | None = Field(default=None, description="As sbatch takes it")
    gres: Text | None = Field(default=None, description="As sbatch takes it, such as gpu:1")
    cpus_per_task: Annotated[int, Field(ge=1)] | None = Field(default=None, description="As sbatch takes it")
    mem: Annotated[str | int | None, BeforeValidator(_memory)] = Field(
        default=None, description="As sbatch takes it, such as 16G; a number is megabytes"
    )
    time: Annotated[Text | None, BeforeValidator(_quoted_time)] = Field(
        default=None, description='As sbatch takes it, in quotes: "01:30:00"'
    )
    sbatch_args: Names = Field(default=(), description="More arguments of sbatch")
    setup: Names = Field(default=(), description="Shell lines run before the training process")
    fetch_artifacts: bool = Field(default=True, description="Bring the model here; false: it stays there")
    poll_interval_s: Positive = Field(default=10.0, description="Seconds between two looks at the job")


class AgentConfig(Block):
    """A machine that fetches its work itself; the model stays there."""

    type: Literal["agent"] = Field(description="Runs wait until a machine's agent fetches them")
    lease_seconds: Positive = Field(default=300.0, description="Seconds without a sign after which a job is free again")


BackendConfig: TypeAlias = Annotated[
    LocalBackendConfig | SshConfig | SlurmConfig | AgentConfig, Field(discriminator="type")
]

BACKEND_MODELS: dict[str, type[Block]] = {
    "local": LocalBackendConfig,
    "ssh": SshConfig,
    "slurm": SlurmConfig,
    "agent": AgentConfig,
}
"""The types of backend, by name."""
