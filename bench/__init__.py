"""What Vitrine costs, measured beside others in one run: ``make bench``."""
