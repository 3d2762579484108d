"""Pictures of li2018."""
