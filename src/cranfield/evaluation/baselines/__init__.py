"""Baselines of annotation: from vectors and a truth to confidences of concepts."""
