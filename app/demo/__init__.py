"""The demo: a small MCP server of our own with a view, and recorded sessions that call it."""
