"""Steering a finished diffusion model: Feynman-Kac particles and direct noise optimisation."""
