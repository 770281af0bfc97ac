fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day25::submission(), solutions_day25::top(), solutions_day25::samples())
}
