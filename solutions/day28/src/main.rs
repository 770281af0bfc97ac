fn main() -> std::process::ExitCode {
    fusion_grader::worker::main_with(solutions_day28::submission(), solutions_day28::top(), solutions_day28::samples())
}
