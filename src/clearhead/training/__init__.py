"""Training of the translation model, on torch (extra ``[train]``)."""
