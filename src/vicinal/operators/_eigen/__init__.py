"""Eigensolvers behind `leading_eigenpairs`."""
