"""What is shown: views, which read a record and nothing else."""
