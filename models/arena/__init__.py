"""Copilot Arena: blind pairwise votes on code completions (ICML 2025).

``latency`` and ``sampler`` choose whom to show together and what that costs in waiting; ``infill``
and ``postprocess`` make chat models continue at a cursor; ``voters``, ``rigging`` and ``defences``
simulate honest and dishonest crowds; ``votelog``, ``importers`` and ``exporters`` read and write
logs of votes. ``tasks`` are pieces of code with a cursor, ``completions`` what the ``contestants``
wrote there, and ``endpoint`` asks a server for more. The statistics are in ``models.ranking``.
"""
