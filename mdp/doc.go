// Package mdp computes with finite Markov decision processes. It has models, and
// optimal and evaluated policies under the discounted, finite-horizon and
// average-reward criteria. It finds the structure of the chains that policies
// induce: closed classes, periods, stationary distributions, diameters. It
// computes the exploration mixing time T_ε of Dimitrakakis, "Nearly optimal
// exploration-exploitation decision thresholds", and posteriors over models.
//
// # Models
//
// A Model is a finite set of states 0..S-1 with the same actions 0..A-1 in every
// state, a sparse transition row P(·|s,a) and an expected reward r(s,a). Tabular
// holds one in compressed rows; it is built by NewModel from lists, by Generate
// row by row, or by ParseModel from JSON. All three validate: after
// construction every row is a probability distribution and every number finite,
// so nothing later has to check. A terminal state is one that, once entered, is
// never left and pays nothing: its rows are self-loops with reward zero.
//
// A Policy chooses actions. With a Model it induces a Chain, which has a
// structure, stationary distributions and mixing times.
//
// # What is exact
//
// Values come with a bound on their distance from the optimum, computed from
// the Bellman residual of the returned value itself (Solution.Bound). The
// classes and phases of the chain decide whether T_ε is infinite, not a cap on
// iterations. Quantities that cannot be computed exactly at the size of the
// problem are labelled as estimates and carry an interval.
//
// # What is excluded
//
// The package is mathematics. It imports the standard library, gonum and the
// weights of the bootstrap only, knows no agents, files, configuration or logging, and
// reads neither clock nor global random source. Functions panic with a constant message when a
// caller breaks a documented precondition; data is checked once, in
// constructors, which return errors.
package mdp
