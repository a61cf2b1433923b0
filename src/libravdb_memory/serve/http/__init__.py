"""HTTP, where it is switched on: figures and health of the daemon. Nothing here is imported otherwise."""
