//! Single runs.

use simulation::Simulator;

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..20 {
        let one = Simulator::new().unwrap();
        let first = one.run(seed, true).unwrap();
        // Whatever ran before on the same thread.
        one.run(seed + 1, false).unwrap();
        assert_eq!(one.run(seed, true).unwrap(), first, "seed {seed}");
        assert!(!first.trace.is_empty());
    }
}
