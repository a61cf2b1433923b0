"""What the daemon bears: many clients at once, for a while, and what a call to it costs over the library."""
