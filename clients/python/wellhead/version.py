"""The version of this package: the first two numbers are those of the service that it was made from."""

VERSION = "0.2.0"
