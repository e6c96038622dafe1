"""Measures of the whole product."""
