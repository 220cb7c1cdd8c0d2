"""Trainers on images."""

from __future__ import annotations

from dataclasses import dataclass

from training_pipeline.trainers.declaration import Declaration
from training_pipeline.trainers.declared.fitting import Fitting
from training_pipeline.trainers.params import param


@dataclass(frozen=True)
class ImageFitting(Fitting):
    """What a network on images is fitted with besides."""

    pretrained: bool = param("Start from published weights, found on this machine or downloaded", True)
    augment: bool = param("Show the network flipped images too", True)


@dataclass(frozen=True)
class TorchvisionClassifyParams(ImageFitting):
    """The params of torchvision-classify."""

    architecture: str = param("A classification model of torchvision, by name", "resnet18")
    image_size: int = param("Pixels of the side that images are scaled to", 224, minimum=16)


@dataclass(frozen=True)
class TorchvisionDetectParams(ImageFitting):
    """The params of torchvision-detect."""

    architecture: str = param("A detection model of torchvision, by name", "fasterrcnn_resnet50_fpn_v2")
    image_size: int = param("Pixels of the longer side that images are scaled to", 1024, minimum=16)
    score_threshold: float = param("Objects less sure than this are dropped", 0.05, minimum=0, maximum=1)


@dataclass(frozen=True)
class UltralyticsDetectParams(Fitting):
    """The params of ultralytics-detect."""

    model_name: str = param("A model of ultralytics: its name or a file", "yolo11n.pt")
    image_size: int = param("Pixels of the longer side that images are scaled to", 640, minimum=32)
    score_threshold: float = param("Objects less sure than this are dropped", 0.05, minimum=0, maximum=1)


DECLARATIONS = (
    Declaration(
        name="torchvision-classify",
        summary="A network that classifies whole images",
        kinds=("nominal", "multilabel"),
        libraries=("torch", "torchvision"),
        licence="BSD-3-Clause",
        keeps_best_epoch=True,
        params_class=TorchvisionClassifyParams,
    ),
    Declaration(
        name="torchvision-detect",
        summary="A network that finds boxes, and masks where the schema draws polygons",
        kinds=("geometry",),
        libraries=("torch", "torchvision"),
        licence="BSD-3-Clause",
        keeps_best_epoch=True,
        params_class=TorchvisionDetectParams,
    ),
    Declaration(
        name="ultralytics-detect",
        summary="A YOLO network that finds boxes and masks",
        kinds=("geometry",),
        libraries=("ultralytics",),
        licence="AGPL-3.0",
        keeps_best_epoch=True,
        params_class=UltralyticsDetectParams,
        needs_accept_licence=True,
    ),
)
