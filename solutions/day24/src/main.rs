fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day24::submission(), solutions_day24::top(), solutions_day24::samples())
}
