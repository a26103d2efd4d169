"""A tiny cross-encoder, written by a test as the files that FlashRank reads.

It knows a few words, each with a weight. The score of a passage is the sum of its words' weights; the question has no
effect. The main file is an ONNX model: https://onnx.ai/onnx/repo-docs/IR.html.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

MODEL = "ms-marco-TinyBERT-L-2-v2"
MODEL_FILE = "flashrank-TinyBERT-L-2-v2.onnx"
_SPECIAL = ("[PAD]", "[UNK]", "[SEP]")
_FLOAT, _INT64 = 1, 7  # TensorProto.DataType


def write_model(models: Path, weights: Mapping[str, float], *, max_tokens: int = 64) -> Path:
    """Write the model's files and return their folder. `max_tokens` counts question and passage together."""
    folder = models / MODEL
    folder.mkdir(parents=True)
    (folder / MODEL_FILE).write_bytes(_encode_network([*(0.0 for _ in _SPECIAL), *weights.values()]))
    _build_tokenizer([*_SPECIAL, *weights]).save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").write_text("\n".join([*_SPECIAL, *weights]), encoding="utf-8")
    config_files = {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": max_tokens, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]", "unk_token": "[UNK]", "sep_token": {"content": "[SEP]"}},
    }
    for name, content in config_files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def _build_tokenizer(words: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", words.index("[SEP]"))]
    )
    return tokenizer


def _encode_network(weights: Sequence[float]) -> bytes:
    """Returns the ONNX model: logits[i] = sum of weights[input_ids[i]] over the passage's tokens (token type 1)."""
    nodes = [
        _encode_node("Gather", ["weights", "input_ids"], "of_all"),
        _encode_node("Cast", ["token_type_ids"], "in_passage", _encode_field(5, _encode_attribute("to", _FLOAT))),
        _encode_node("Mul", ["of_all", "in_passage"], "of_passage"),
        _encode_node("ReduceSum", ["of_passage", "axes"], "logits"),
    ]
    graph = b"".join(
        [
            *(_encode_field(1, node) for node in nodes),
            _encode_field(2, b"words"),
            _encode_field(
                5, _encode_tensor("weights", _FLOAT, struct.pack(f"<{len(weights)}f", *weights), len(weights))
            ),
            _encode_field(5, _encode_tensor("axes", _INT64, struct.pack("<q", 1), 1)),
            *(
                _encode_field(11, _encode_value(name, _INT64))
                for name in ("input_ids", "attention_mask", "token_type_ids")
            ),
            _encode_field(12, _encode_value("logits", _FLOAT)),
        ]
    )
    return (
        _encode_field(1, 8) + _encode_field(7, graph) + _encode_field(8, _encode_field(2, 13))
    )  # IR version 8, operators of version 13


def _encode_node(kind: str, inputs: Sequence[str], output: str, extra_fields: bytes = b"") -> bytes:
    input_fields = [_encode_field(1, input_name.encode()) for input_name in inputs]
    return b"".join([*input_fields, _encode_field(2, output.encode()), _encode_field(4, kind.encode()), extra_fields])


def _encode_attribute(name: str, value: int) -> bytes:
    return _encode_field(1, name.encode()) + _encode_field(3, value) + _encode_field(20, 2)


def _encode_tensor(name: str, kind: int, raw: bytes, length: int) -> bytes:
    return _encode_field(1, length) + _encode_field(2, kind) + _encode_field(8, name.encode()) + _encode_field(9, raw)


def _encode_value(name: str, kind: int) -> bytes:
    """Returns a matrix with open sizes."""
    shape = _encode_field(1, _encode_field(2, b"rows")) + _encode_field(
        1, _encode_field(2, (name + "_columns").encode())
    )
    return _encode_field(1, name.encode()) + _encode_field(
        2, _encode_field(1, _encode_field(1, kind) + _encode_field(2, shape))
    )


def _encode_field(number: int, value: int | bytes) -> bytes:
    """Returns a field of a protocol buffer."""
    if isinstance(value, int):
        return _encode_varint(number << 3) + _encode_varint(value)
    return _encode_varint(number << 3 | 2) + _encode_varint(len(value)) + value


def _encode_varint(value: int) -> bytes:
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _encode_varint(high) if high else bytes([low])
