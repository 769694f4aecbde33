"""The parts of ``benchmarks/translation.py``: ours, the peers, and what is made of their times."""
