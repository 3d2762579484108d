"""What reaches the reader: words for verdicts and numbers, tables, progress, and files written whole."""
