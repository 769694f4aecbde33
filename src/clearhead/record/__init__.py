"""What was seen: words, and who looks at whom, by layer and head."""
