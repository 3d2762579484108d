"""Pages in a real browser: `make test-page`. Plain `make test` leaves them out."""
