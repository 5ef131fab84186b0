"""Models that complete code offline, each real: two language models, statistics, static analysis.

``corpus`` is the text that three of them learnt from; ``bpe``, ``llama`` and ``decoding`` are
shared by the two language models, ``smollm2`` and ``tiny``. ``ngram``, ``retrieval`` and ``jedi_``
need no torch.
"""
