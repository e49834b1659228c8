from vicinal.tables._completion import fill_missing as fill_missing
from vicinal.tables.encoder import TableEncoder as TableEncoder
