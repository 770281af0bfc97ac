//! The kernels of a playground's file: what each takes, whether a description suits them, and one to begin with.

use fusion_diagnostic::{Diagnostic, counted};
use fusion_machine::report::demangle;

use super::element::{Element, Number};
use super::names::{self, Name};
use super::script::{Argument, Launch, Script, Value, mistake};
use crate::cause::signature::{self, Declared};

/// A kernel as it was compiled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kernel {
    /// The name of the PTX, which is mangled without `extern "C"`.
    pub(super) entry: String,
    /// The name of the source, without and with its namespaces and what its template was made for.
    pub(super) name: String,
    pub(super) full: Name,
    pub(super) parameters: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    /// In bytes.
    size: usize,
    is_float: bool,
    /// Bytes to the PTX, and no number: a struct, but for the types of numbers that are structs in C++.
    is_array: bool,
    /// As the source has it; none where that is not followed.
    declared: Option<Declared>,
}

/// All of them, in the order of the PTX.
pub(super) fn kernels(source: &str, ptx: &str) -> Vec<Kernel> {
    let module = fusion_ptx::parse(ptx).module;
    let entries = module.functions.iter().filter(|function| function.is_entry);
    let kernel = |function: &fusion_ptx::ast::Function| {
        let plain = demangle(&function.name);
        let full = Name::of(&plain);
        let name = full.last().to_owned();
        let declared = declared(source, &plain, &name).filter(|list| list.len() == function.params.len());
        let parameter = |(index, param): (usize, &fusion_ptx::ast::Param)| Parameter {
            size: param.size as usize,
            is_float: matches!(param.ty, fusion_ptx::ast::ScalarType::F32 | fusion_ptx::ast::ScalarType::F64),
            is_array: param.size != param.ty.bytes(),
            declared: declared.as_ref().and_then(|list| list.get(index)).cloned(),
        };
        let parameters = function.params.iter().enumerate().map(parameter).collect();
        Kernel { entry: function.name.clone(), name, full, parameters }
    };
    entries.map(kernel).collect()
}

/// The parameters by the names of the source, and by the types of the mangled name where there is one: those of a
/// template, or of one of several functions of a name, are only there.
fn declared(source: &str, plain: &str, name: &str) -> Option<Vec<Declared>> {
    let of_source = signature::parameters(source, name);
    let Some(mut types) = names::types(plain) else { return of_source };
    // Of several functions of a name the source's first one may be another.
    let fits = |list: &Vec<Declared>| {
        list.len() == types.len() && list.iter().zip(&types).all(|(one, other)| one.pointers == other.pointers)
    };
    let of_source = of_source.filter(fits);
    for (one, known) in types.iter_mut().zip(of_source.iter().flatten()) {
        one.name.clone_from(&known.name);
        // The source's own words, where they are no other type: `size_t` is no `unsigned long` to who has written it.
        if known.plain() == one.plain() || same(known, one) {
            one.words.clone_from(&known.words);
        }
    }
    Some(types)
}

/// Whether two types are the same to a buffer.
fn same(one: &Declared, other: &Declared) -> bool {
    let [one, other] = [one, other].map(|it| Element::named(&it.plain()));
    one.is_some_and(|one| other.is_some_and(|other| (one.size(), one.is_float()) == (other.size(), other.is_float())))
}

impl Kernel {
    /// `scale(const float* x, int n)`
    pub(super) fn signature(&self) -> String {
        let list: Vec<String> = self.parameters.iter().map(|it| it.text().trim_matches('`').to_owned()).collect();
        format!("{}({})", self.full.text(), list.join(", "))
    }
}

impl Parameter {
    fn is_pointer(&self) -> Option<bool> {
        self.declared.as_ref().map(|declared| declared.pointers > 0)
    }

    /// `const float* x`, where the source tells.
    fn text(&self) -> String {
        match &self.declared {
            Some(declared) => {
                let (words, stars) = (declared.words.join(" "), "*".repeat(declared.pointers));
                format!("`{words}{stars} {}`", declared.name)
            }
            None => format!("a parameter of {}", counted(self.size as u64, "byte")),
        }
    }

    /// The type of what is passed by value.
    fn element(&self) -> Option<Element> {
        let named = self.declared.as_ref().filter(|declared| declared.pointers == 0);
        let named = named.and_then(|declared| Element::named(&declared.plain()));
        named.filter(|element| element.size() == self.size).or(match (self.is_float, self.size) {
            _ if self.is_array => None,
            (true, 4) => Some(Element::F32),
            (true, 8) => Some(Element::F64),
            (false, 1) => Some(Element::U8),
            (false, 4) => Some(Element::U32),
            (false, 8) => Some(Element::U64),
            _ => None,
        })
    }

    /// A number as it is passed.
    pub(super) fn bytes(&self, number: Number) -> Option<Vec<u8>> {
        self.element().map(|element| element.bytes(number))
    }

    /// What the elements of a buffer for it are called.
    fn pointee(&self) -> &'static str {
        let plain = self.declared.as_ref().map(Declared::plain).unwrap_or_default();
        if self.declared.as_ref().is_some_and(|declared| declared.pointers > 1) {
            return "u64";
        }
        // `float4` is four of them.
        let one = plain.trim_end_matches(['2', '3', '4']);
        let known = Element::named(&plain).or(Element::named(one));
        known.or((plain == "__half2").then_some(Element::F16)).map_or("f32", Element::name)
    }
}

/// Whether each launch suits its kernel: every mistake.
pub(super) fn check(script: &Script, kernels: &[Kernel], source: &str) -> Vec<Diagnostic> {
    let launches = script.launches.iter();
    let mistakes = launches.flat_map(|launch| match names::find(script, kernels, launch, source) {
        Ok(kernel) => unsuited(script, launch, kernel),
        Err(mistake) => vec![*mistake],
    });
    mistakes.collect()
}

/// What of a launch does not suit a kernel.
pub(super) fn unsuited(script: &Script, launch: &Launch, kernel: &Kernel) -> Vec<Diagnostic> {
    let name = &launch.kernel;
    let (given, taken) = (launch.arguments.len(), kernel.parameters.len());
    if given != taken {
        let list: Vec<String> = kernel.parameters.iter().map(Parameter::text).collect();
        let list = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        let title = format!("`{name}` takes {}, and {given} are given", counted(taken as u64, "argument"));
        return vec![mistake(&launch.at, title, format!("it takes {list}"))];
    }
    let pairs = launch.arguments.iter().zip(&kernel.parameters);
    pairs.filter_map(|(argument, parameter)| check_argument(script, argument, parameter)).collect()
}

fn check_argument(script: &Script, argument: &Argument, parameter: &Parameter) -> Option<Diagnostic> {
    let (text, takes) = (&argument.text, parameter.text());
    match argument.value {
        Value::Buffer(index) => {
            if parameter.is_pointer() == Some(false) || parameter.size != 8 {
                let help = "give a number";
                return Some(mistake(
                    &argument.at,
                    format!("`{text}` is a buffer, and the kernel takes {takes}"),
                    help,
                ));
            }
            let buffer = script.buffers.get(index)?;
            let declared = parameter.declared.as_ref()?;
            // What a pointer to pointers leads to are addresses.
            let pointee = if declared.pointers > 1 { Some(Element::U64) } else { Element::named(&declared.plain()) };
            let wanted = pointee.filter(|wanted| wanted.size() != buffer.element.size())?;
            let (has, name) = (buffer.element.name(), wanted.name());
            let title = format!("`{text}` has elements of type {has}, and the kernel takes {takes}");
            Some(mistake(&argument.at, title, format!("write `{text} = {name}[...]` above")))
        }
        Value::Number(number) => {
            if parameter.is_pointer() == Some(true) {
                let element = parameter.pointee();
                let help = format!("give a buffer, such as `x = {element}[1000] ramp` on a line above");
                return Some(mistake(
                    &argument.at,
                    format!("`{text}` is a number, and the kernel takes {takes}"),
                    help,
                ));
            }
            let Some(element) = parameter.element() else {
                let help = "give such a kernel its numbers one by one";
                return Some(mistake(&argument.at, format!("the kernel takes {takes}, which is no number"), help));
            };
            let cut = matches!(number, Number::Real(_)) && !element.is_float();
            cut.then(|| {
                let title = format!("`{text}` is no whole number, and the kernel takes {takes}");
                mistake(&argument.at, title, "give a whole number, or change the parameter's type")
            })
        }
    }
}

/// A description that suits all kernels, to be pasted into the file.
pub(super) fn template(kernels: &[Kernel]) -> String {
    let mut lines = vec!["n = 1000".to_owned()];
    let mut launches = Vec::new();
    for kernel in kernels {
        let mut arguments = Vec::new();
        for (index, parameter) in kernel.parameters.iter().enumerate() {
            let name = parameter.declared.as_ref().map_or_else(|| format!("p{index}"), |it| it.name.clone());
            let pointer = parameter.is_pointer().unwrap_or(parameter.size == 8);
            if !pointer {
                let float = parameter.element().is_some_and(Element::is_float);
                arguments.push(if float { "2.0".to_owned() } else { "n".to_owned() });
                continue;
            }
            // A buffer may not be called what the number is.
            let name = if name == "n" { format!("{name}_") } else { name };
            let constant = parameter.declared.as_ref().is_some_and(|it| it.words.iter().any(|word| word == "const"));
            let rest = if constant { " ramp" } else { " zero, print 8" };
            let line = format!("{name} = {}[n]{rest}", parameter.pointee());
            if !lines.iter().any(|known| known.starts_with(&format!("{name} = "))) {
                lines.push(line);
            }
            arguments.push(name);
        }
        let alone = kernels.iter().filter(|other| other.name == kernel.name).count() == 1;
        let name = if alone { kernel.name.clone() } else { kernel.full.text() };
        launches.push(format!("{name}<<<(n + 255) / 256, 256>>>({})", arguments.join(", ")));
    }
    lines.into_iter().chain(launches).map(|line| format!("// play: {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::script::parse;

    const SOURCE: &str = "extern \"C\" __global__ void scale(const float* x, float* y, float a, size_t n) {}\n\
                          __global__ void half_of(const __half* h, int n) {}\nextern \"C\" __global__ void none() {}\n";
    const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .visible .entry scale(.param .u64 p0, .param .u64 p1, .param .f32 p2, .param .u64 p3)\n{\nret;\n}\n\
        .visible .entry _Z7half_ofPK6__halfi(.param .u64 p0, .param .u32 p1)\n{\nret;\n}\n.visible .entry none()\n{\nret;\n}\n";

    #[test]
    fn a_template_suits_its_kernels() {
        let kernels = kernels(SOURCE, PTX);
        let text = template(&kernels);
        assert_eq!(
            text,
            "// play: n = 1000\n// play: x = f32[n] ramp\n// play: y = f32[n] zero, print 8\n// play: h = f16[n] ramp\n\
             // play: scale<<<(n + 255) / 256, 256>>>(x, y, 2.0, n)\n// play: half_of<<<(n + 255) / 256, 256>>>(h, n)\n\
             // play: none<<<(n + 255) / 256, 256>>>()\n"
        );
        let script = parse("a.cu", &text).unwrap();
        assert_eq!(check(&script, &kernels, SOURCE), []);
    }

    const OTHERS: &str = "namespace a { __global__ void k(float* y) {} }\n\
        template <typename T, int N> __global__ void scale(const T* x, T* y) {}\n\
        template __global__ void scale<float, 4>(const float*, float*);\n\
        template <class T> __global__ void lone(T* y) {}\n\
        __global__ void over(int n) {}\n__global__ void over(float* rows) {}\nstruct P { float a; int b; };\n\
        __global__ void by_value(P p, float** rows) {}\n";
    const OTHERS_PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .visible .entry _ZN1a1kEPf(.param .u64 p0)\n{\nret;\n}\n\
        .visible .entry _Z5scaleIfLi4EEvPKT_PS0_(.param .u64 p0, .param .u64 p1)\n{\nret;\n}\n\
        .visible .entry _Z5scaleIdLi2EEvPKT_PS0_(.param .u64 p0, .param .u64 p1)\n{\nret;\n}\n\
        .visible .entry _Z5scaleIfLi2EEvPKT_PS0_(.param .u64 p0, .param .u64 p1)\n{\nret;\n}\n\
        .visible .entry _Z4overi(.param .u32 p0)\n{\nret;\n}\n.visible .entry _Z4overPf(.param .u64 p0)\n{\nret;\n}\n\
        .visible .entry _Z8by_value1PPPf(.param .align 4 .b8 p0[8], .param .u64 p1)\n{\nret;\n}\n";

    /// Namespaces, templates and overloads: which kernel is meant, or what is said where that is not known.
    #[test]
    fn a_name_means_one_kernel() {
        let kernels = kernels(OTHERS, OTHERS_PTX);
        let above = "// play: x = f32[8]\n// play: y = f32[8]\n// play: d = f64[8]\n// play: rows = u64[8]\n// play: ";
        let meant = |launch: &str| {
            let script = parse("a.cu", &format!("{above}{launch}")).unwrap();
            let found = check(&script, &kernels, OTHERS);
            let kernel = names::find(&script, &kernels, &script.launches[0], OTHERS).ok();
            (kernel.map(|kernel| kernel.entry.clone()), found)
        };
        for (launch, entry) in [
            ("a::k<<<1, 1>>>(x)", "_ZN1a1kEPf"),
            ("k<<<1, 1>>>(x)", "_ZN1a1kEPf"),
            ("scale<float, 4><<<1, 1>>>(x, y)", "_Z5scaleIfLi4EEvPKT_PS0_"),
            ("scale<double><<<1, 1>>>(d, d)", "_Z5scaleIdLi2EEvPKT_PS0_"),
            ("scale<<<1, 1>>>(d, d)", "_Z5scaleIdLi2EEvPKT_PS0_"),
            ("over<<<1, 1>>>(3)", "_Z4overi"),
            ("over<<<1, 1>>>(x)", "_Z4overPf"),
        ] {
            assert_eq!(meant(launch), (Some(entry.to_owned()), vec![]), "{launch}");
        }
        for (launch, title, help) in [
            ("scale<<<1, 1>>>(x, y)", "`scale` may mean any of 3 kernels", "`scale<float, 4>`, `scale<double, 2>`"),
            ("scale<float, 8><<<1, 1>>>(x, y)", "`scale` is not instantiated so", "void scale<float, 8>(...);`"),
            ("lone<<<1, 1>>>(x)", "the template `lone` is not instantiated", "void lone<...>(...);`"),
            ("over<<<1, 1>>>(x, y)", "any of 2 kernels", "`_Z4overi` for `over(int n)`"),
            ("b::k<<<1, 1>>>(x)", "no kernel is called `b::k`", "did you mean `a::k`?"),
            ("by_value<<<1, 1>>>(2, rows)", "the kernel takes `P p`, which is no number", "one by one"),
        ] {
            let (_, found) = meant(launch);
            let [mistake] = &found[..] else { panic!("{launch}: {found:?}") };
            assert!(mistake.title.contains(title) && mistake.help[0].contains(help), "{launch}: {mistake:?}");
        }
        let (_, found) = meant("by_value<<<1, 1>>>(2, x)");
        assert!(found[1].help[0].contains("write `x = u64[...]`"), "{found:?}");
    }

    #[test]
    fn what_does_not_suit_is_told() {
        let kernels = kernels(SOURCE, PTX);
        let above = "// play: x = f32[8]\n// play: y = f32[8]\n// play: b = bf16[8]\n// play: ";
        for (launch, title, help) in [
            (
                "scal<<<1, 1>>>()",
                "no kernel is called `scal`",
                "did you mean `scale`? The file has `scale`, `half_of`, `none`",
            ),
            ("none<<<1, 1>>>(x)", "`none` takes 0 arguments, and 1 are given", "it takes nothing"),
            (
                "scale<<<1, 1>>>(x, y, 8)",
                "takes 4 arguments, and 3 are given",
                "`const float* x`, `float* y`, `float a`, `size_t n`",
            ),
            ("scale<<<1, 1>>>(x, 8, 2.0, 8)", "`8` is a number, and the kernel takes `float* y`", "x = f32[1000] ramp"),
            ("scale<<<1, 1>>>(x, y, 2.0, y)", "`y` is a buffer, and the kernel takes `size_t n`", "give a number"),
            ("scale<<<1, 1>>>(x, y, 2.0, 8.5)", "`8.5` is no whole number", "a whole number"),
            (
                "scale<<<1, 1>>>(b, y, 2.0, 8)",
                "elements of type bf16, and the kernel takes `const float* x`",
                "b = f32[...]",
            ),
        ] {
            let script = parse("a.cu", &format!("{above}{launch}")).unwrap();
            let found = check(&script, &kernels, SOURCE);
            let [mistake] = &found[..] else { panic!("{launch}: {found:?}") };
            assert!(mistake.title.contains(title) && mistake.help[0].contains(help), "{launch}: {mistake:?}");
        }
    }
}
