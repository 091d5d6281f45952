"""Pictures: axes and their style, sets, graphs, regret over time. Needs Matplotlib."""
