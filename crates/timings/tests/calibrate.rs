//! Rates that are fitted to the stored times of an H200, disturbed as the times of another day are.

#![allow(clippy::unwrap_used)]

use fusion_device::Compiler;
use fusion_machine::Profile;
use fusion_timings::{Calibration, Errors, Fit, Record, Role, cases, fits, h200, validate};

fn compiler() -> Compiler {
    Compiler::open(&fusion_toolchain::find().unwrap()).unwrap()
}

/// The stored times, each up to a hundredth more or less.
fn disturbed(seed: u64) -> Vec<Record> {
    let mut state = seed;
    let mut records = h200().unwrap();
    for record in &mut records {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        record.ns *= 0.99 + 0.02 * (state >> 40) as f64 / (1_u64 << 24) as f64;
    }
    records
}

fn fitted(compiler: &Compiler, fits: &[Fit], records: &[Record], known: bool) -> Profile {
    let mut profile = Profile::default();
    let calibration = Calibration::new(compiler, profile.compute, &cases().unwrap(), fits.to_vec(), records).unwrap();
    calibration.run(&mut profile, known, |_| {}).unwrap();
    profile
}

/// How far predictions by one profile are from those by another.
fn apart(compiler: &Compiler, profiles: [&Profile; 2], records: &[Record]) -> f64 {
    let [one, other] = profiles.map(|profile| validate(compiler, profile, None, records, |_| {}).unwrap());
    assert!(!one.is_empty());
    one.iter().zip(&other).map(|(one, other)| (one.predicted_ns / other.predicted_ns - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn times_of_two_days_give_nearly_the_same_predictions() {
    let (compiler, records) = (compiler(), h200().unwrap());
    let some = ["overhead_ns", "shuffle", "barrier"];
    let fits: Vec<Fit> = fits().unwrap().into_iter().filter(|fit| some.contains(&fit.rate.as_str())).collect();
    let profiles = [1, 2].map(|seed| fitted(&compiler, &fits, &disturbed(seed), false));
    assert_ne!(profiles[0].rates, profiles[1].rates);
    let is_quick = |record: &Record| ["chase_shuffle", "barriers"].contains(&record.kernel.as_str());
    let quick: Vec<Record> = records.into_iter().filter(is_quick).collect();
    let apart = apart(&compiler, [&profiles[0], &profiles[1]], &quick);
    assert!(apart <= 0.03, "{apart}");
}

/// What a GPU's profile says already stays, as long as its times do not contradict it.
#[test]
fn known_rates_stay_until_times_contradict_them() {
    let compiler = compiler();
    let fits: Vec<Fit> = fits().unwrap().into_iter().filter(|fit| fit.rate == "shuffle").collect();
    let stays = fitted(&compiler, &fits, &disturbed(1), true);
    assert_eq!(stays.rates, Profile::default().rates);
    let mut slower = h200().unwrap();
    slower.iter_mut().for_each(|record| record.ns *= 1.3);
    let moves = fitted(&compiler, &fits, &slower, true);
    assert!(moves.rates.shuffle > 1.1 * Profile::default().rates.shuffle, "{}", moves.rates.shuffle);
}

/// All rates, against all kernels: minutes.
#[test]
#[ignore = "takes minutes"]
fn fitted_rates_predict_as_well_as_those_that_were_chosen() {
    let (compiler, records) = (compiler(), h200().unwrap());
    let fits = fits().unwrap();
    let mut all = vec![Profile::default()];
    all.extend([1, 2].map(|seed| fitted(&compiler, &fits, &disturbed(seed), false)));
    for (name, _) in fusion_machine::timing::Rates::FIELDS {
        println!("{name} {:?}", all.iter().map(|profile| profile.rates.get(name).unwrap()).collect::<Vec<_>>());
    }
    let compared: Vec<_> =
        all.iter().map(|profile| validate(&compiler, profile, None, &records, |_| {}).unwrap()).collect();
    for points in &compared {
        for role in [Role::HeldOut, Role::Fitted, Role::Calibration] {
            println!("{role:?} {:?}", Errors::of(points.iter().filter(|point| point.role == role)));
        }
    }
    let mut apart: Vec<_> = compared[1]
        .iter()
        .zip(&compared[2])
        .map(|(one, other)| ((one.predicted_ns / other.predicted_ns - 1.0).abs(), format!("{}", one.record)))
        .collect();
    apart.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{:#?}", &apart[..20]);
    let errors =
        |points: &[fusion_timings::Compared]| Errors::of(points.iter().filter(|it| it.role != Role::Calibration));
    let (chosen, fitted) = (errors(&compared[0]), errors(&compared[1]));
    assert!(fitted.median < chosen.median + 0.01 && fitted.p90 < chosen.p90 + 0.03, "{chosen:?} {fitted:?}");
    assert!(apart[0].0 <= 0.03, "{:?}", apart[0]);
}
