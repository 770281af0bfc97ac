//! One launch, as a directive writes it: `name<<<grid, block, shared>>>(x: f32[128], n: i32 = 128) cooperative on 2`.

use crate::argument::{Argument, is_name};

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub kernel: String,
    /// Blocks and threads: x, y, z.
    pub grid: (u32, u32, u32),
    pub block: (u32, u32, u32),
    /// Dynamic shared memory, in bytes.
    pub shared: u32,
    pub parameters: Vec<Parameter>,
    pub cooperative: bool,
    /// Streams are counted from 1; they do not wait for the default stream.
    pub stream: u32,
}

/// A parameter with what it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub argument: Argument,
}

impl Launch {
    /// Bytes of the buffers that it names the types of.
    pub fn bytes(&self) -> u64 {
        let bytes = |parameter: &Parameter| match &parameter.argument {
            Argument::Buffer { ty, len, .. } => (ty.size() * len) as u64,
            _ => 0,
        };
        self.parameters.iter().map(bytes).sum()
    }

    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || "a launch is written `name<<<grid, block, shared>>>(x: f32[128], n: i32 = 128)`".to_owned();
        let (kernel, rest) = text.split_once("<<<").ok_or_else(form)?;
        let (configuration, rest) = rest.split_once(">>>").ok_or_else(form)?;
        let rest = rest.trim_start().strip_prefix('(').ok_or_else(form)?;
        let (parameters, flags) = rest.rsplit_once(')').ok_or_else(form)?;
        let kernel = kernel.trim();
        if !is_name(kernel) {
            return Err(format!("`{kernel}` is no name of a kernel"));
        }

        let mut configuration = split(configuration).into_iter();
        let grid = dimensions(configuration.next().unwrap_or_default())?;
        let block = dimensions(configuration.next().unwrap_or_default())?;
        let shared = match configuration.next() {
            Some(bytes) => bytes.parse().map_err(|_| format!("`{bytes}` is no number of bytes"))?,
            None => 0,
        };
        if let Some(extra) = configuration.next() {
            return Err(format!("`{extra}` is one number too many"));
        }

        let (cooperative, flags) = match flags.trim().strip_prefix("cooperative") {
            Some(rest) => (true, rest),
            None => (false, flags),
        };
        Ok(Self {
            kernel: kernel.to_owned(),
            grid,
            block,
            shared,
            parameters: split(parameters).into_iter().map(Parameter::parse).collect::<Result<_, _>>()?,
            cooperative,
            stream: stream(flags)?,
        })
    }
}

impl Parameter {
    fn parse(text: &str) -> Result<Self, String> {
        // A name alone is the buffer of that name.
        let (name, argument) = text.split_once(':').unwrap_or((text, text));
        let (name, argument) = (name.trim(), argument.trim());
        if !is_name(name) {
            return Err(format!("`{name}` is no name of a parameter"));
        }
        Ok(Self { name: name.to_owned(), argument: Argument::parse(argument)? })
    }
}

/// The number of a stream: `on 2`, or nothing for stream 1.
///
/// # Errors
/// What is wrong with it.
pub fn stream(text: &str) -> Result<u32, String> {
    match text.trim() {
        "" => Ok(1),
        text => text
            .strip_prefix("on ")
            .and_then(|number| number.trim().parse().ok())
            .ok_or_else(|| format!("`{text}` is no stream: write `on 2`")),
    }
}

/// `4` or `(2,2,1)`.
fn dimensions(text: &str) -> Result<(u32, u32, u32), String> {
    let wrong = || format!("`{text}` is no number and no (x, y, z)");
    let number = |text: &str| text.trim().parse().map_err(|_| wrong());
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else {
        return Ok((number(text)?, 1, 1));
    };
    let mut axes = inner.split(',').map(number);
    let mut next = || axes.next().unwrap_or(Ok(1));
    Ok((next()?, next()?, next()?))
}

/// Splits at commas that are in no parenthesis.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_with_everything() {
        let launch = Launch::parse("k<<<(2,3), 64, 128>>>(x: f32[4], y: x+4, x, n: i32 = 1) cooperative on 2").unwrap();
        assert_eq!((launch.grid, launch.block, launch.shared), ((2, 3, 1), (64, 1, 1), 128));
        assert_eq!(launch.parameters.len(), 4);
        assert_eq!(launch.parameters[2].argument, Argument::Inside { buffer: "x".into(), offset: 0 });
        assert!(launch.cooperative);
        assert_eq!(launch.stream, 2);
    }

    #[test]
    fn what_is_no_launch_says_why() {
        let error = |text| Launch::parse(text).unwrap_err();
        assert!(error("k(x: f32[4])").contains("is written"));
        assert!(error("k<<<1>>>()").contains("is no number"));
        assert!(error("k<<<1, 2, 3, 4>>>()").contains("too many"));
        assert!(error("k<<<1, 2>>>() off 2").contains("is no stream"));
    }
}
