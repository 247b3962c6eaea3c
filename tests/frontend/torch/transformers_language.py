"""Language models of `transformers`, small and with random weights."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import Dim

from tests.frontend.torch.case import Case, Inputs
from tests.frontend.torch.transformers_classes import model

_TEXT = {
    "vocab_size": 60,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
}
_DECODER = {
    **_TEXT,
    "num_key_value_heads": 1,
    "use_cache": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_SEQUENCE = {"input_ids": {1: Dim.AUTO}, "attention_mask": {1: Dim.AUTO}}


def _ids(size: int) -> Inputs:
    ids = torch.randint(3, 60, (2, 7 + size))
    return (), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def _ids_alone(size: int) -> Inputs:
    return (), {"input_ids": torch.randint(3, 60, (2, 7 + size))}


def _both_sides(size: int) -> Inputs:
    return (), {"input_ids": torch.randint(3, 60, (2, 7)), "decoder_input_ids": torch.randint(3, 60, (2, 5 + size))}


def _text(name: str, config: str, **options: Any) -> Case:
    return Case(name, model(name, config, {**_TEXT, **options}), _ids, _SEQUENCE)


def _decoder(name: str, config: str, **options: Any) -> Case:
    return Case(name, model(name, config, {**_DECODER, **options}), _ids, _SEQUENCE)


LANGUAGE: tuple[Case, ...] = (
    _text("BertModel", "BertConfig"),
    _text("RobertaForSequenceClassification", "RobertaConfig"),
    _text("ElectraModel", "ElectraConfig", embedding_size=16),
    _text("AlbertModel", "AlbertConfig", embedding_size=16),
    _text("MPNetModel", "MPNetConfig"),
    _text("DebertaV2Model", "DebertaV2Config", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    Case(
        "DistilBertModel",
        model(
            "DistilBertModel",
            "DistilBertConfig",
            {
                "vocab_size": 60,
                "dim": 16,
                "n_layers": 2,
                "n_heads": 2,
                "hidden_dim": 32,
                "max_position_embeddings": 40,
            },
        ),
        _ids,
        _SEQUENCE,
    ),
    Case(
        "GPT2LMHeadModel",
        model(
            "GPT2LMHeadModel",
            "GPT2Config",
            {
                "vocab_size": 60,
                "n_embd": 16,
                "n_layer": 2,
                "n_head": 2,
                "n_positions": 40,
                "use_cache": False,
            },
        ),
        _ids,
        _SEQUENCE,
    ),
    _decoder("LlamaForCausalLM", "LlamaConfig"),
    _decoder("MistralForCausalLM", "MistralConfig", sliding_window=None),
    _decoder("Qwen2ForCausalLM", "Qwen2Config"),
    _decoder("Qwen3ForCausalLM", "Qwen3Config", head_dim=8),
    _decoder("Gemma2ForCausalLM", "Gemma2Config", head_dim=8, sliding_window=4),
    _decoder("PhiForCausalLM", "PhiConfig", num_key_value_heads=2),
    _decoder("StableLmForCausalLM", "StableLmConfig"),
    _decoder("GPTNeoXForCausalLM", "GPTNeoXConfig"),
    _decoder(
        "MixtralForCausalLM",
        "MixtralConfig",
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=None,
        experts_implementation="batched_mm",
    ),
    Case(
        "OPTForCausalLM",
        model(
            "OPTForCausalLM",
            "OPTConfig",
            {
                **_TEXT,
                "ffn_dim": 32,
                "word_embed_proj_dim": 16,
                "use_cache": False,
            },
        ),
        _ids,
        _SEQUENCE,
    ),
    Case(
        "BloomForCausalLM",
        model(
            "BloomForCausalLM",
            "BloomConfig",
            {
                "vocab_size": 60,
                "hidden_size": 16,
                "n_layer": 2,
                "n_head": 2,
                "use_cache": False,
            },
        ),
        _ids,
        _SEQUENCE,
    ),
    Case(
        "MambaForCausalLM",
        model(
            "MambaForCausalLM",
            "MambaConfig",
            {
                "vocab_size": 60,
                "hidden_size": 16,
                "state_size": 4,
                "num_hidden_layers": 2,
                "use_cache": False,
            },
        ),
        _ids_alone,
    ),
    Case(
        "T5ForConditionalGeneration",
        model(
            "T5ForConditionalGeneration",
            "T5Config",
            {
                "vocab_size": 60,
                "d_model": 16,
                "d_kv": 8,
                "d_ff": 32,
                "num_layers": 2,
                "num_heads": 2,
                "use_cache": False,
            },
        ),
        _both_sides,
    ),
    Case(
        "BartForConditionalGeneration",
        model(
            "BartForConditionalGeneration",
            "BartConfig",
            {
                "vocab_size": 60,
                "d_model": 16,
                "encoder_layers": 2,
                "decoder_layers": 2,
                "encoder_attention_heads": 2,
                "decoder_attention_heads": 2,
                "encoder_ffn_dim": 32,
                "decoder_ffn_dim": 32,
                "max_position_embeddings": 40,
                "use_cache": False,
            },
        ),
        _both_sides,
    ),
)
