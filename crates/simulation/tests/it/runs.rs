//! Single runs.

use simulation::Simulator;

#[test]
fn the_same_seed_is_the_same_run() {
    // The last four wait for several things at once, of which two are ready together.
    for seed in (0..20).chain([15416, 15427, 15435, 15454]) {
        let one = Simulator::new().unwrap();
        let first = one.run(seed, true).unwrap();
        assert!(!first.trace.is_empty());
        for _ in 0..4 {
            // The result does not depend on earlier runs of the thread.
            one.run(seed + 1, false).unwrap();
            let again = one.run(seed, true).unwrap();
            for (line, (was, is)) in first.trace.iter().zip(&again.trace).enumerate() {
                assert_eq!(is, was, "seed {seed}, line {line}");
            }
            assert_eq!(again, first, "seed {seed}");
        }
    }
}
