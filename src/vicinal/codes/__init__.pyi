from vicinal.codes._l1 import l1 as l1
from vicinal.codes.structure_aware import structure_aware_l1 as structure_aware_l1
