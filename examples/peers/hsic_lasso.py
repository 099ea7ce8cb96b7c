"""pyHSICLasso's HSIC lasso: a least-angle path over kernels of the columns.

python hsic_lasso.py ../data/waves.csv > hsic_lasso.txt
"""
import sys
from contextlib import redirect_stdout

import pandas as pd

table = pd.read_csv(sys.argv[1])
x, y = table.drop(columns="y"), table["y"]

with redirect_stdout(sys.stderr):
    # ANCHOR: select
    from pyHSICLasso import HSICLasso

    lasso = HSICLasso()
    lasso.input(x.to_numpy(), y.to_numpy(), featname=list(x.columns))
    lasso.regression(6, B=0)
    # ANCHOR_END: select
for index in lasso.get_index():
    print(x.columns[index])
