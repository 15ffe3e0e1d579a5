//! `docs/evidence.md`.

use crate::rollouts::{Alarms, Method};
use crate::tables::{Delays, FalseAlarms, HALF_HOUR, TWO_HOURS, WEIGHTS};
use crate::users::{Clustering, Scenario};
use std::fmt::Write as _;

/// All that was simulated.
#[derive(Clone, Debug)]
pub struct Results {
    /// The rollouts of two equal versions.
    pub false_alarms: Vec<FalseAlarms>,
    /// The rollouts of a worse canary.
    pub delays: Vec<Delays>,
    /// The table of rollouts by the whole driver, as Markdown.
    pub whole: String,
    /// The date, `YYYY-MM-DD`.
    pub date: String,
}

const HEAD: &str = "# Evidence: how often the test is wrong, and how soon it is right

<!-- Written by `./x bench-evidence`; do not edit. -->

A rollout compares the failed responses of the canary with those of stable in the same interval, and reads the result every ten
seconds. The test (`ctl/release/src/evidence/`) is *sequential*: however often it is read, two equal versions are told apart wrongly in at
most the share of rollouts that `falseAlarm` says. It says how many times likelier the counts are if the canary fails more, averaged over a
canary that fails 1.25, 1.5, 2, 3, 5, 10 and 30 times as often. While both fail alike the mean of this number is at most 1 at any time, so that it
exceeds 20 in at most a twentieth of the rollouts.

Requests of one user fail together, which such a test does not know. So what one cause can say is bounded:

* **A user.** Users are counted in 16 groups (four bits of the identity), each compared with its own group of stable. A group says e^1.5 times likelier at most, so
  one user convicts no canary. It says a tenth as likely at least, so one user of stable who always fails hides no bad canary.
* **A moment.** An interval says twice as likely at most, or what its first failure says: a pod that pauses for three seconds is one event.
* **The end of a pod.** Its users lose their sessions one after another, in many intervals. For ten minutes lost sessions of the canary count in one interval for each of its
  pods that has ended. That interval says as much as the share of the canary in the pods allows: twice as likely where both versions have as many.
* **A login.** A login by GET sets another session cookie, as a response does that has lost the session. So a canary is rolled back for lost sessions only if the evidence is
  as large that it loses *more than twice* as many. Below that it is held, and a person decides.
* **A day.** Half of the stake is bet in parts, one each hour, so that the second day is guarded as the first.
* **Clusters.** The logarithm is divided by how much more failures of stable cluster by group than chance explains, without stable's four worst groups.

With `stickiness: session` the sessions of both versions are those that began in the present step, because first requests fail more often.

How to read the tables: simulated rollouts with fixed seeds, so that the next run writes the same figures. Sessions send a request each 30 s, 30 in
the mean, and are assigned by the weight. *Independent*: each request fails alike. *Few users*: some users fail with every fifth request, the others
never. *Bot*: one client sends a tenth of all requests, of which a fifth fails, whatever its version.

";

const NOT_REPRODUCED: &str = "
Not reproduced: with independent users the z-test and the test without groups alarm more often here (this z-test counts from the first
response on). The study knew the test without bounds for groups, intervals and hours; these came later.

";

const LIMITS: &str = "## What a rollout cannot see

| fault | seen | what helps |
| --- | --- | --- |
| wrong content with status 200, an empty page | no | a hook that looks at the page, or a metric of the application |
| a session that is lost while its cookie stays as it is, and a redirect to the login | no | let the application delete or renew the cookie; `clientErrors: true` where it answers 401 |
| a session that is lost on a POST | no: a login is a POST that changes the session, too | |
| whether a GET that changes the session is a login or a loss | no: cookies and status are the same, and users who lose sessions silently log in more often, too. Up to about twice as many hold the rollout, and no more | a person: `rollout promote`, or `lostSessions: false`; logins by POST |
| sessions that are lost by less than 0.25 points of the responses | no | |
| sessions that end earlier, but later than a step lasts | no: only sessions of the present step are compared | a longer last step |
| another sign key of sessions where sessions stay on their version | no: none meets it before the promotion | `stickiness: user` with `lostSessions: true` |
| sessions that end with few pods of the canary | as one event for each pod that ends: about seven of them, where both versions have as many pods. Fewer than 95 % are found where they end each ten minutes: a pod of stable may have ended as well | sessions that outlive the pod |
| sessions that the canary's code loses, within ten minutes after one of its pods has ended | as part of that event; later, as ever | |
| whether a pod of the canary pauses by chance more often than the others | no: a pause is one event, and some eight of them are evidence enough. Where one of nine pauses for 3 s each ten minutes, 10 % are rolled back at 200 requests/s, in which the canary failed twice as often as stable | `onFailure: hold` |
| lost sessions in the hour in which a pod of stable has ended with its sessions | hardly: stable has lost far more | sessions that outlive the pod |
| sessions that end though no pod does, as those of a cache that only the canary uses | as the canary's fault | |
| a response that its version breaks off after its headers | as *5xx*, unless its client has left | |
| a gRPC status of a server's fault, in headers or trailers | as *5xx*; the fuse sees the one in headers alone | |
| a body that ends too early without an error, an error inside of a gRPC-Web body or a stream of events | no: bodies never enter the module | a metric of the application |
| slower responses | with `slowerThan` | |
| 4xx | with `clientErrors: true` | |
| one user, or users of one group | no, by design | `status`, alerts of the application |
| a fault below about 1.1 times stable's rate, or below 0.1 points | no | |
| a fault that begins when a session is older than its step | no: sessions of earlier steps are not compared | a longer last step |
| a fault of both versions, as of a database that the canary locks | with `maxErrors` | |
| sessions that are older than the step, testers, users without identity | no | |
| clients that never answer within a few seconds | as *unanswered*, if the request had no body | |

## What this does not show

* One kind of failure was simulated. A rollout looks at two or three (5xx, unanswered, lost sessions), so its line is at 40 or 60 and not at 20: fewer false alarms, and
  about a tenth to a fifth more time.
* The hold line is crossed more often than the rollback line, by design: a hold ends by itself when the evidence falls.
* Flagger's column simulates its check. [Beside Flagger](flagger-side-by-side.md) has rollouts by Flagger itself, in a real mesh.
";

pub fn page(results: &Results) -> String {
    let mut page = HEAD.to_owned();
    let rollouts = results
        .false_alarms
        .first()
        .map_or(0, |row| row.alarms.iter().map(Alarms::rollouts).max().unwrap_or(0));
    let _ = writeln!(page, "Simulated on {}.\n", results.date);
    let _ = writeln!(
        page,
        "## False alarms\n\nBoth versions are equally good; {rollouts} rollouts a row. ![False alarms over two hours](evidence.svg)\n"
    );
    for (heading, seconds) in [("Within 30 minutes", HALF_HOUR), ("Within 2 hours", TWO_HOURS)] {
        let _ = writeln!(page, "{heading}:\n");
        false_alarms(&mut page, &results.false_alarms, seconds);
    }
    delays(&mut page, &results.delays);
    page.push_str(&results.whole);
    compared(&mut page, results);
    page + LIMITS
}

fn false_alarms(page: &mut String, rows: &[FalseAlarms], seconds: u32) {
    let names = Method::ALL.map(Method::name).join(" | ");
    let _ = writeln!(page, "| requests/s, weight, rate of both, users | {names} |");
    let _ = writeln!(page, "| --- |{}", " ---: |".repeat(Method::ALL.len()));
    for row in rows {
        let cells = row.alarms.iter().map(|alarms| percent(alarms.share_by(seconds)));
        let _ = writeln!(page, "| {} | {} |", described(row.scenario), cells.collect::<Vec<_>>().join(" | "));
    }
    page.push('\n');
}

fn described(scenario: Scenario) -> String {
    let Scenario { requests_per_second, weight, stable_rate, clustering, .. } = scenario;
    let users = match clustering {
        Clustering::Independent => "independent",
        Clustering::FewUsers => "few users",
        Clustering::FewUsersAndBot => "few users, bot",
    };
    format!("{requests_per_second}, {:.0} %, {} %, {users}", weight * 100.0, stable_rate * 100.0)
}

fn delays(page: &mut String, rows: &[Delays]) {
    let rollouts =
        rows.first().map_or(0, |row| row.alarms.iter().flatten().map(Alarms::rollouts).max().unwrap_or(0));
    let _ = writeln!(
        page,
        "## Time to a rollback\n\nThe canary is worse; {rollouts} rollouts a cell. The share that is rolled back within 30 minutes (E* ≥ 20) and \
         the median of seconds over all of them, independent / few users, by weight. `–`: not half of them.\n"
    );
    let weights = WEIGHTS.map(|weight| format!("{:.0} %", weight * 100.0)).join(" | ");
    let _ = writeln!(
        page,
        "| requests/s, stable, canary | {weights} |\n| --- |{}",
        " --- |".repeat(WEIGHTS.len())
    );
    for row in rows {
        let Scenario { requests_per_second, stable_rate, canary_rate, .. } = row.scenario;
        let cells = row.alarms.iter().map(|both| both.each_ref().map(delay).join(" / "));
        let cells = cells.collect::<Vec<_>>().join(" | ");
        let (stable, canary) = (stable_rate * 100.0, canary_rate * 100.0);
        let _ = writeln!(page, "| {requests_per_second}, {stable} %, {canary} % | {cells} |");
    }
    page.push('\n');
}

fn delay(alarms: &Alarms) -> String {
    let median = alarms.median().map_or_else(|| "–".to_owned(), |seconds| format!("{seconds} s"));
    format!("{} {median}", percent(alarms.share_by(HALF_HOUR)))
}

/// Rows of the table of false alarms with the figures of that study.
const STUDY: [(usize, &str); 5] = [
    (0, "19 %, 0.4 %, 0.2 %, 99.8 %"),
    (1, "43 %, 22 %, 0.9 %, 71 %"),
    (2, "–, –, 2.1 %, –"),
    (3, "20 %, 10 %, 0.3 %, 6 %"),
    (4, "–, 9.9 %, 0.5 %, 13 %"),
];

/// The figures of the study after which the test was built, beside those of this one.
fn compared(page: &mut String, results: &Results) {
    let _ = writeln!(
        page,
        "## Beside the study before\n\nThe test was chosen by a simulation that is not part of this repository. Its users were of another make \
         (how long their sessions were is not known), so figures for clustered users need not agree. False alarms within 30 minutes:\n\n\
         | row | study: z-test, without groups, E*, Flagger | here |\n| --- | --- | --- |"
    );
    for (index, study) in STUDY {
        let Some(row) = results.false_alarms.get(index) else { continue };
        let [z_test, fixed, without, _, rollback] =
            row.alarms.each_ref().map(|alarms| percent(alarms.share_by(HALF_HOUR)));
        let _ = writeln!(
            page,
            "| {} | {study} | {z_test}, {without}, {rollback}, {fixed} |",
            described(row.scenario)
        );
    }
    page.push_str(NOT_REPRODUCED);
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
