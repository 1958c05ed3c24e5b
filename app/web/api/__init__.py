"""``/api/v1``: JSON for programs, which show an API token."""
