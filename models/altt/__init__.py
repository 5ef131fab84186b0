"""Adaptive learn-then-test: certify settings one test at a time, and stop at any moment.

Zecchin, Park and Simeone (ICML 2025), "Adaptive learn-then-test: statistically valid and efficient
hyperparameter selection", arXiv 2409.15844.
"""
