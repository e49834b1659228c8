from vicinal.tables.encoder import TableEncoder as TableEncoder
