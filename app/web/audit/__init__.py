"""The audit trail's web side: what is written of each request, and the page that shows it."""
