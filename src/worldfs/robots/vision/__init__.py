"""Vision: named things found in a picture with depth. Arrays in, estimates out; no simulator and no device."""
