fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day23::submission(), solutions_day23::top(), solutions_day23::samples())
}
