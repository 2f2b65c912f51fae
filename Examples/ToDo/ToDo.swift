import Lodestore
