"""widenet: a laboratory for the theory of wide shallow networks."""
