"""The daemon: memory for many programs at once. Coroutines live here and nowhere else."""
