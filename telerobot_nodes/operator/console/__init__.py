"""The browser's view on the operator client: 3-D scene, panel, keys [US5231693]. Loopback unless told otherwise."""
