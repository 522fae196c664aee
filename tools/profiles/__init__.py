"""The parts of tools/make_profiles.py.

    layers.py         tensors and multiply-accumulates of one layer
    architectures.py  the layers of each network
    networks.py       the networks that have a profile: names, sources, and what was published about each
    throughputs.py    measured speeds of training, with their sources
    reference.py      figures that the layers must reproduce, and the check that they do
"""
