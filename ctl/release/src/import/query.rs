//! Queries with the variables of the peers, in Go's or Argo's templates, as queries with ours.

/// A query that has no form here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownVariable(pub(super) String);

/// The variable of the version.
pub(super) const VERSION: &str = "{{ version }}";

/// The query with the value of each variable, on one line unless it has comments.
pub(super) fn replace_variables(
    query: &str,
    value_of: impl Fn(&str) -> Option<String>,
) -> Result<String, UnknownVariable> {
    let mut filled = String::new();
    let mut rest = query;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or_else(|| UnknownVariable(first_word(after)))?;
        // Go trims the space beside `{{-` and `-}}`.
        let name = name.trim_start_matches('-').trim_end_matches('-').trim();
        filled.push_str(before);
        filled.push_str(&value_of(name).ok_or_else(|| UnknownVariable(name.to_owned()))?);
        rest = after;
    }
    filled.push_str(rest);
    if filled.contains('#') {
        return Ok(filled.trim().to_owned());
    }
    Ok(filled.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// The labels by which Istio names the Service of a request.
const SERVICE_LABELS: [&str; 3] =
    ["destination_service_name", "destination_service", "destination_canonical_service"];

/// The query with our Service and version in the place of the Service that a peer has made for the canary: requests go to one Service here.
pub(super) fn replace_service(query: &str, canary_service: &str) -> String {
    let mut text = query.to_owned();
    for label in SERVICE_LABELS {
        let mut from = 0;
        while let Some(found) = text.get(from..).and_then(|rest| rest.find(label)) {
            let start = from + found;
            from = start + label.len();
            let Some(end) = end_of_matcher(&text, from, canary_service) else { continue };
            let ours =
                format!("destination_service_name=\"{{{{ service }}}}\",destination_version=\"{VERSION}\"");
            text.replace_range(start..end, &ours);
            from = start + ours.len();
        }
    }
    text
}

/// The end of `="value"` or `=~"value"` if the value is that Service, as a name, a host or an expression that begins with it.
fn end_of_matcher(text: &str, label_end: usize, service: &str) -> Option<usize> {
    let rest = text.get(label_end..)?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start_matches('~').trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (inner, behind) = value.get(1..)?.split_once(quote)?;
    let is_host = |rest: &str| rest.is_empty() || rest.starts_with(['.', '\\']);
    inner.strip_prefix(service).is_some_and(is_host).then(|| text.len() - behind.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_with_and_without_the_marks_that_trim() {
        let value = |name: &str| (name == "target").then(|| "web".to_owned());
        assert_eq!(
            replace_variables("up{a=\"{{ target }}\",\n  b=\"{{- target -}}\"}", value).unwrap(),
            "up{a=\"web\", b=\"web\"}"
        );
        let unknown = |query| replace_variables(query, value).unwrap_err().0;
        assert_eq!(unknown("up{a=\"{{ index variables \"x\" }}\"}"), "index variables \"x\"");
        assert_eq!(unknown("up{a=\"{{ target"), "target");
    }

    #[test]
    fn the_service_of_the_canary_is_ours_with_the_version_and_other_services_stay() {
        let ours = "destination_service_name=\"{{ service }}\",destination_version=\"{{ version }}\"";
        for (query, expected) in [
            ("x{destination_service=~\"web-canary.shop.svc.cluster.local\"}", format!("x{{{ours}}}")),
            ("x{destination_service_name = 'web-canary',a=\"b\"}", format!("x{{{ours},a=\"b\"}}")),
            (
                "x{destination_service_name=\"web-canary-2\"}",
                "x{destination_service_name=\"web-canary-2\"}".to_owned(),
            ),
            ("x{destination_service!~\"web-canary\"}", "x{destination_service!~\"web-canary\"}".to_owned()),
        ] {
            assert_eq!(replace_service(query, "web-canary"), expected);
        }
    }
}
