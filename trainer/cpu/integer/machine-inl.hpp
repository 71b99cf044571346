// SPDX-License-Identifier: Apache-2.0
// The table of what a target's files define. Included once per target inside its namespace, last: no guard.

inline const Machine& machine() {
    static constexpr Machine kMachine{kRows,       kCols,       a_panel_bytes, b_panel_bytes,
                                      exponents_a, exponents_b, exponents_of,  pack_a,
                                      pack_b,      multiply,    sizeof(Region)};
    return kMachine;
}
