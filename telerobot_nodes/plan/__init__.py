"""Path-plan queue, operation log and look-ahead executor [US5046022]."""
