import Lodestore
import LodestoreWeb
