"""What brutzkus2019 trains or simulates: experiments, whose cells claims and figures read."""
