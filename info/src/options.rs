//! The command line: the letters are those of upstream's `ucx_info` 1.22, so that scripts find what they know.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::doctor;
use crate::process;
use clap::{ArgAction, Parser, Subcommand, ValueEnum};

#[derive(Parser)]
#[command(
    about = "Says what the installed UCX libraries are, what they can do here, and why not more",
    disable_help_flag = true,
    args_conflicts_with_subcommands = true
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Version, commit and file of the library
    #[arg(short = 'v')]
    pub version: bool,
    /// Memory domains, transports and devices
    #[arg(short = 'd')]
    pub devices: bool,
    /// How the library was built
    #[arg(short = 'b')]
    pub build: bool,
    /// Sizes of the types of the C interface
    #[arg(short = 'y')]
    pub types: bool,
    /// Processor, clock and machine
    #[arg(short = 's')]
    pub system: bool,
    /// Variables with their values
    #[arg(short = 'c')]
    pub config: bool,
    /// Values that are the default as comments
    #[arg(short = 'C')]
    pub comment_defaults: bool,
    /// Only variables whose name contains TEXT
    #[arg(short = 'F', value_name = "TEXT")]
    pub filter: Option<String>,
    /// Deprecated variables and second names too
    #[arg(short = 'a')]
    pub hidden: bool,
    /// Variables with their meaning and syntax: the text of a ucx.conf
    #[arg(short = 'f')]
    pub decorated: bool,
    /// A context: components, domains, devices (needs -u)
    #[arg(short = 'p')]
    pub context: bool,
    /// A worker (needs -u)
    #[arg(short = 'w')]
    pub worker: bool,
    /// An endpoint: its lanes, and how messages of each length go (needs -u)
    #[arg(short = 'e')]
    pub endpoint: bool,
    /// How SIZE bytes of memory are allocated (needs -u)
    #[arg(short = 'm', value_name = "SIZE[,TYPE]")]
    pub memory: Option<String>,
    /// Features of the context: a (atomics), r (remote memory), t (tags), s (streams), m (active messages), x (exported
    /// memory), d (device); with w (wakeup) and e (error handling of endpoints)
    #[arg(short = 'u', value_name = "FEATURES", value_parser = parse_features)]
    pub features: Option<Features>,
    /// Only devices of this transport, with -d
    #[arg(short = 't', value_name = "NAME")]
    pub transport: Option<String>,
    /// Expected number of endpoints
    #[arg(short = 'n', value_name = "COUNT")]
    pub endpoints: Option<usize>,
    /// Expected number of endpoints to this host
    #[arg(short = 'N', value_name = "COUNT")]
    pub endpoints_of_host: Option<usize>,
    /// Devices of the context
    #[arg(short = 'D', value_name = "KIND", default_value = "all")]
    pub kind: DeviceKind,
    /// Where the endpoint's peer is
    #[arg(short = 'P', value_name = "PLACE", default_value = "self")]
    pub place: Place,
    /// Connect the endpoint through a listener on this address of the host
    #[arg(short = 'A', value_name = "ADDRESS")]
    pub address: Option<String>,
    /// The address of -A is an IPv6 address
    #[arg(short = '6', requires = "address")]
    pub ipv6: bool,
    /// Devices and their distances
    #[arg(short = 'T')]
    pub topology: bool,
    /// Bandwidth of copies within memory
    #[arg(short = 'M')]
    pub copies: bool,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
    /// This text
    #[arg(short = 'h', long, global = true, action = ArgAction::Help)]
    help: (),
}

#[derive(Subcommand)]
pub enum Command {
    /// What works here for this user, what does not and why, and how messages to peers go; exit status 0 when peers in this
    /// process, on this host and on others can be reached
    Doctor(doctor::Arguments),
    /// What a process of this user does and waits for: workers, endpoints, pending requests, counters. It has to run with
    /// UCX_INFO_SOCKET=y
    Dump(process::DumpArguments),
    /// What the workers of a process send per second, a line each
    Top(process::TopArguments),
}

/// Of a context, and of the endpoints made in it.
#[derive(Clone, Copy)]
pub struct Features {
    pub bits: u64,
    pub error_handling: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum DeviceKind {
    All,
    Shm,
    Net,
    #[value(name = "self")]
    Loopback,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Place {
    #[value(name = "self")]
    Loopback,
    Intra,
    Inter,
}

fn parse_features(text: &str) -> Result<Features, String> {
    let mut features = Features {
        bits: 0,
        error_handling: false,
    };
    for letter in text.chars() {
        features.bits |= u64::from(match letter {
            'a' => UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
            'r' => UCP_FEATURE_RMA,
            't' => UCP_FEATURE_TAG,
            's' => UCP_FEATURE_STREAM,
            'm' => UCP_FEATURE_AM,
            'x' => UCP_FEATURE_EXPORTED_MEMH,
            'd' => UCP_FEATURE_DEVICE,
            'w' => UCP_FEATURE_WAKEUP,
            'e' => {
                features.error_handling = true;
                0
            }
            other => return Err(format!("no feature has the letter '{other}'")),
        });
    }
    Ok(features)
}

impl Options {
    /// Whether a context has to be made for what is asked.
    pub fn asks_for_ucp(&self) -> bool {
        self.context || self.worker || self.endpoint || self.memory.is_some()
    }

    /// -C and -a change how variables are printed, and are something to do by themselves as in upstream.
    pub fn asks_for_something(&self) -> bool {
        let reports = [
            self.version,
            self.devices,
            self.build,
            self.types,
            self.system,
            self.topology,
            self.copies,
            self.config,
            self.decorated,
            self.hidden,
            self.comment_defaults,
        ];
        self.asks_for_ucp() || reports.contains(&true)
    }

    /// Streams alone are no feature that upstream's tool takes.
    pub fn features_are_missing(&self) -> bool {
        let enough = UCP_FEATURE_AMO32 | UCP_FEATURE_RMA | UCP_FEATURE_TAG | UCP_FEATURE_AM;
        let given = self.features.map_or(0, |features| features.bits);
        self.asks_for_ucp() && given & u64::from(enough) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(std::iter::once("ucx_info").chain(words.split(' ')))
    }

    #[test]
    fn letters_may_stand_together_as_getopt_takes_them() {
        let options = parsed("-pwe -utarme -Dshm -P intra -n4").expect("parses");
        assert!(options.context && options.worker && options.endpoint);
        assert!(options.kind == DeviceKind::Shm && options.place == Place::Intra);
        assert_eq!(options.endpoints, Some(4));
        assert!(
            options
                .features
                .is_some_and(|features| features.error_handling)
        );
        assert!(!options.features_are_missing());
    }

    #[test]
    fn what_upstream_refuses_is_refused() {
        for words in ["-u q -p", "-D foo -e -ut", "-P foo -e -ut", "-Q", "-n x"] {
            assert!(parsed(words).is_err(), "{words}");
        }
        for words in ["-e", "-u s -e", "-u w -e", "-m 1m"] {
            assert!(
                parsed(words).is_ok_and(|options| options.features_are_missing()),
                "{words}"
            );
        }
        for words in ["-n 4", "-t tcp", "-u t"] {
            assert!(
                parsed(words).is_ok_and(|options| !options.asks_for_something()),
                "{words}"
            );
        }
    }
}
