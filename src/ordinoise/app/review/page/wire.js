// Requests to the server, and the queue of writes that it has not confirmed yet.

const meta = document.querySelector('meta[name="review-csrf"]');

/** An error response of the server: final (a retry will not help) or temporary. */
export class Refusal extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
    this.isFinal = status >= 400 && status < 500 && status !== 403 && status !== 408 && status !== 429;
  }
}

export async function get(path) {
  return answered(await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(15000) }));
}

export async function post(path, body) {
  const headers = { "Content-Type": "application/json", [meta.dataset.header]: meta.content };
  const options = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(30000) };
  return answered(await fetch(path, options));
}

async function answered(response) {
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, answer.error ?? `the server responded with status ${response.status}`);
  return answer;
}

/** Writes in order. Each has a key, so that the server stores it once even if it is sent twice, and stays in the
 *  browser's storage until it is confirmed: a reload or a stopped server loses nothing. */
export class Queue {
  constructor(subject, { onSaved, onWaiting, onRefused }) {
    this.prefix = `ordinoise-pending:${subject}:`;
    this.listeners = { onSaved, onWaiting, onRefused };
    this.entries = this.#leftOver();
    this.isSending = false;
    this.trouble = null;
    this.wake = () => {};
  }

  add(action, body) {
    const key = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2) + Date.now();
    // Later than the entry before it, even if the clock was set back: a reload sends them in this order.
    const at = Math.max(Date.now(), (this.entries.at(-1)?.at ?? 0) + 1);
    const entry = { action, body: { ...body, key }, at };
    this.entries.push(entry);
    this.#keep(entry);
    this.send();
  }

  /** The last decision about a row that is not saved yet. */
  decisionOn(row) {
    return this.entries.findLast((entry) => entry.action === "decide" && entry.body.row === row);
  }

  noteOn(row, reviewer) {
    const isIt = ({ action, body }) => action === "note" && body.row === row && body.reviewer === reviewer;
    return this.entries.findLast(isIt)?.body.note;
  }

  /** Retry now instead of after the pause. */
  hurry() {
    this.wake();
  }

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    for (let pause = 400; this.entries.length; ) {
      const entry = this.entries[0];
      try {
        const answer = await post(`/api/${entry.action}`, entry.body);
        this.#drop(entry);
        this.trouble = null;
        pause = 400;
        this.listeners.onSaved(entry, answer);
      } catch (error) {
        if (error instanceof Refusal && error.isFinal) {
          this.#drop(entry);
          this.listeners.onRefused(entry, error);
          continue;
        }
        this.trouble = error;
        this.listeners.onWaiting(error);
        await new Promise((resolve) => {
          this.wake = resolve;
          setTimeout(resolve, pause);
        });
        pause = Math.min(2 * pause, 4000);
      }
    }
    this.isSending = false;
  }

  #keep(entry) {
    try {
      localStorage.setItem(this.prefix + entry.body.key, JSON.stringify(entry));
    } catch {
      // Without storage, the queue is lost with the tab.
    }
  }

  #drop(entry) {
    this.entries.shift();
    try {
      localStorage.removeItem(this.prefix + entry.body.key);
    } catch {
      // as above
    }
  }

  #leftOver() {
    try {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.prefix));
      return keys.map((key) => JSON.parse(localStorage.getItem(key))).sort((one, other) => one.at - other.at);
    } catch {
      return [];
    }
  }
}
