from vicinal.scale._read_npy import read_npy as read_npy
from vicinal.scale.settings import config as config
from vicinal.scale.store import Store as Store
