"""Base classes and helpers of estimators."""
