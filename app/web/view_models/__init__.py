"""What each page shows: one class a page, made from rows, free of requests and of HTML files."""
