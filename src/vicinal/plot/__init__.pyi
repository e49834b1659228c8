from vicinal.plot.boundaries import segments as segments
from vicinal.plot.matrices import similarity as similarity
from vicinal.plot.network import graph as graph
from vicinal.plot.query_results import ranking as ranking
from vicinal.plot.scatter import embedding as embedding
