"""What holds of annotation unless something else is said; to know it takes no numpy."""

from __future__ import annotations

# Confidences from here on count as predicted.
DEFAULT_THRESHOLD = 0.5
DEFAULT_MEASURES = "AP.concept F.concept F.example HammingLoss"
DEFAULT_WITH_COSTS = "AP.concept F.concept F.example OS"
