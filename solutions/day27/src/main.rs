fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day27::submission(), solutions_day27::top(), solutions_day27::samples())
}
