"""A cross-encoder small enough to be written in a test, in the files that FlashRank reads.

It knows a few words and what each weighs in a passage; its score of a passage is what its words weigh together. The
question it reads and passes over. A file of it is an ONNX model: https://onnx.ai/onnx/repo-docs/IR.html.
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
FILE = "flashrank-TinyBERT-L-2-v2.onnx"
_SPECIAL = ("[PAD]", "[UNK]", "[SEP]")
_FLOAT, _INT64 = 1, 7  # TensorProto.DataType


def write_model(models: Path, weights: Mapping[str, float], *, longest: int = 64) -> Path:
    """The folder that it lies in. `longest`: tokens that it reads of question and passage together."""
    folder = models / MODEL
    folder.mkdir(parents=True)
    (folder / FILE).write_bytes(_network([*(0.0 for _ in _SPECIAL), *weights.values()]))
    _tokenizer([*_SPECIAL, *weights]).save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").write_text("\n".join([*_SPECIAL, *weights]), encoding="utf-8")
    beside = {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": longest, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]", "unk_token": "[UNK]", "sep_token": {"content": "[SEP]"}},
    }
    for name, content in beside.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def _tokenizer(words: Sequence[str]) -> Tokenizer:
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1 [SEP]:1", special_tokens=[("[SEP]", words.index("[SEP]"))]
    )
    return tokenizer


def _network(weights: Sequence[float]) -> bytes:
    """logits[i] = sum of weights[input_ids[i]] over the tokens of the passage, whose type is 1."""
    nodes = [
        _node("Gather", ["weights", "input_ids"], "of_all"),
        _node("Cast", ["token_type_ids"], "in_passage", _field(5, _attribute("to", _FLOAT))),
        _node("Mul", ["of_all", "in_passage"], "of_passage"),
        _node("ReduceSum", ["of_passage", "axes"], "logits"),
    ]
    graph = b"".join(
        [
            *(_field(1, node) for node in nodes),
            _field(2, b"words"),
            _field(5, _tensor("weights", _FLOAT, struct.pack(f"<{len(weights)}f", *weights), len(weights))),
            _field(5, _tensor("axes", _INT64, struct.pack("<q", 1), 1)),
            *(_field(11, _value(name, _INT64)) for name in ("input_ids", "attention_mask", "token_type_ids")),
            _field(12, _value("logits", _FLOAT)),
        ]
    )
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))  # IR version 8, operators of version 13


def _node(kind: str, inputs: Sequence[str], output: str, more: bytes = b"") -> bytes:
    named = [_field(1, one.encode()) for one in inputs]
    return b"".join([*named, _field(2, output.encode()), _field(4, kind.encode()), more])


def _attribute(name: str, value: int) -> bytes:
    return _field(1, name.encode()) + _field(3, value) + _field(20, 2)


def _tensor(name: str, kind: int, raw: bytes, length: int) -> bytes:
    return _field(1, length) + _field(2, kind) + _field(8, name.encode()) + _field(9, raw)


def _value(name: str, kind: int) -> bytes:
    """A matrix, its sizes left open."""
    shape = _field(1, _field(2, b"rows")) + _field(1, _field(2, (name + "_columns").encode()))
    return _field(1, name.encode()) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _field(number: int, value: int | bytes) -> bytes:
    """Of a protocol buffer."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
