"""What reaches an open page without being asked for: one event stream for all tabs of a browser."""
