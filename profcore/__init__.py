"""Record small PyTorch experiments, read their traces exactly, and say what the numbers mean."""

__version__ = "0.1.0"
