"""Reports: pages that hold all they show, and need no network."""
