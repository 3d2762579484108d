"""What brutzkus2018 trains or simulates: experiments, whose cells claims and figures read."""
