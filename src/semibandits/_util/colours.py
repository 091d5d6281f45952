"""Colours that most people tell apart (Okabe and Ito 2008)."""

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Blue, vermilion, green, purple, orange, sky blue; without their yellow, which is lost on white, and their black."""
