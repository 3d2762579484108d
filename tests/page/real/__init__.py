"""The report that `make report` wrote, in a real browser: `make test-report`."""
