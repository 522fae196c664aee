"""The parts of tools/import_network.py: one reader for each format, and what they share.

    network.py   nodes, switches and cables: checks them and writes paceline's JSON
    values.py    the one clear error; bandwidths, latencies and the links of options
    outputs.py   where the network may be written
    edges.py     CSV with a cable a row
    simgrid.py   SimGrid's platform XML
    nvidia.py    nvidia-smi topo -m
    slurm.py     Slurm's topology.conf
    iperf.py     iperf3 --json, a file for each pair of sites
"""
