"""What a coding agent calls at moments of a conversation, in a process that must be quick and may never disturb it."""
