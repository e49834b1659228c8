"""Every number that decides how a table becomes points, with its origin.

Convention: customary in statistics. Earlier: kept from the encoder before this one. Time: bounds the work.
Chosen: on development tables, on which no value between half and double of it made a difference beyond noise.
"""

# Rarer levels are pooled; columns in which fewer rows deviate are constant; rows added to the count of a
# level in its scale. Smaller tables: a tenth of the rows. Convention: the least count of a cell in tests of
# tables.
MIN_COUNT = 5
# Levels of a category with a coordinate of their own, and classes of rows at most. Earlier.
MAX_LEVELS = 64
# Numbers with fewer different values are discrete, and a class is no narrower than one of them. Earlier.
FEW = 20
# A more frequent value, such as 0 among amounts, does not decide the unit of a number. Chosen.
SPIKE = 0.2
# Units within which numbers count linearly; by their logarithms beyond. Chosen.
TAIL = 2.0
# Values beyond these quantiles do not decide the unit, the skewness and the groups of a number. Earlier.
TAILS = (0.01, 0.99)
# RV coefficient (squared correlation of numbers) from which columns are copies of each other. Chosen.
COPY = 0.98
# Shuffled tables, and rounds of the completion of gaps. Time.
ROUNDS = 8
# Standard deviations above the mean of shuffled tables that are not chance. Convention.
SDS = 3.0
# Coded cells that axes are fitted on, and rows that classes are. Time.
FIT_CELLS, CLASS_ROWS = 4_000_000, 3_000
# Steps of expectation maximization, and numbers of classes without gain after which the search ends. Time.
MAX_STEPS, PATIENCE = 30, 3
# Groups that a number may form by itself, and their variance relative to that of groups of evenly spread
# values: 1.4 for normal values, below this for two normal groups from 4.2 standard deviations apart. Earlier.
MAX_MODES, MODE_VARIANCE = 6, 0.75
