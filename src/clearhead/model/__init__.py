"""Whole models, as plain functions over plain weights; their words, files and search."""
