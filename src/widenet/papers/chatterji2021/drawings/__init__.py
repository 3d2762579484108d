"""Pictures of chatterji2021."""
