"""The table that benchmarks/attention.py prints: its cells, peers, timing, limit and pictures."""
