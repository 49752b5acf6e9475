// harness/verbs.h -- the program as a function, and its verbs.
#pragma once

// The largest that applies is the program's. 3 and 4 are the values of ss_status.
enum {
    SS_EXIT_OK = 0,
    SS_EXIT_USAGE = 1,
    SS_EXIT_UNSOLVED = 2, // an answer is not within its tolerance
    SS_EXIT_BAD_INPUT = 3,
    SS_EXIT_SYSTEM = 4,
};

// What main does; returns the exit code. May reorder argv.
int ss_main(int argc, char **argv);

// The verbs; argv[0] is the verb itself.
int ss_cmd_solvers(int argc, char **argv);
int ss_cmd_scenes(int argc, char **argv);
int ss_cmd_simulate(int argc, char **argv);
int ss_cmd_generate(int argc, char **argv);
int ss_cmd_generate_locals(int argc, char **argv); // argv[0] is "locals"
int ss_cmd_inspect(int argc, char **argv);
int ss_cmd_check(int argc, char **argv);
int ss_cmd_convert(int argc, char **argv);
int ss_cmd_solve(int argc, char **argv);
int ss_cmd_verify(int argc, char **argv);
int ss_cmd_bench(int argc, char **argv);
int ss_cmd_run_one(int argc, char **argv); // in no list: the child of bench
int ss_cmd_table(int argc, char **argv);
int ss_cmd_plot(int argc, char **argv);

int ss_larger_code(int a, int b);

// Version, commit, compiler, flags and processor, on stdout.
void ss_version_print(void);
