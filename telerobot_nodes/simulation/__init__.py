"""Forward simulation, estimate of the present, delayed link, scripted operator [US5046022, US5231693]."""
