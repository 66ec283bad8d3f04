//! iceoryx2 between two processes of one host.
//!
//!     iceoryx latency BYTES COUNT    half a round trip of samples that both publish
//!     iceoryx request BYTES COUNT    half a round trip of a request and its response
//!     iceoryx rate BYTES COUNT       samples one way
//!
//! A sender copies its bytes into the sample, a receiver reads it in place. Both wait by polling, each on a processor of
//! its own. Prints "each US": microseconds for one message one way.

use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory as Topic;
use iceoryx2::service::port_factory::request_response::PortFactory as Service;
use std::error::Error;
use std::hint::{black_box, spin_loop};
use std::process::Command;
use std::time::Instant;

type Done<T> = Result<T, Box<dyn Error>>;

/// Samples on their way at most, one way.
const DEPTH: usize = 64;

/// Keeps the process on the n-th of the processors that it may use.
fn pin(n: usize) {
    // SAFETY: sets of processors are plain data, and the calls read or write the one they are given.
    unsafe {
        let mut may: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&may), &mut may);
        let n = n % libc::CPU_COUNT(&may) as usize;
        let mut usable = (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &may));
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(usable.nth(n).expect("a processor"), &mut one);
        libc::sched_setaffinity(0, size_of_val(&one), &one);
    }
}

/// What one process publishes and the other reads.
fn topic(node: &Node<ipc::Service>, name: &str) -> Done<Topic<ipc::Service, [u8], ()>> {
    Ok(node
        .service_builder(&name.try_into()?)
        .publish_subscribe::<[u8]>()
        .max_publishers(1)
        .max_subscribers(1)
        .history_size(0)
        .subscriber_max_buffer_size(DEPTH)
        .enable_safe_overflow(false)
        .open_or_create()?)
}

fn service(
    node: &Node<ipc::Service>,
    name: &str,
) -> Done<Service<ipc::Service, [u8], (), [u8], ()>> {
    Ok(node
        .service_builder(&name.try_into()?)
        .request_response::<[u8], [u8]>()
        .max_clients(1)
        .max_servers(1)
        .open_or_create()?)
}

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        spin_loop();
    }
}

/// Publishes and reads in turns, or one way; the first process times it.
fn publish(is_first: bool, in_turns: bool, name: &str, bytes: &[u8], count: usize) -> Done<f64> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let there = topic(&node, &format!("{name} there"))?;
    let back = topic(&node, &format!("{name} back"))?;
    let (out, into) = if is_first {
        (&there, &back)
    } else {
        (&back, &there)
    };
    let publisher = out
        .publisher_builder()
        .initial_max_slice_len(bytes.len())
        .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
        .create()?;
    let subscriber = into.subscriber_builder().create()?;
    until(|| {
        out.dynamic_config().number_of_subscribers() == 1
            && into.dynamic_config().number_of_publishers() == 1
    });
    let send = || -> Done<()> {
        publisher
            .loan_slice_uninit(bytes.len())?
            .write_from_slice(bytes)
            .send()?;
        Ok(())
    };
    let receive = || -> Done<()> {
        loop {
            if let Some(sample) = subscriber.receive()? {
                black_box(sample.payload());
                return Ok(());
            }
            spin_loop();
        }
    };
    let mut start = Instant::now();
    for i in 0..count + count / 10 {
        if i == count / 10 {
            start = Instant::now();
        }
        if is_first {
            send()?;
        }
        if in_turns || !is_first {
            receive()?;
        }
        if in_turns && !is_first {
            send()?;
        }
    }
    // The last of them is there when the other says so.
    if !in_turns && is_first {
        receive()?;
    } else if !in_turns {
        send()?;
    }
    let spent = start.elapsed().as_secs_f64() * 1e6 / count as f64;
    if !is_first {
        until(|| there.dynamic_config().number_of_publishers() == 0);
    }
    Ok(if in_turns { spent / 2.0 } else { spent })
}

/// Requests of the first process, responses of the second.
fn request(is_first: bool, name: &str, bytes: &[u8], count: usize) -> Done<f64> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let service = service(&node, name)?;
    let (size, total) = (bytes.len(), count + count / 10);
    if !is_first {
        let server = service
            .server_builder()
            .initial_max_slice_len(size)
            .create()?;
        let mut answered = 0;
        while answered < total {
            if let Some(request) = server.receive()? {
                black_box(request.payload());
                request
                    .loan_slice_uninit(size)?
                    .write_from_slice(bytes)
                    .send()?;
                answered += 1;
            } else {
                spin_loop();
            }
        }
        until(|| service.dynamic_config().number_of_clients() == 0);
        return Ok(0.0);
    }
    let client = service
        .client_builder()
        .initial_max_slice_len(size)
        .create()?;
    until(|| service.dynamic_config().number_of_servers() == 1);
    let mut start = Instant::now();
    for i in 0..total {
        if i == count / 10 {
            start = Instant::now();
        }
        let pending = client
            .loan_slice_uninit(size)?
            .write_from_slice(bytes)
            .send()?;
        let response = loop {
            if let Some(response) = pending.receive()? {
                break response;
            }
            spin_loop();
        };
        black_box(response.payload());
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / count as f64 / 2.0)
}

fn main() -> Done<()> {
    set_log_level(LogLevel::Error);
    let words: Vec<String> = std::env::args().collect();
    let [program, what, size, count, rest @ ..] = &words[..] else {
        return Err("iceoryx latency|request|rate BYTES COUNT".into());
    };
    let (bytes, rounds) = (vec![1u8; size.parse()?], count.parse()?);
    let is_first = rest.is_empty();
    let name = rest
        .first()
        .cloned()
        .unwrap_or_else(|| format!("bench {}", std::process::id()));
    let child = if is_first {
        Some(
            Command::new(program)
                .args([what, size, count, &name])
                .spawn()?,
        )
    } else {
        None
    };
    pin(usize::from(!is_first));
    let each = match what.as_str() {
        "request" => request(is_first, &name, &bytes, rounds)?,
        _ => publish(is_first, what == "latency", &name, &bytes, rounds)?,
    };
    if let Some(mut child) = child {
        child.wait()?;
        println!("each {each:.4}");
    }
    Ok(())
}
