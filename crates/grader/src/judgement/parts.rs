//! All that is judged, in the order in which it is.

use serde::{Deserialize, Serialize};

use super::part::Evidence;
use super::{DeviceKind, Failure, Part, Verdict, View, Witness};
use crate::trial::Trial;
use crate::trouble::Trouble;

macro_rules! parts {
    ($($(#[$about:meta])* $name:ident: $Evidence:ty,)*) => {
        /// The parts of a judgement.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default)]
        pub struct Parts {
            $($(#[$about])* pub $name: Part<$Evidence>,)*
        }

        impl Parts {
            /// Their names, in order.
            pub const NAMES: &[&str] = &[$(<$Evidence>::NAME),*];

            const WITNESSES: &[Witness] = &[$(<$Evidence>::WITNESS),*];

            /// What is alike in all of them, in order.
            pub fn views(&self) -> impl Iterator<Item = View<'_>> {
                [$(self.$name.view()),*].into_iter()
            }

            /// Says of each failure where it comes from, and which file is to be changed, where another part has found that out.
            pub(crate) fn blame(&mut self) {
                let blames = |failure: &Failure| {
                    let blamed = [$(self.$name.blames(failure)),*].into_iter().flatten().next();
                    blamed.map(|(side, cause)| (side, cause.clone()))
                };
                let blamed = [$(self.$name.failure.as_ref().filter(|it| it.cause.is_none()).and_then(blames)),*];
                let failures = [$(self.$name.failure.as_mut()),*];
                for (failure, (side, cause)) in failures.into_iter().zip(blamed).filter_map(|(f, b)| f.zip(b)) {
                    failure.side.get_or_insert(side);
                    failure.cause = Some(Box::new(cause));
                }
            }

            /// The failures, to be told more of.
            pub(crate) fn failures(&mut self) -> impl Iterator<Item = &mut Failure> {
                [$(self.$name.failure.as_mut()),*].into_iter().flatten()
            }

            /// Judges those that are wanted, one after the other.
            pub(crate) fn judge(trial: &Trial<'_>, wants: impl Fn(&str) -> bool) -> Self {
                let mut turns = Turns { trial, wants, waits_for: None };
                Self { $($name: turns.take(),)* }
            }

            /// The same submission's on the emulated device and on a GPU, as one.
            pub(crate) fn merge(self, gpu: Self) -> Self {
                Self { $($name: self.$name.merge(gpu.$name),)* }
            }

            /// Says why those are left out that the GPU was to judge.
            pub fn leave_gpu_out(&mut self, why: &str) {
                $(if <$Evidence>::WITNESS == Witness::Gpu {
                    self.$name = Part::ungraded(why);
                })*
            }
        }
    };
}

// The one list: a judgement that is not named here does not exist.
parts! {
    /// Does it compute the right thing, and touch nothing else?
    right: crate::right::Right,
    /// Does it move no more than it must?
    lean: crate::lean::Lean,
    /// Is it as much faster than the unfused chain as the bytes say?
    fast: crate::fast::Fast,
}

impl Parts {
    /// What a worker on this device is to judge: everything where it is the only one, else what it is a witness of.
    pub fn wanted(device: DeviceKind, only: bool) -> Vec<&'static str> {
        let other = match device {
            DeviceKind::Emulated => Witness::Gpu,
            DeviceKind::Gpu => Witness::Emulated,
        };
        let all = Self::NAMES.iter().zip(Self::WITNESSES);
        all.filter(|(_, witness)| only || **witness != other).map(|(name, _)| *name).collect()
    }

    /// One failure fails, and a pass needs every part.
    pub fn verdict(&self) -> Verdict {
        Verdict::combine(self.views().map(|part| part.verdict))
    }
}

/// Judges part after part. What is not right need not be lean, and three launches are not one that is slow: after a
/// part that fails, or could not be judged, the others wait.
struct Turns<'a, W> {
    trial: &'a Trial<'a>,
    wants: W,
    waits_for: Option<&'static str>,
}

impl<W: Fn(&str) -> bool> Turns<'_, W> {
    fn take<T: Evidence>(&mut self) -> Part<T> {
        let session = self.trial.session;
        // Where the emulated device is judged as a GPU, for testing, it gives no counts.
        if !(self.wants)(T::NAME) || (T::WITNESS == Witness::Emulated && session.judges_as_gpu()) {
            return Part::ungraded("not asked for");
        }
        if let Some(first) = self.waits_for {
            return Part::ungraded(format!("not judged until it is {first}"));
        }
        let part = T::judge(self.trial).unwrap_or_else(|trouble| match trouble {
            Trouble::Failure(mut failure) => {
                failure.device.get_or_insert_with(|| session.info.name.clone());
                Part::refused(*failure)
            }
            Trouble::Unable(note) => Part::ungraded(note),
        });
        if matches!(part.verdict, Verdict::Fail | Verdict::Ungraded) {
            self.waits_for = Some(T::NAME);
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_judges_what_it_is_a_witness_of() {
        assert_eq!(Parts::wanted(DeviceKind::Emulated, true), Parts::NAMES);
        assert_eq!(Parts::wanted(DeviceKind::Emulated, false), ["right", "lean"]);
        assert_eq!(Parts::wanted(DeviceKind::Gpu, false), ["right", "fast"]);
    }

    #[test]
    fn parts_have_their_names_in_the_report() {
        let json = serde_json::to_value(Parts::default()).unwrap();
        let mut names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        let mut known = Parts::NAMES.to_vec();
        known.sort_unstable();
        assert_eq!(names, known);
    }

    #[test]
    fn what_the_gpu_was_to_judge_says_why_it_is_left_out() {
        let mut parts = Parts { right: Part::pass(), ..Parts::default() };
        parts.leave_gpu_out("it is wrong");
        assert_eq!((parts.fast.note.as_deref(), parts.right.note), (Some("it is wrong"), None));
    }
}
