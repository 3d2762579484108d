"""The claims of brutzkus2019: judges, by theme. The table of contents is one folder up."""
