// The rows: their states, the filter, and which row comes next.

const OPEN = { status: "open", grade: null, reviewer: null, grades: [], is_disputed: false, notes: [] };

export class Model {
  constructor(audit) {
    this.audit = audit;
    this.items = audit.items;
    this.byRow = new Map(this.items.map((item) => [item.row, item]));
    this.states = new Map();
    this.last = 0;
    this.reviewer = "";
    this.filter = { status: "all", grade: "", text: "" };
    this.isPending = () => false;
    this.learn(audit);
    this.view = this.items.map((item) => item.row);
    this.current = null;
  }

  /** Update states from an answer of the server. */
  learn({ states = [], last = this.last, certificates = this.certificates ?? [] }) {
    this.certificates = certificates;
    for (const state of states) this.states.set(state.row, state);
    this.last = Math.max(this.last, last);
  }

  get noun() {
    return this.audit.is_ratings ? "item" : "row";
  }

  /** What a row is called: an item has a name of its own. */
  title(row) {
    return this.audit.is_ratings ? `Item ${this.byRow.get(row)?.item ?? row}` : (this.byRow.get(row)?.title ?? `Row ${row}`);
  }

  state(row) {
    return this.states.get(row) ?? OPEN;
  }

  /** What the reviewer decided about a row: a grade, null for a skip, undefined for nothing. */
  mine(row) {
    return this.state(row).grades.find(([name]) => name === this.reviewer)?.[1];
  }

  myNote(row) {
    return this.state(row).notes.find(([name]) => name === this.reviewer)?.[1] ?? "";
  }

  counts() {
    const counts = { open: 0, settled: 0, skipped: 0, disputed: 0, changed: 0, kept: 0, checked: 0 };
    for (const item of this.items) {
      const state = this.state(item.row);
      counts[state.status] += 1;
      counts.disputed += state.is_disputed;
      if (state.status === "settled") counts[item.is_blind ? "checked" : state.grade === item.recorded ? "kept" : "changed"] += 1;
    }
    return counts;
  }

  /** Apply the filter. Rows stay in view until the filter changes, even if a decision changes their state. */
  look() {
    this.view = this.items.filter((item) => this.#fits(item)).map((item) => item.row);
    if (!this.view.includes(this.current)) this.current = this.view[0] ?? null;
  }

  #fits(item) {
    const { status, grade, text } = this.filter;
    const state = this.state(item.row);
    if (grade && item.recorded !== grade) return false;
    if (status === "unseen" && this.mine(item.row) !== undefined) return false;
    if (status === "disputed" && !state.is_disputed) return false;
    if (["open", "settled", "skipped"].includes(status) && state.status !== status) return false;
    const wanted = text.trim().toLowerCase();
    if (!wanted) return true;
    const words = [...item.cells, String(item.row), item.title ?? null, item.item ?? null, ...(item.raters ?? []), ...state.notes.map(([, note]) => note)];
    return words.some((cell) => cell !== null && cell.toLowerCase().includes(wanted));
  }

  /** Whether a row still needs a decision: of this reviewer if the filter says so, of anybody otherwise. */
  awaits(row) {
    if (this.isPending(row)) return false;
    if (this.filter.status === "unseen") return this.mine(row) === undefined;
    return this.state(row).status === "open";
  }

  /** The row to go to after a decision; null when all are decided. */
  following() {
    const place = this.view.indexOf(this.current);
    const looksBack = ["settled", "skipped", "disputed"].includes(this.filter.status);
    if (looksBack) return this.view[place + 1] ?? null;
    const ahead = [...this.view.slice(place + 1), ...this.view.slice(0, place + 1)];
    return ahead.find((row) => this.awaits(row)) ?? null;
  }

  /** The row `step` rows further in the view; null beyond its ends. */
  neighbor(step) {
    const place = this.view.indexOf(this.current);
    return this.view[place + step] ?? null;
  }
}
