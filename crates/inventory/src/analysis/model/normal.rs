//! The quantiles of the standard normal distribution, which turn service levels into factors.

/// Coefficients of the rational approximations of P. J. Acklam (2003); the relative error is below
/// 1.15e-9.
const A: [f64; 6] = [
    -3.969_683_028_665_376e1,
    2.209_460_984_245_205e2,
    -2.759_285_104_469_687e2,
    1.383_577_518_672_69e2,
    -3.066_479_806_614_716e1,
    2.506_628_277_459_239,
];
const B: [f64; 6] = [
    -5.447_609_879_822_406e1,
    1.615_858_368_580_409e2,
    -1.556_989_798_598_866e2,
    6.680_131_188_771_972e1,
    -1.328_068_155_288_572e1,
    1.0,
];
const C: [f64; 6] = [
    -7.784_894_002_430_293e-3,
    -3.223_964_580_411_365e-1,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const D: [f64; 5] = [
    7.784_695_709_041_462e-3,
    3.224_671_290_700_398e-1,
    2.445_134_137_142_996,
    3.754_408_661_907_416,
    1.0,
];
/// The tail approximation applies below this probability, and above 1 minus it.
const TAIL: f64 = 0.024_25;

/// The standard normal quantile `z` of a probability: 1.6449 for 0.95. Probabilities are clamped to
/// 0.000001 to 0.999999.
pub fn quantile(probability: f64) -> f64 {
    let p = probability.clamp(1e-6, 1.0 - 1e-6);
    if p < TAIL {
        tail(p)
    } else if p > 1.0 - TAIL {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        polynomial(&A, r) * q / polynomial(&B, r)
    }
}

fn tail(p: f64) -> f64 {
    let q = (-2.0 * p.ln()).sqrt();
    polynomial(&C, q) / polynomial(&D, q)
}

/// Evaluates a polynomial by Horner's rule, highest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients
        .iter()
        .fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_levels_have_the_factors_of_the_tables() {
        let table = [
            (0.80, 0.8416),
            (0.85, 1.0364),
            (0.90, 1.2816),
            (0.95, 1.6449),
            (0.975, 1.9600),
            (0.98, 2.0537),
            (0.99, 2.3263),
            (0.995, 2.5758),
            (0.999, 3.0902),
        ];
        for (probability, z) in table {
            assert!((quantile(probability) - z).abs() < 5e-5, "{probability}");
            assert!((quantile(1.0 - probability) + z).abs() < 5e-5);
        }
        assert!(quantile(0.5).abs() < 1e-9);
        assert!(quantile(1.0).is_finite() && quantile(0.0).is_finite());
    }
}
