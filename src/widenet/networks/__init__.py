"""Networks, each a frozen pytree that maps one input to one output."""

from widenet.networks.activations import (
    Activation,
    Elementwise,
    Huberized,
    PiecewiseLinear,
    huberized_relu,
    leaky_relu,
    relu,
)
from widenet.networks.conv_maxpool import ConvMaxPool, make_conv_maxpool
from widenet.networks.two_layer import TwoLayer, make_two_layer, plus_minus, sphere_rows

__all__ = [
    "Activation",
    "ConvMaxPool",
    "Elementwise",
    "Huberized",
    "PiecewiseLinear",
    "TwoLayer",
    "huberized_relu",
    "leaky_relu",
    "make_conv_maxpool",
    "make_two_layer",
    "plus_minus",
    "relu",
    "sphere_rows",
]
