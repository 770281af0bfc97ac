//! What comes with CUDA: the headers that a learner calls but has not written, and the names of the functions in them.

/// Directories whose files are CUDA's.
const DIRECTORIES: [&str; 7] =
    ["/cooperative_groups/", "/crt/", "/cuda/std/", "/cuda/__", "/cccl/", "/include/cub/", "/include/thrust/"];

/// What the names of CUDA's other headers begin with.
const NAMES: [&str; 12] = [
    "cooperative_groups.h",
    "cuda_awbarrier",
    "cuda_bf16.",
    "cuda_device_runtime",
    "cuda_fp",
    "cuda_pipeline",
    "cuda_runtime",
    "device_atomic_functions.",
    "device_functions.",
    "math_functions.",
    "mma.h",
    "vector_functions.",
];

/// Whether a file is one of CUDA's headers, wherever they lie.
pub(crate) fn is_cuda(path: &str) -> bool {
    let path = format!("/{}", path.replace('\\', "/"));
    let name = path.rsplit('/').next().unwrap_or_default();
    let header = name.ends_with(".h") || name.ends_with(".hpp");
    // `sm_30_intrinsics.hpp`
    let numbered = name.strip_prefix("sm_").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    DIRECTORIES.iter().any(|directory| path.contains(directory))
        || header && (numbered || NAMES.iter().any(|known| name.starts_with(known)))
}

/// The operator that makes a function of a value.
const CALL: &str = "operator()";

/// Whether what comes next may belong to an operator's name.
fn is_operator(name: &str) -> bool {
    name.starts_with("operator") && name != CALL
}

/// A function's name without its namespaces, parameters and template arguments: `void a::fetch<float>(float const*, int)`
/// is `fetch`.
pub fn short(function: &str) -> &str {
    let mut depth = 0_u32;
    let (mut start, mut end) = (0, function.len());
    for (at, c) in function.char_indices() {
        // The parentheses of this operator are its name.
        if at >= start && at < start + CALL.len() && function[start..].starts_with(CALL) {
            continue;
        }
        match c {
            '<' if depth == 0 && at > start && !is_operator(&function[start..at]) => {
                (end, depth) = (at, 1);
            }
            // An ABI tag, as numba-cuda gives to tell compilations apart: `add[abi:v1]`.
            '[' if depth == 0 && at > start && !is_operator(&function[start..at]) => {
                (end, depth) = (end.min(at), 1);
            }
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            // `(anonymous namespace)::f` begins with a parenthesis.
            '(' if at > start => {
                end = end.min(at).max(start);
                break;
            }
            // The next part of the name, or the name behind a return type.
            ':' | ' ' => (start, end) = (at + 1, function.len()),
            _ => {}
        }
    }
    // `{lambda(int)#1}`
    function
        .get(start..end)
        .map(|name| name.trim_start_matches('{'))
        .filter(|name| !name.is_empty())
        .unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cudas_headers_are_known_by_name() {
        for path in [
            "cuda_pipeline_helpers.h",
            "/usr/local/cuda/include/cooperative_groups.h",
            "cooperative_groups/details/sync.h",
            r"C:\cuda\include\crt\mma.hpp",
            "sm_30_intrinsics.hpp",
            "/opt/include/cccl/cuda/std/array",
        ] {
            assert!(is_cuda(path), "{path}");
        }
        for path in ["add.cu", "", "cuda_helpers.h", "src/cuda/add.cu", "sm_count.h", "include/fusion.cuh"] {
            assert!(!is_cuda(path), "{path}");
        }
    }

    #[test]
    fn names_are_short() {
        for (name, expected) in [
            ("fetch(float const*, int)", "fetch"),
            ("a::fetch(float const*, int)", "fetch"),
            ("void a::fetch<a::B<4>, float>(a::B<4>, float)", "fetch"),
            ("_INTERNAL_0b2c_4_a_cu::nvcuda::experimental::pipeline::commit()", "commit"),
            ("nvcuda::Chooser<4ul>::async<float>::copy(float*)", "copy"),
            ("(anonymous namespace)::f(int)", "f"),
            ("sync", "sync"),
            ("map(float*)::{lambda(int)#1}::operator()(int) const", "map"),
            ("{lambda(int)#1}::operator()(int) const", "lambda"),
            ("Add::operator()(int*) const", "operator()"),
            ("void a::Add<int>::operator()<4>(int*) const", "operator()"),
            ("a::Add::operator+=(int)", "operator+="),
            ("void reduce7<int, 512u, true>(int*, int*, unsigned int)", "reduce7"),
            ("cuda::add[abi:v1][abi:c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA](int)", "add"),
            ("a::", "a::"),
            ("(", "("),
            ("f<", "f"),
            ("", ""),
        ] {
            assert_eq!(short(name), expected, "{name}");
        }
    }
}
