use vaglio_core::StopReason;

#[test]
fn every_stop_reason_has_a_sentence_of_its_own() {
    let all = [
        StopReason::MaxFeatures,
        StopReason::MinFeatures,
        StopReason::NoCorrelation,
        StopReason::Singular,
        StopReason::Penalty,
        StopReason::AllSubsets,
        StopReason::Tolerance,
        StopReason::Patience,
        StopReason::NoImprovement,
        StopReason::NoCandidates,
        StopReason::Constraints,
        StopReason::Interrupted,
        StopReason::Limit,
    ];
    let sentences: std::collections::BTreeSet<&str> = all.iter().map(|reason| reason.sentence()).collect();
    assert_eq!(sentences.len(), all.len());
    for (reason, sentence) in all.iter().map(|reason| (reason, reason.sentence())) {
        assert_eq!(reason.to_string(), sentence);
        assert!(sentence.split(' ').count() >= 3 && !sentence.ends_with('.'), "{reason:?}: {sentence}");
    }
}
