//! Many runs.

use simulation::Simulator;

#[test]
fn three_thousand_simulated_shops_keep_their_promises() {
    let failed = simulation::search(1..3_001, |_| {}).unwrap();
    let Some((seed, violations)) = failed.first() else {
        return;
    };
    let run = Simulator::new().unwrap().run(*seed, true).unwrap();
    panic!(
        "{} seeds failed; seed {seed}: {violations:#?}\n{}",
        failed.len(),
        run.trace.join("\n")
    );
}
