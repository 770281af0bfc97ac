fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day21::submission(), solutions_day21::top(), solutions_day21::samples())
}
