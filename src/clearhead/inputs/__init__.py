"""What comes in: arrays, shapes, masks and biases, checked once and said as plain numbers."""
