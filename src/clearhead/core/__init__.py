"""Query, key and value to output: the plain steps, the fused pass, and what it observes."""
