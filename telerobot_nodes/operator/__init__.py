"""The operator's side: devices, client, recordings, review [US5231693]."""
