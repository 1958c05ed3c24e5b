"""Vitrine: a window on what headless coding agents were shown."""

__version__ = "0.1.0"
