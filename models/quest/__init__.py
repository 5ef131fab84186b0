"""QuEst: hybrid estimates of quantile-based distributional measures (Deng et al., ICML 2025)."""
