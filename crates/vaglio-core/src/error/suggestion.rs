//! The known name nearest to an unknown one.

/// Longest name that is compared, in bytes.
const LONGEST: usize = 256;

/// The known name most like `name`, if one is similar: it begins with `name`, or at most a third of the letters differ.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let wanted = name.to_lowercase();
    let letters = wanted.chars().count();
    let slips = |candidate: &&str| {
        let lower = candidate.to_lowercase();
        let begins = 2 * letters >= lower.chars().count() && lower.starts_with(&wanted);
        let slips = strsim::osa_distance(&wanted, &lower);
        (begins || letters > 1 && slips <= (letters / 3).max(1)).then_some(slips)
    };
    let known = known.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let like = known.filter_map(|candidate| Some((slips(&candidate)?, candidate)));
    like.min_by_key(|(slips, _)| *slips).map(|(_, candidate)| candidate.to_owned())
}
