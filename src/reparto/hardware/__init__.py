"""What is known of drivers and their devices without asking a cluster: the classes that they ship, and how to name a product."""

from reparto.hardware.classes import built_in_class, built_in_classes
from reparto.hardware.products import describe

__all__ = ["built_in_class", "built_in_classes", "describe"]
