"""The steps of an audit, its tables and its page."""
