"""Gate: which user turns become durable memory, and why."""
