"""One small interface to MuJoCo and real arms: joint servo, watchdog, e-stop."""
