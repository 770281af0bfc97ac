// play: x = f32[10] ramp
