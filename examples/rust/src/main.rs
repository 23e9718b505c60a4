//! The gambler's problem (Sutton & Barto 2018, Example 4.3): bet on a coin until the
//! capital is gone or the goal is reached. rlrun.rs is the protocol.
mod rlrun;

use rlrun::pb::Code;
use rlrun::{Environment, Failure, Outcome, Plugin};
use serde_json::{Value, json};

struct Gambler {
    goal: i64,
    heads: f64,
    capital: i64,
    stream: u64,
}

impl Gambler {
    /// Returns a number in [0, 1): SplitMix64.
    fn random(&mut self) -> f64 {
        self.stream = self.stream.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.stream;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Environment for Gambler {
    fn new(params: &Value) -> Result<Self, Failure> {
        // A value that does not fit is refused, and does not become the default.
        let goal = params.get("goal").map_or(Some(100), Value::as_i64);
        let heads = params.get("heads").map_or(Some(0.4), Value::as_f64);
        let (Some(goal @ 2..=1_000_000), Some(heads @ 0.0..=1.0)) = (goal, heads) else {
            let text = format!("goal must be in [2,1000000] and heads in [0,1], not {params}");
            return Err(Failure::new(Code::InvalidParams, text));
        };
        Ok(Gambler {
            goal,
            heads,
            capital: 0,
            stream: 0,
        })
    }

    // The observation is the capital; action k bets k+1, as far as there is capital and
    // need. The reward is 1 for reaching the goal.
    fn sizes(&self) -> (i64, i64) {
        (self.goal + 1, self.goal / 2)
    }

    fn rewards(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn reset(&mut self, seed: u64) -> i64 {
        self.stream = seed;
        self.capital = self.goal / 2;
        self.capital
    }

    fn step(&mut self, action: i64) -> Outcome {
        let bet = (action + 1).min(self.capital).min(self.goal - self.capital);
        self.capital += if self.random() < self.heads {
            bet
        } else {
            -bet
        };
        let won = self.capital == self.goal;
        Outcome {
            observation: self.capital,
            reward: f64::from(u8::from(won)),
            terminated: won || self.capital == 0,
            truncated: false,
        }
    }
}

fn main() {
    rlrun::serve::<Gambler>(Plugin {
        id: "example/gambler-rust@1",
        doc: "The gambler's problem (Sutton & Barto 2018, Example 4.3): bet on a coin until the capital is gone or the goal is reached.",
        params: json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "goal": {"type": "integer", "minimum": 2, "maximum": 1000000, "default": 100, "description": "Capital at which the gambler stops."},
                "heads": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.4, "description": "Probability that a bet is won."}
            }
        }),
    });
}
