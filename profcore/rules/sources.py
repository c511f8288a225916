"""Where rules come from, in the words shown beside them."""

from typing import Final

ARTICLE_1: Final = "“Profiling in PyTorch”, part 1 (Hugging Face, 2026)"
ARTICLE_2: Final = "“Profiling in PyTorch”, part 2 (Hugging Face, 2026)"
ARTICLE_3: Final = "“Profiling in PyTorch”, part 3 (Hugging Face, 2026)"
H200: Final = "measured on 37 traces of an NVIDIA H200"
KINETO: Final = "Kineto's documentation and source"
