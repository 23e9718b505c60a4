#!/usr/bin/env node
// The gambler's problem (Sutton & Barto 2018, Example 4.3): bet on a coin until the
// capital is gone or the goal is reached.
import { Failure, serve } from './rlrun.js';

// random returns a generator of numbers in [0,1): sfc32, seeded with 64 bits.
function random(seed) {
  let a = Number(seed & 0xffffffffn) | 0, b = Number(seed >> 32n) | 0, c = 0x9e3779b9 | 0, d = 1;
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}

class Gambler {
  constructor({ goal = 100, heads = 0.4 }) {
    if (!(Number.isInteger(goal) && goal >= 2 && goal <= 1e6 && heads >= 0 && heads <= 1)) {
      throw new Failure('CODE_INVALID_PARAMS', `goal is ${goal}, must be in [2,1000000]; heads is ${heads}, must be in [0,1]`);
    }
    Object.assign(this, { goal, heads });
  }

  // The observation is the capital; action k bets k+1, as far as there is capital
  // and need. The reward is 1 for reaching the goal.
  get spec() {
    return {
      observation: { n: this.goal + 1 }, action: { n: Math.floor(this.goal / 2) }, rewardLow: 0, rewardHigh: 1, continuing: false,
    };
  }

  reset(seed) {
    this.random = random(seed);
    this.capital = Math.floor(this.goal / 2);
    return this.capital;
  }

  bet(capital, action) {
    return Math.min(action + 1, capital, this.goal - capital);
  }

  step(action) {
    const bet = this.bet(this.capital, action);
    this.capital += this.random() < this.heads ? bet : -bet;
    const won = this.capital === this.goal;
    return { observation: this.capital, reward: won ? 1 : 0, terminated: won || this.capital === 0 };
  }

  // The model lets the host compute the optimum and the regret.
  model() {
    const S = this.goal + 1, A = this.spec.action.n, transitions = [], rewards = [];
    for (let s = 1; s < this.goal; s++) {
      for (let a = 0; a < A; a++) {
        const bet = this.bet(s, a);
        if (this.heads > 0) transitions.push([s, a, s + bet, this.heads]);
        if (this.heads < 1) transitions.push([s, a, s - bet, 1 - this.heads]);
        if (s + bet === this.goal) rewards.push([s, a, this.heads]);
      }
    }
    return { S, A, transitions, rewards, initial: [[Math.floor(this.goal / 2), 1]], terminal: [0, this.goal] };
  }
}

serve({
  id: 'example/gambler@1',
  doc: "The gambler's problem (Sutton & Barto 2018, Example 4.3): bet on a coin until the capital is gone or the goal is reached.",
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      goal: { type: 'integer', minimum: 2, maximum: 1000000, default: 100, description: 'Capital at which the gambler stops.' },
      heads: { type: 'number', minimum: 0, maximum: 1, default: 0.4, description: 'Probability that a bet is won.' },
    },
  },
  Environment: Gambler,
});
