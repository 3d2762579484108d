"""The claims of brutzkus2018: judges, by theme. The table of contents is one folder up."""
