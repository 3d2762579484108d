"""Pictures of sarussi2021."""
