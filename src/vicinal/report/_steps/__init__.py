"""Steps of the report, one module per step."""
