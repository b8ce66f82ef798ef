"""A device in the place of WebXR's, for pages in a real browser."""

# A device in the place of WebXR's: `window.device` is where it is, its frames come as the page asks for them.
DEVICE = """
window.device = { position: { x: 0, y: 0, z: 0 }, orientation: { x: 0, y: 0, z: 0, w: 1 }, lost: false, buttons: [] };
window.XRWebGLLayer = class {};
const listeners = {};
const pose = () => window.device.lost ? null : { emulatedPosition: false, transform: window.device };
window.xrSession = {
  visibilityState: "visible",
  get inputSources() { return [{ gamepad: { buttons: window.device.buttons } }]; },
  addEventListener: (word, call) => (listeners[word] ??= []).push(call),
  updateRenderState: () => {},
  requestReferenceSpace: async () => ({}),
  requestAnimationFrame: (call) =>
    setTimeout(() => call(performance.now(), { getPose: pose, getViewerPose: pose }), 15),
  end: async () => (listeners.end ?? []).forEach((call) => call({})),
  tell: (word, event) => (listeners[word] ?? []).forEach((call) => call(event)),
};
Object.defineProperty(navigator, "xr", { value: {
  isSessionSupported: async (mode) => mode === "immersive-ar",
  requestSession: async () => window.xrSession,
} });
"""
