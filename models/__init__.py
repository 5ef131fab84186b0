"""What is computed: the papers' methods, their baselines, data and claims."""
