"""Studies: experiments of papers, done again with this library; `vicinal reproduce` runs them."""
