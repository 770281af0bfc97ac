fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day22::submission(), solutions_day22::top(), solutions_day22::samples())
}
