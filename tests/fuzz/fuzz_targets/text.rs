#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| vaglio_tests::hostile::holds(vaglio_tests::hostile::Input::Text, bytes));
