#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HiGHS as the peer of `assay bench market`: solves a class of lots, by lines on stdin and stdout.

"relaxed FILE" and "whole FILE" are answered by "solved WORTH SECONDS": the best worth, where bids may have a part of
their lots or all or none, and the processor's time of the solver, without what it takes to read and to build. The file
is that of node/cli/market_peer.cpp. One thread. Packages: make bench-peers.
"""
import os
import sys
import time

import highspy
import numpy


def build(path, whole):
    with open(path, encoding="ascii") as lines:
        floor, bids, asks = (numpy.array(line.split(), dtype=numpy.float64) for line in lines)
    prices, lots = bids[0::2], bids[1::2]
    asks = numpy.maximum(asks, floor[0])
    # A column a bid and a column a lot; one row: as many lots are sold as bought.
    size = len(lots) + len(asks)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = size, 1
    program.sense_ = highspy.ObjSense.kMaximize
    # Of a whole bid the column is 0 or 1; of a relaxed one it counts lots.
    scale = lots if whole else numpy.ones(len(lots))
    program.col_cost_ = numpy.concatenate([prices * scale, -asks])
    program.col_lower_ = numpy.zeros(size)
    program.col_upper_ = numpy.concatenate([lots / scale, numpy.ones(len(asks))])
    program.row_lower_ = program.row_upper_ = numpy.zeros(1)
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = numpy.arange(size + 1, dtype=numpy.int32)
    program.a_matrix_.index_ = numpy.zeros(size, dtype=numpy.int32)
    program.a_matrix_.value_ = numpy.concatenate([scale, -numpy.ones(len(asks))])
    if whole:
        integer, free = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
        program.integrality_ = [integer] * len(lots) + [free] * len(asks)
    return program


def solve(path, whole):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("time_limit", 120.0)
    solver.passModel(build(path, whole))
    start = time.process_time()
    solver.run()
    seconds = time.process_time() - start
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError("HiGHS ended without an optimum: " + solver.modelStatusToString(status))
    return solver.getInfo().objective_function_value, seconds


def main():
    # Whatever a library prints goes to stderr: stdout belongs to the lines.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        words = line.split(maxsplit=1)
        try:
            if words[0] == "name":
                answer = "name HiGHS " + highspy.Highs().version()
            else:
                answer = "solved {:.1f} {:.9f}".format(*solve(words[1].strip(), words[0] == "whole"))
        except Exception as error:  # the other side prints it and leaves the row out
            answer = "error " + str(error).split("\n")[0]
        replies.write(answer + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
