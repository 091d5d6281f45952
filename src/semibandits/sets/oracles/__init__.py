"""The kernel functions of oracles, each beside the `Solver` made of it; families use them, never the reverse."""
