//! The report in a browser, where Chromium is installed: two widths, light and dark, printed; nothing on the console.

use crate::common::{Folder, pipeline, pipeline_on, side, table, third};
use std::process::{Command, Output, Stdio};

/// Chromium's name, if it is installed.
fn chromium() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let starts = |name: &&str| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let found = names.into_iter().find(starts);
    if found.is_none() {
        eprintln!("skipped: no Chromium is installed");
    }
    found
}

/// The browser on a page of the folder.
fn opened(browser: &str, folder: &Folder, page: &str, flags: &[&str]) -> Output {
    let mut command = Command::new(browser);
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--hide-scrollbars"]);
    command.arg("--allow-file-access-from-files").arg(format!("--user-data-dir={}", folder.path("profile").display()));
    command.args(flags).arg(format!("file://{}", folder.path(page).display())).stdin(Stdio::null());
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!words.contains("CONSOLE"), "{words}");
    output
}

const WIDTHS: [usize; 2] = [420, 1280];

/// Opens all of `out/report.html` at two widths, light and dark: it is as wide as the screen, and dark where that is asked for.
fn looked_at(browser: &str, folder: &Folder) {
    // The frames are measured from within a page around them.
    let frame = |width: usize| {
        format!("<iframe src=\"out/report.html\" style=\"width:{width}px;height:900px;border:0\"></iframe>")
    };
    let around = format!(
        "<!DOCTYPE html>{}<p id=\"o\"></p>\
         <script>onload=()=>document.getElementById('o').textContent=[...document.querySelectorAll('iframe')].map(f=>{{\
         const d=f.contentDocument,s=[...d.querySelectorAll('svg.plot')];\
         d.querySelectorAll('details').forEach(e=>e.open=true);\
         const shown=s.filter(e=>e.getBoundingClientRect().width>0);\
         return [d.documentElement.scrollWidth,\
         getComputedStyle(d.body).backgroundColor,shown.length,s.filter(e=>e.classList.contains('narrow')).length,\
         [...d.querySelectorAll('.scroll')].filter(e=>e.scrollWidth>e.clientWidth+1&&e.tabIndex<0).length].join('|')}}).join(';')</script>",
        WIDTHS.map(frame).concat()
    );
    folder.write("around.html", around);
    let papers = ["0", "1"].map(|scheme| {
        let flags = [
            &format!("--blink-settings=preferredColorScheme={scheme}")[..],
            "--dump-dom",
            "--virtual-time-budget=5000",
        ];
        let output = opened(browser, folder, "around.html", &flags);
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = dom.split("<p id=\"o\">").nth(1).and_then(|rest| rest.split("</p>").next()).unwrap_or_default();
        let frames: Vec<Vec<&str>> = told.split(';').map(|frame| frame.split('|').collect()).collect();
        assert_eq!(frames.len(), WIDTHS.len(), "{dom}");
        for (parts, width) in frames.iter().zip(WIDTHS) {
            assert_eq!(parts.len(), 5, "{dom}");
            assert_eq!(parts[0], width.to_string(), "the page is wider than the screen");
            assert!(parts[2].parse::<usize>().unwrap() >= parts[3].parse::<usize>().unwrap(), "{told}");
            assert_eq!(parts[4], "0", "something scrolls that the keyboard does not reach");
            assert_eq!(parts[1], frames[0][1], "{told}");
        }
        frames[0][1].to_owned()
    });
    assert_eq!(papers[1], "rgb(255, 255, 255)");
    assert_ne!(papers[0], papers[1], "dark is as light");
}

/// Pages of `out/report.html` on paper.
fn pages(browser: &str, folder: &Folder) -> usize {
    let print = format!("--print-to-pdf={}", folder.path("report.pdf").display());
    opened(browser, folder, "out/report.html", &[&print, "--no-pdf-header-footer"]);
    let pdf = std::fs::read(folder.path("report.pdf")).unwrap();
    let text = String::from_utf8_lossy(&pdf);
    text.matches("/Type /Page").count() - text.matches("/Type /Pages").count()
}

#[test]
fn a_report_looks_right_at_two_widths_light_and_dark_and_on_paper() {
    let Some(browser) = chromium() else { return };
    for (name, target, lines) in [
        ("numbers", "y", "evaluate: {nested: {folds: 3}, permutations: 3, stability: {pairs: 2}}"),
        ("classes", "kind", "criterion: {kind: loo, loss: zero_one}\nevaluate: {nested: {folds: 3}}"),
        ("binary", "class", "criterion: {kind: loo, loss: auc}\nevaluate: {nested: {folds: 3}}"),
    ] {
        let folder = Folder::new(&format!("browser-{name}"));
        folder.write("train.csv", table(60, 6, &[("class", &side), ("kind", &third)]));
        folder.run(&pipeline_on(target, &["y", "class", "kind"], lines));
        looked_at(browser, &folder);
        let pages = pages(browser, &folder);
        assert!((1..=8).contains(&pages), "{name}: {pages} pages");
    }
}

#[test]
fn thousands_of_columns_print_on_a_few_pages() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new("browser-wide");
    folder.write("train.csv", table(20, 6000, &[]));
    folder.run(&pipeline("search: {kind: rank, max_features: 400, choose: last}"));
    looked_at(browser, &folder);
    let pages = pages(browser, &folder);
    assert!((1..10).contains(&pages), "{pages} pages");
}
