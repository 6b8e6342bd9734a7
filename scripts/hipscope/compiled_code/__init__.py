"""Reports what AMD's compiler makes of the experiments: registers, loops, instruction mix."""
