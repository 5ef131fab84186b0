"""Diffusion models behind one interface: schedules, exact mixtures, networks, noise, sampling."""
