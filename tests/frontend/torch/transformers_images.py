"""Models of images and sound of `transformers`, small and with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.export import Dim

from tests.frontend.torch.case import Case, Inputs
from tests.frontend.torch.transformers_classes import model

_IMAGE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "image_size": 32,
    "patch_size": 8,
}
_TEXT = {
    "vocab_size": 60,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}
_BATCH = {"pixel_values": {0: Dim.AUTO}}


def _ids_alone(size: int) -> Inputs:
    return (), {"input_ids": torch.randint(3, 60, (2, 7 + size))}


def _pixels(extent: int = 32) -> Callable[[int], Inputs]:
    return lambda size: ((), {"pixel_values": torch.randn(2 + size, 3, extent, extent)})


def _image(name: str, config: str, **options: Any) -> Case:
    return Case(name, model(name, config, {**_IMAGE, **options}), _pixels(), _BATCH)


IMAGES_AND_SOUND: tuple[Case, ...] = (
    Case(
        "WhisperForConditionalGeneration",
        model(
            "WhisperForConditionalGeneration",
            "WhisperConfig",
            {
                "vocab_size": 60,
                "d_model": 16,
                "encoder_layers": 1,
                "decoder_layers": 1,
                "encoder_attention_heads": 2,
                "decoder_attention_heads": 2,
                "encoder_ffn_dim": 32,
                "decoder_ffn_dim": 32,
                "num_mel_bins": 8,
                "max_source_positions": 10,
                "max_target_positions": 12,
                "use_cache": False,
                "pad_token_id": 0,
                "bos_token_id": 1,
                "eos_token_id": 2,
                "decoder_start_token_id": 1,
            },
        ),
        lambda size: ((), {"input_features": torch.randn(2, 8, 20), "decoder_input_ids": torch.randint(3, 60, (2, 5))}),
    ),
    Case(
        "Wav2Vec2Model",
        model(
            "Wav2Vec2Model",
            "Wav2Vec2Config",
            {
                "hidden_size": 16,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "intermediate_size": 32,
                "conv_dim": (8, 8),
                "conv_stride": (5, 2),
                "conv_kernel": (10, 3),
                "num_conv_pos_embeddings": 8,
                "num_conv_pos_embedding_groups": 2,
            },
        ),
        lambda size: ((), {"input_values": torch.randn(2, 400)}),
    ),
    Case(
        "HubertModel",
        model(
            "HubertModel",
            "HubertConfig",
            {
                "hidden_size": 16,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "intermediate_size": 32,
                "conv_dim": (8, 8),
                "conv_stride": (5, 2),
                "conv_kernel": (10, 3),
                "num_conv_pos_embeddings": 8,
                "num_conv_pos_embedding_groups": 2,
            },
        ),
        lambda size: ((), {"input_values": torch.randn(2, 400)}),
    ),
    _image("ViTModel", "ViTConfig"),
    _image("DeiTModel", "DeiTConfig"),
    _image("BeitModel", "BeitConfig", use_relative_position_bias=True),
    _image("Dinov2Model", "Dinov2Config"),
    Case(
        "SwinModel",
        model(
            "SwinModel",
            "SwinConfig",
            {
                "image_size": 32,
                "patch_size": 4,
                "embed_dim": 8,
                "depths": [2, 1],
                "num_heads": [2, 2],
                "window_size": 4,
            },
        ),
        _pixels(),
        _BATCH,
    ),
    Case(
        "ConvNextModel",
        model("ConvNextModel", "ConvNextConfig", {"num_stages": 2, "depths": [1, 1], "hidden_sizes": [8, 16]}),
        _pixels(),
        _BATCH,
    ),
    Case(
        "ResNetForImageClassification",
        model(
            "ResNetForImageClassification",
            "ResNetConfig",
            {
                "embedding_size": 8,
                "hidden_sizes": [16, 32],
                "depths": [1, 1],
                "layer_type": "bottleneck",
            },
        ),
        _pixels(),
        _BATCH,
    ),
    Case(
        "MobileNetV2Model",
        model("MobileNetV2Model", "MobileNetV2Config", {"depth_multiplier": 0.25, "image_size": 32}),
        _pixels(),
        _BATCH,
    ),
    Case(
        "MobileViTModel",
        model(
            "MobileViTModel",
            "MobileViTConfig",
            {
                "image_size": 32,
                "hidden_sizes": [8, 8, 8],
                "neck_hidden_sizes": [8, 8, 8, 8, 8, 8, 16],
                "num_attention_heads": 2,
            },
        ),
        _pixels(64),
        _BATCH,
    ),
    Case(
        "SegformerForSemanticSegmentation",
        model(
            "SegformerForSemanticSegmentation",
            "SegformerConfig",
            {
                "depths": [1, 1, 1, 1],
                "hidden_sizes": [8, 8, 8, 8],
                "num_attention_heads": [1, 2, 2, 2],
                "decoder_hidden_size": 8,
            },
        ),
        _pixels(64),
        _BATCH,
    ),
    Case(
        "RegNetModel",
        model(
            "RegNetModel",
            "RegNetConfig",
            {
                "embedding_size": 8,
                "hidden_sizes": [8, 16],
                "depths": [1, 1],
                "groups_width": 8,
            },
        ),
        _pixels(),
        _BATCH,
    ),
    Case(
        "CLIPModel",
        model(
            "CLIPModel",
            "CLIPConfig",
            {
                "text_config": {**_TEXT, "projection_dim": 8, "eos_token_id": 2},
                "vision_config": {**_IMAGE, "projection_dim": 8},
                "projection_dim": 8,
            },
        ),
        lambda size: ((), {"input_ids": torch.randint(3, 60, (2, 7)), "pixel_values": torch.randn(2, 3, 32, 32)}),
    ),
    Case("SiglipVisionModel", model("SiglipVisionModel", "SiglipVisionConfig", _IMAGE), _pixels(), _BATCH),
    Case(
        "PerceiverModel",
        model(
            "PerceiverModel",
            "PerceiverConfig",
            {
                "num_latents": 4,
                "d_latents": 16,
                "d_model": 8,
                "num_blocks": 1,
                "num_self_attends_per_block": 1,
                "num_self_attention_heads": 2,
                "num_cross_attention_heads": 1,
            },
        ),
        lambda size: ((), {"inputs": torch.randn(2, 6, 8)}),
    ),
    Case(
        "FNetModel",
        model(
            "FNetModel",
            "FNetConfig",
            {
                "vocab_size": 60,
                "hidden_size": 16,
                "num_hidden_layers": 1,
                "intermediate_size": 32,
                "max_position_embeddings": 40,
            },
        ),
        _ids_alone,
    ),
)
