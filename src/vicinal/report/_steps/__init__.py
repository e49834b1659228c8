"""Steps of the report, one module each."""
