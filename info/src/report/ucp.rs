//! `-p`, `-w`, `-e`, `-m`: a context, a worker, an endpoint and memory, made for the purpose and described by the library.
#![forbid(unsafe_code)]

use super::Report;
use crate::library::system::page_size;
use crate::library::{Context, ContextParams, Endpoint, Failed, Library, Result, Worker};
use crate::options::{DeviceKind, Options, Place};
use serde_json::{Map, Value, json};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

/// The text of each thing described, by its member's name.
type Parts = Vec<(&'static str, String)>;

pub fn report(library: &Library, options: &Options) -> Result<Report> {
    let mut parts = Parts::new();
    let variables = variables(options);
    let params = ContextParams {
        features: options.features.map_or(0, |features| features.bits),
        endpoints: options.endpoints,
        endpoints_of_host: options.endpoints_of_host,
        variables: &variables,
    };
    let measured = Cost::now();
    let context = Context::new(library, &params)?;
    let taken = measured.taken();
    if let Some(size) = &options.memory {
        parts.push(("memory", context.describe_memory(size)));
    }
    if options.context {
        parts.push(("context", context.describe() + &taken));
    }
    if options.worker || options.endpoint {
        let measured = Cost::now();
        let worker = context.worker()?;
        let taken = measured.taken();
        if options.worker {
            parts.push(("worker", worker.describe() + &taken));
        }
        if options.endpoint {
            parts.push(("endpoint", endpoint(library, &worker, options, &params)?));
        }
    }
    let json = parts
        .iter()
        .map(|(name, text)| ((*name).to_owned(), in_json(text)));
    Ok(Report {
        name: "ucp",
        json: json.collect::<Map<_, _>>().into(),
        text: parts.into_iter().map(|(_, text)| text).collect(),
    })
}

/// The devices that a context does without, as variables.
fn without(kinds: &[(bool, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let left_out = kinds.iter().filter(|(kept, _)| !kept);
    left_out.map(|(_, name)| (*name, "")).collect()
}

fn variables(options: &Options) -> Vec<(&'static str, &'static str)> {
    let kind = |wanted| options.kind == DeviceKind::All || options.kind == wanted;
    without(&[
        (kind(DeviceKind::Net), "NET_DEVICES"),
        (kind(DeviceKind::Shm), "SHM_DEVICES"),
        (kind(DeviceKind::Loopback), "SELF_DEVICES"),
    ])
}

/// A peer of this process stands for one elsewhere: it is without the devices that would not reach it there.
fn elsewhere(place: Place) -> Vec<(&'static str, &'static str)> {
    without(&[
        (place != Place::Inter, "SHM_DEVICES"),
        (place == Place::Loopback, "SELF_DEVICES"),
    ])
}

fn endpoint(
    library: &Library,
    worker: &Worker,
    options: &Options,
    params: &ContextParams,
) -> Result<String> {
    let errors = options
        .features
        .is_some_and(|features| features.error_handling);
    if options.address.is_some() {
        return by_listener(worker, options, errors);
    }
    if options.place == Place::Loopback {
        return described(worker.connect(worker, errors)?, &mut || {});
    }
    let variables = elsewhere(options.place);
    let context = Context::new(
        library,
        &ContextParams {
            variables: &variables,
            ..*params
        },
    )?;
    let peer = context.worker()?;
    described(worker.connect(&peer, errors)?, &mut || peer.progress())
}

/// Describes it once it is connected, and closes it.
fn described(endpoint: Endpoint, step: &mut dyn FnMut()) -> Result<String> {
    endpoint.flush(step)?;
    let text = endpoint.describe();
    endpoint.close(step)?;
    Ok(text)
}

/// Connects the worker to itself through a listener.
fn by_listener(worker: &Worker, options: &Options, errors: bool) -> Result<String> {
    let text = options.address.as_deref().unwrap_or_default();
    let failed = |why: String| Failed {
        call: "the address of -A",
        why,
    };
    let address: IpAddr = text.parse().map_err(|e| failed(format!("'{text}': {e}")))?;
    if address.is_ipv6() != options.ipv6 {
        return Err(failed(format!(
            "'{text}' is of the other family: IPv6 goes with -6"
        )));
    }
    let listener = worker.listen(&SocketAddr::new(address, 0))?;
    let client = worker.connect_to(&listener.address()?, errors)?;
    let until = Instant::now() + PATIENCE;
    let server = loop {
        worker.progress();
        match listener.accept(errors) {
            Some(server) => break server?,
            None if Instant::now() > until => {
                return Err(failed(format!(
                    "no connection to {text} within {} s",
                    PATIENCE.as_secs()
                )));
            }
            None => {}
        }
    };
    client.flush(&mut || {})?;
    let text = client.describe();
    client.close(&mut || {})?;
    // Its client is gone by now, which may be what closing it ends with.
    let _ = server.close(&mut || {});
    Ok(text)
}

/// What the process has, to tell what something took.
struct Cost {
    started: Instant,
    memory: u64,
    descriptors: usize,
}

impl Cost {
    fn now() -> Cost {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages = status
            .split(' ')
            .nth(1)
            .and_then(|pages| pages.parse().ok());
        let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        Cost {
            memory: pages.unwrap_or(0) * page_size(),
            descriptors,
            started: Instant::now(),
        }
    }

    /// The lines behind a description.
    fn taken(&self) -> String {
        let time = self.started.elapsed();
        let now = Cost::now();
        format!(
            "# memory: {:.2}MB, file descriptors: {}\n# create time: {:.3} ms\n#\n",
            now.memory.saturating_sub(self.memory) as f64 / 1048576.0,
            now.descriptors.saturating_sub(self.descriptors),
            time.as_secs_f64() * 1e3
        )
    }
}

/// What a description says, by its lines: those with a colon as members, lanes, domains and resources as lists, and the
/// tables of protocols with their ranges.
fn in_json(text: &str) -> Value {
    let mut json = Map::new();
    let mut lists: Map<String, Value> = Map::new();
    let mut tables = Vec::<Value>::new();
    let mut titles = Vec::<&str>::new();
    for line in text.lines() {
        let line = line.trim_start_matches('#').trim();
        if line.starts_with("+-") {
            // The titles of a table stand between its first two lines.
            if !titles.is_empty() && !titles[0].contains('|') {
                tables.push(json!({ "operation": titles.join(" "), "ranges": [] }));
            }
            titles.clear();
        } else if let Some(row) = line.strip_prefix('|') {
            let cells: Vec<&str> = row
                .trim_end_matches('|')
                .split('|')
                .map(str::trim)
                .collect();
            match cells[..] {
                ["Range", ..] => {}
                [range, how, by] => {
                    let range = json!({ "bytes": range, "description": how, "transports": by });
                    if let Some(Value::Array(ranges)) =
                        tables.last_mut().map(|table| &mut table["ranges"])
                    {
                        ranges.push(range);
                    }
                }
                // The first names the endpoint, the second the operation.
                [title] => titles.push(title),
                _ => {}
            }
        } else if let Some((name, value)) = line.split_once(':') {
            let (name, value) = (name.trim(), value.trim());
            match name.split_once(['[', ' ']) {
                Some((kind @ ("lane" | "component" | "md" | "resource"), _)) => {
                    let list = lists.entry(format!("{kind}s")).or_insert_with(|| json!([]));
                    list.as_array_mut()
                        .into_iter()
                        .for_each(|list| list.push(json!(value)));
                }
                _ => drop(json.insert(name.replace(' ', "_"), json!(value))),
            }
        }
    }
    json.extend(lists);
    if !tables.is_empty() {
        json.insert("protocols".to_owned(), tables.into());
    }
    json.insert("text".to_owned(), json!(text));
    json.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_and_ranges_are_lists() {
        let text = "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n\
            #                 lane[0]:  0:self/memory.0 md[0] -> md[0]/self am\n#\n\
            # +----+-----+---+\n# | ucx_info self cfg#0 |\n# | tagged message |\n# +----+-----+---+\n\
            # | Range | Description | Config |\n# +----+-----+---+\n# | 0..8184 | eager short | self/memory |\n\
            # +----+-----+---+\n";
        let json = in_json(text);
        assert_eq!(json["lanes"][0], "0:self/memory.0 md[0] -> md[0]/self am");
        let table = &json["protocols"][0];
        assert_eq!(table["operation"], "ucx_info self cfg#0 tagged message");
        assert_eq!(table["ranges"][0]["bytes"], "0..8184");
    }
}
