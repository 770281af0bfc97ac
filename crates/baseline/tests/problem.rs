//! Problems on the emulated device: what buffers hold before a launch, and which periods of an output are looked at.

#![allow(clippy::unwrap_used)]

use fusion_baseline::{Periods, Place, Values, buffers};
use fusion_course::{Case, DType, Data, DeviceBuffer, Exercise, Param, Reference, Shape, Tolerance};
use fusion_device::{Choice, Device};

/// y = y + x, and z = x.
static EXERCISE: Exercise = Exercise {
    inputs: &[Param::elements("x", DType::F32)],
    outputs: &[Param::elements("y", DType::F32).updated(), Param::elements("z", DType::F32)],
    tolerances: &[Tolerance::EXACT; 2],
    reference: |case| {
        let x = case.f64s(0);
        let close = |values| Reference::Close { values, magnitudes: None };
        vec![close(x.iter().map(|x| x + 10.0).collect()), close(x)]
    },
    ..Exercise::TEMPLATE
};

/// A period of three elements in a problem of eight.
const PERIOD: Shape = Shape::flat(3);
const SHAPE: Shape = Shape::flat(8);

fn values() -> Values {
    let initial = vec![Some(Data::F32(vec![10.0; 3])), None];
    Values::new(&EXERCISE, Case { initial, ..Case::new(PERIOD, vec![Data::F32(vec![1.0, 2.0, 3.0])]) })
}

fn f32s(device: &Device, buffer: &DeviceBuffer) -> Vec<f32> {
    match buffer.read(&device.stream).unwrap() {
        Data::F32(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_problem_is_filled_reset_and_looked_at() {
    let device = Device::open(Choice::Emulated).unwrap_or_else(|error| panic!("{error}"));
    let (stream, values) = (&device.stream, values());
    let place = Place::new(stream, &EXERCISE, &values.case, SHAPE, 0).unwrap();
    assert_eq!(f32s(&device, &place.inputs[0]), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0]);

    let mut outputs = buffers(stream, EXERCISE.outputs, SHAPE, 0).unwrap();
    for output in &mut outputs {
        output.write(stream, &Data::F32(vec![7.0; 8])).unwrap();
    }
    place.reset(stream, &mut outputs).unwrap();
    assert_eq!(f32s(&device, &outputs[0]), [10.0; 8]);
    assert!(f32s(&device, &outputs[1]).iter().all(|value| value.is_nan()), "what is only written holds poison");

    // Right, but for one element of the middle period.
    let y = [11.0, 12.0, 13.0, 11.0, 99.0, 13.0, 11.0, 12.0];
    outputs[0].write(stream, &Data::F32(y.to_vec())).unwrap();
    place.copy_inputs(stream, &mut outputs[1..]).unwrap();
    let wrong = |periods| {
        let (mut seen, mut wrong) = (Vec::new(), Vec::new());
        let look = |part: fusion_baseline::Seen<'_>| {
            seen.push((part.param.name, part.from, part.actual.len()));
            if part.reference.check(&part.actual, Tolerance::EXACT).is_err() {
                wrong.push((part.param.name, part.from));
            }
            Ok(())
        };
        values.look(stream, (&outputs, SHAPE), periods, |error| error, look).unwrap();
        (seen, wrong)
    };
    let (seen, found) = wrong(Periods::All);
    assert_eq!(seen, [("y", 0, 3), ("y", 3, 3), ("y", 6, 2), ("z", 0, 3), ("z", 3, 3), ("z", 6, 2)]);
    assert_eq!(found, [("y", 3)]);
    let (seen, found) = wrong(Periods::Ends);
    assert_eq!((seen, found), (vec![("y", 0, 3), ("y", 6, 2), ("z", 0, 3), ("z", 6, 2)], vec![]));
    assert_eq!(wrong(Periods::First).0, [("y", 0, 3), ("z", 0, 3)]);
}
