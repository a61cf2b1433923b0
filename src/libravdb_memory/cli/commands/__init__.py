"""The subcommands, a file for each family; each module lists its own in COMMANDS."""
