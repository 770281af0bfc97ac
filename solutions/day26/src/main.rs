fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day26::submission(), solutions_day26::top(), solutions_day26::samples())
}
