"""Makes one self-contained HTML page that compares the results of any number of devices."""
