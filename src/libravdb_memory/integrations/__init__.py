"""Memory inside the programs of others: each module speaks one host's own interface, and imports it only when it is
there."""
