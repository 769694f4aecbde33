"""The bundled model: weights, vocabulary and card. Nothing here is code."""
