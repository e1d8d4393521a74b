"""The simulated body: a Panda arm on a table, in MuJoCo. Import `body` only when a body is wanted: it loads MuJoCo."""
